// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/stacks/loaded_modules.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <link.h>
#include <span>
#include <unistd.h>

namespace strata::agent {

namespace {

constexpr std::uint64_t kPage = 4096;

std::span<const ElfW(Phdr)> headersOf(const dl_phdr_info& info)
{
    return { info.dlpi_phdr, info.dlpi_phnum };
}

bool holds(const dl_phdr_info& info, std::uint64_t address)
{
    return std::ranges::any_of(headersOf(info), [&](const ElfW(Phdr) & header) {
        const std::uint64_t begin = info.dlpi_addr + header.p_vaddr;
        return header.p_type == PT_LOAD && address >= begin && address - begin < header.p_memsz;
    });
}

/// The loader has no name of the program itself, and what it was called by may be relative to a folder that
/// was left since.
std::string nameOf(const dl_phdr_info& info)
{
    if (info.dlpi_name && *info.dlpi_name)
        return info.dlpi_name;
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : program_invocation_name;
}

std::uint64_t baseOf(const dl_phdr_info& info)
{
    for (const ElfW(Phdr) & header : headersOf(info))
        if (header.p_type == PT_LOAD)
            return (info.dlpi_addr + header.p_vaddr) & ~(kPage - 1);
    return info.dlpi_addr;
}

std::string buildIdIn(const char* at, const char* end)
{
    std::string id;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const char* name = at + sizeof note;
        const char* content = name + ((note.n_namesz + 3) & ~3u);
        if (content + note.n_descsz > end)
            break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
            char hex[3];
            for (std::uint32_t k = 0; k < note.n_descsz; ++k) {
                std::snprintf(hex, sizeof hex, "%02x", static_cast<std::uint8_t>(content[k]));
                id += hex;
            }
            return id;
        }
        at = content + ((note.n_descsz + 3) & ~3u);
    }
    return id;
}

std::string buildIdOf(const dl_phdr_info& info)
{
    for (const ElfW(Phdr) & header : headersOf(info)) {
        if (header.p_type != PT_NOTE)
            continue;
        const char* begin = reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr);
        if (std::string id = buildIdIn(begin, begin + header.p_memsz); !id.empty())
            return id;
    }
    return {};
}

/// What an entry of the dynamic section points to: most loaders have added the bias already.
template <class T> const T* pointerOf(const dl_phdr_info& info, const ElfW(Dyn) & entry)
{
    const std::uint64_t at = entry.d_un.d_ptr;
    return reinterpret_cast<const T*>(at < info.dlpi_addr ? at + info.dlpi_addr : at);
}

/// How many symbols a table has: the hash table over it is all that says so.
std::uint32_t countByGnuHash(const std::uint32_t* table)
{
    const std::uint32_t buckets = table[0], first = table[1], bloomWords = table[2];
    const std::uint32_t* const bucket
        = table + 4 + std::size_t{ bloomWords } * (sizeof(std::uintptr_t) / sizeof(std::uint32_t));
    const std::uint32_t* const chain = bucket + buckets;
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < buckets; ++i)
        last = std::max(last, bucket[i]);
    if (last < first)
        return first;
    while ((chain[last - first] & 1) == 0)
        ++last;
    return last + 1;
}

} // namespace

struct LoadedModules::Search {
    LoadedModules& self;
    std::uint64_t address;
    bool whole;
    CodePlace found;
};

void LoadedModules::readSymbols(const dl_phdr_info& info, Module& module)
{
    const auto headers = headersOf(info);
    const auto dynamic = std::ranges::find(headers, ElfW(Word){ PT_DYNAMIC }, &ElfW(Phdr)::p_type);
    if (dynamic == headers.end())
        return;
    const ElfW(Sym)* table = nullptr;
    std::uint32_t count = 0;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + dynamic->p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SYMTAB)
            table = pointerOf<ElfW(Sym)>(info, *entry);
        else if (entry->d_tag == DT_STRTAB)
            module.strings = pointerOf<char>(info, *entry);
        else if (entry->d_tag == DT_GNU_HASH)
            count = countByGnuHash(pointerOf<std::uint32_t>(info, *entry));
        else if (entry->d_tag == DT_HASH && count == 0)
            count = pointerOf<std::uint32_t>(info, *entry)[1];
    }
    if (!table || !module.strings)
        return;
    for (const ElfW(Sym) & symbol : std::span(table, count)) {
        const auto type = symbol.st_info & 0xf;
        const bool isCode = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
        if (isCode && symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0)
            module.symbols.push_back({ symbol.st_value,
                static_cast<std::uint32_t>(std::min<std::uint64_t>(symbol.st_size, UINT32_MAX)),
                symbol.st_name });
    }
    std::ranges::stable_sort(module.symbols, {}, &Symbol::address);
}

/// Where one library was unloaded, another may come to lie.
LoadedModules::Module& LoadedModules::moduleOf(const dl_phdr_info& info, const std::string& file)
{
    const auto [known, isNew] = m_modules.try_emplace(info.dlpi_addr);
    if (isNew || known->second.file != file) {
        known->second = { .file = file };
        readSymbols(info, known->second);
    }
    return known->second;
}

int LoadedModules::lookAt(dl_phdr_info* info, std::size_t, void* context)
{
    auto& search = *static_cast<Search*>(context);
    if (!holds(*info, search.address))
        return 0;
    CodePlace& found = search.found;
    found.file = nameOf(*info);
    found.base = baseOf(*info);
    if (!search.whole)
        return 1;
    found.buildId = buildIdOf(*info);
    const Module& module = search.self.moduleOf(*info, found.file);
    const std::uint64_t at = search.address - info->dlpi_addr;
    auto behind = std::ranges::upper_bound(module.symbols, at, {}, &Symbol::address);
    // The nearest may be a label within a function.
    for (int tries = 0; behind != module.symbols.begin() && tries < 8; ++tries) {
        --behind;
        if (at - behind->address < behind->bytes) {
            found.function = module.strings + behind->name;
            break;
        }
    }
    return 1;
}

CodePlace LoadedModules::find(std::uint64_t address)
{
    Search search{ *this, address, true, {} };
    dl_iterate_phdr(lookAt, &search);
    return std::move(search.found);
}

std::string LoadedModules::fileOf(std::uint64_t address)
{
    Search search{ *this, address, false, {} };
    dl_iterate_phdr(lookAt, &search);
    return std::move(search.found.file);
}

} // namespace strata::agent
