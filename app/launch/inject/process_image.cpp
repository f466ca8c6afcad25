// SPDX-License-Identifier: GPL-3.0-or-later
// By the System V ABI: program headers, "Dynamic Section", "Global Offset Table"; symbols by DT_GNU_HASH.
#include "app/launch/inject/process_image.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace strata::launch {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kMostRows = 1 << 20; // of a table: what says more is damaged

std::string_view nameOf(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

std::uint32_t gnuHash(std::string_view name)
{
    std::uint32_t hash = 5381;
    for (const char c : name)
        hash = hash * 33 + static_cast<unsigned char>(c);
    return hash;
}

/// "7f12-7f34 r--p 00000000 08:01 123  /path"
struct MappedRange {
    std::uint64_t begin = 0, end = 0;
    std::string rights, offset, path;
};

/// Calls see(range) for each.
template <class See> void forEachRange(pid_t process, See&& see)
{
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        MappedRange range;
        std::istringstream fields(line);
        std::string device, inode;
        char dash = 0;
        fields >> std::hex >> range.begin >> dash >> range.end >> range.rights >> range.offset >> device
            >> inode >> std::ws;
        std::getline(fields, range.path);
        see(range);
    }
}

} // namespace

/// Of the dynamic section of a file.
struct ProcessImage::Tables {
    std::uint64_t symbols = 0, names = 0, hash = 0;
    std::array<std::pair<std::uint64_t, std::uint64_t>, 2> relocations{}; ///< address, bytes
};

std::optional<ProcessImage> ProcessImage::open(pid_t process, int& why)
{
    const std::string path = "/proc/" + std::to_string(process) + "/mem";
    const int memory = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (memory < 0) {
        why = errno;
        return std::nullopt;
    }
    ProcessImage image(process, memory);
    image.readMaps();
    if (image.m_files.empty()) {
        why = EACCES;
        return std::nullopt;
    }
    return image;
}

ProcessImage::ProcessImage(pid_t process, int memory)
    : m_process(process)
    , m_memory(memory)
{
}

ProcessImage::ProcessImage(ProcessImage&& other) noexcept
    : m_process(other.m_process)
    , m_memory(std::exchange(other.m_memory, -1))
    , m_files(std::move(other.m_files))
{
}

ProcessImage& ProcessImage::operator=(ProcessImage&& other) noexcept
{
    std::swap(m_process, other.m_process);
    std::swap(m_memory, other.m_memory);
    std::swap(m_files, other.m_files);
    return *this;
}

ProcessImage::~ProcessImage()
{
    if (m_memory >= 0)
        close(m_memory);
}

/// A file begins where its first byte is mapped.
void ProcessImage::readMaps()
{
    forEachRange(m_process, [&](const MappedRange& range) {
        // Registers of a device are no memory to look at.
        if (range.path.empty() || range.path.front() != '/' || range.path.starts_with("/dev/")
            || range.rights.empty() || range.rights.front() != 'r'
            || range.offset.find_first_not_of('0') != std::string::npos
            || std::ranges::any_of(m_files, [&](const LoadedFile& file) { return file.path == range.path; }))
            return;
        LoadedFile file{ range.path, range.begin, 0 };
        const auto header = readAs<Elf64_Ehdr>(file.start);
        if (!header || std::string_view(reinterpret_cast<const char*>(header->e_ident), SELFMAG) != ELFMAG)
            return;
        for (unsigned i = 0; i < header->e_phnum; ++i) {
            const auto part = readAs<Elf64_Phdr>(file.start + header->e_phoff + i * sizeof(Elf64_Phdr));
            if (part && part->p_type == PT_LOAD && part->p_offset == 0) {
                file.bias = file.start - (part->p_vaddr & ~(kPage - 1));
                m_files.push_back(file);
                break;
            }
        }
    });
}

const LoadedFile* ProcessImage::find(std::string_view name) const
{
    const auto found = std::ranges::find_if(
        m_files, [&](const LoadedFile& file) { return nameOf(file.path).starts_with(name); });
    return found == m_files.end() ? nullptr : &*found;
}

bool ProcessImage::read(std::uint64_t address, std::span<std::byte> into) const
{
    while (!into.empty()) {
        const ssize_t got = pread(m_memory, into.data(), into.size(), static_cast<off_t>(address));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        into = into.subspan(static_cast<std::size_t>(got));
        address += static_cast<std::uint64_t>(got);
    }
    return true;
}

std::string ProcessImage::readText(std::uint64_t address, std::size_t most) const
{
    std::string text;
    while (text.size() < most) {
        const auto c = readAs<char>(address + text.size());
        if (!c || *c == '\0')
            break;
        text += *c;
    }
    return text;
}

bool ProcessImage::isLinked(const LoadedFile& file, std::uint64_t place) const
{
    const auto header = readAs<Elf64_Ehdr>(file.start);
    std::uint64_t closedBegin = 0, closedEnd = 0;
    for (unsigned i = 0; header && i < header->e_phnum; ++i) {
        const auto part = readAs<Elf64_Phdr>(file.start + header->e_phoff + i * sizeof(Elf64_Phdr));
        if (part && part->p_type == PT_GNU_RELRO) {
            closedBegin = (file.bias + part->p_vaddr) & ~(kPage - 1);
            closedEnd = (file.bias + part->p_vaddr + part->p_memsz) & ~(kPage - 1);
        }
    }
    const auto leadsTo = readAs<std::uint64_t>(place);
    bool isThere = false, isOpen = false, isCode = false;
    forEachRange(m_process, [&](const MappedRange& range) {
        isThere |= range.begin == file.start && range.path == file.path;
        isOpen |= closedBegin < closedEnd && range.begin < closedEnd && range.end > closedBegin
            && range.rights.find('w') != std::string::npos;
        isCode |= leadsTo && *leadsTo >= range.begin && *leadsTo < range.end
            && range.rights.find('x') != std::string::npos;
    });
    return isThere && isCode && !isOpen;
}

bool ProcessImage::isOurArchitecture(const LoadedFile& file) const
{
    const auto header = readAs<Elf64_Ehdr>(file.start);
    return header && header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64;
}

std::optional<ProcessImage::Tables> ProcessImage::tablesOf(const LoadedFile& file) const
{
    const auto header = readAs<Elf64_Ehdr>(file.start);
    std::uint64_t entry = 0;
    for (unsigned i = 0; header && i < header->e_phnum; ++i) {
        const auto part = readAs<Elf64_Phdr>(file.start + header->e_phoff + i * sizeof(Elf64_Phdr));
        if (part && part->p_type == PT_DYNAMIC)
            entry = file.bias + part->p_vaddr;
    }
    if (entry == 0)
        return std::nullopt;
    Tables tables;
    for (std::size_t row = 0; row < kMostRows; ++row, entry += sizeof(Elf64_Dyn)) {
        const auto item = readAs<Elf64_Dyn>(entry);
        if (!item || item->d_tag == DT_NULL)
            break;
        // The loader has made addresses of most; what it leaves is relative.
        const std::uint64_t place
            = item->d_un.d_ptr < file.bias ? item->d_un.d_ptr + file.bias : item->d_un.d_ptr;
        switch (item->d_tag) {
        case DT_SYMTAB:
            tables.symbols = place;
            break;
        case DT_STRTAB:
            tables.names = place;
            break;
        case DT_GNU_HASH:
            tables.hash = place;
            break;
        case DT_JMPREL:
            tables.relocations[0].first = place;
            break;
        case DT_PLTRELSZ:
            tables.relocations[0].second = item->d_un.d_val;
            break;
        case DT_RELA:
            tables.relocations[1].first = place;
            break;
        case DT_RELASZ:
            tables.relocations[1].second = item->d_un.d_val;
            break;
        default:
            break;
        }
    }
    return tables.symbols != 0 && tables.names != 0 ? std::optional(tables) : std::nullopt;
}

std::optional<std::uint64_t> ProcessImage::findFunction(const LoadedFile& file, std::string_view name) const
{
    const auto tables = tablesOf(file);
    if (!tables || tables->hash == 0)
        return std::nullopt;
    const auto head = readAs<std::array<std::uint32_t, 4>>(tables->hash);
    if (!head || (*head)[0] == 0)
        return std::nullopt;
    const auto [buckets, first, words, shift] = *head;
    const std::uint64_t bucketPlace = tables->hash + 16 + std::uint64_t{ words } * 8;
    const std::uint64_t chainPlace = bucketPlace + std::uint64_t{ buckets } * 4;
    const std::uint32_t hash = gnuHash(name);
    const auto start = readAs<std::uint32_t>(bucketPlace + std::uint64_t{ hash % buckets } * 4);
    if (!start || *start < first)
        return std::nullopt;
    for (std::uint64_t row = *start; row < kMostRows; ++row) {
        const auto chained = readAs<std::uint32_t>(chainPlace + (row - first) * 4);
        const auto symbol = readAs<Elf64_Sym>(tables->symbols + row * sizeof(Elf64_Sym));
        if (!chained || !symbol)
            return std::nullopt;
        if ((*chained | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF
            && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC
            && readText(tables->names + symbol->st_name, name.size() + 1) == name)
            return file.bias + symbol->st_value;
        if ((*chained & 1) != 0)
            return std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> ProcessImage::findCallPlace(
    const LoadedFile& file, std::string_view function) const
{
    const auto tables = tablesOf(file);
    if (!tables)
        return std::nullopt;
    for (const auto& [place, bytes] : tables->relocations) {
        std::vector<Elf64_Rela> rows(std::min<std::size_t>(bytes / sizeof(Elf64_Rela), kMostRows));
        if (place == 0 || rows.empty() || !read(place, std::as_writable_bytes(std::span(rows))))
            continue;
        for (const Elf64_Rela& row : rows) {
            const auto type = ELF64_R_TYPE(row.r_info);
            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
                continue;
            const auto symbol
                = readAs<Elf64_Sym>(tables->symbols + ELF64_R_SYM(row.r_info) * sizeof(Elf64_Sym));
            if (symbol && readText(tables->names + symbol->st_name, function.size() + 1) == function)
                return file.bias + row.r_offset;
        }
    }
    return std::nullopt;
}

std::optional<MemoryCopy> ProcessImage::readRest(const LoadedFile& file, Part wanted) const
{
    const auto header = readAs<Elf64_Ehdr>(file.start);
    for (unsigned i = 0; header && i < header->e_phnum; ++i) {
        const auto part = readAs<Elf64_Phdr>(file.start + header->e_phoff + i * sizeof(Elf64_Phdr));
        const std::uint32_t rights = wanted == Part::Code ? PF_R | PF_X : PF_R | PF_W;
        if (!part || part->p_type != PT_LOAD || (part->p_flags & (PF_R | PF_W | PF_X)) != rights)
            continue;
        MemoryCopy rest;
        rest.address = file.bias + part->p_vaddr + part->p_memsz;
        rest.bytes.resize(((rest.address + kPage - 1) & ~(kPage - 1)) - rest.address);
        if (!rest.bytes.empty() && read(rest.address, rest.bytes))
            return rest;
    }
    return std::nullopt;
}

} // namespace strata::launch
