// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/symbols.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace strata::agent {

namespace {

/// A return address lies behind the call.
void* callOf(std::uint64_t returnAddress)
{
    return reinterpret_cast<void*>(returnAddress - 1);
}

std::string demangled(const char* name)
{
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string out = status == 0 && text ? text : name;
    std::free(text);
    return out;
}

struct Search {
    std::uint64_t base;
    std::string id;
};

int findBuildId(dl_phdr_info* info, std::size_t, void* context)
{
    auto& search = *static_cast<Search*>(context);
    std::uint64_t first = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            break;
        }
    }
    if (first != search.base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        if (header.p_type != PT_NOTE)
            continue;
        const char* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
        const char* const end = at + header.p_memsz;
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
                    search.id += hex;
                }
                return 1;
            }
            at = content + ((note.n_descsz + 3) & ~3u);
        }
    }
    return 1;
}

} // namespace

const std::string& Symbols::buildId(std::uint64_t base)
{
    const auto [known, isNew] = m_buildIds.try_emplace(base);
    if (isNew) {
        Search search{ base, {} };
        dl_iterate_phdr(findBuildId, &search);
        known->second = std::move(search.id);
    }
    return known->second;
}

std::uint32_t Symbols::frame(std::uint64_t returnAddress)
{
    const auto known = m_frames.find(returnAddress);
    if (known != m_frames.end())
        return known->second;
    wire::FrameRow row;
    Dl_info info{};
    if (dladdr(callOf(returnAddress), &info) != 0 && info.dli_fname) {
        const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
        char offset[32];
        std::snprintf(
            offset, sizeof offset, "0x%llx", static_cast<unsigned long long>(returnAddress - 1 - base));
        row.file = m_numbers.string(info.dli_fname);
        row.function = m_numbers.string(info.dli_sname ? demangled(info.dli_sname) : "??");
        row.extras
            = m_numbers.string("{\"build_id\": \"" + buildId(base) + "\", \"offset\": \"" + offset + "\"}");
    } else {
        row.file = row.function = m_numbers.string("??");
    }
    const std::uint32_t number = m_numbers.frame(row);
    m_frames.emplace(returnAddress, number);
    return number;
}

std::size_t Symbols::ownFrames(std::span<const std::uint64_t> addresses)
{
    constexpr std::size_t kFarthest = 16;
    std::size_t own = 0;
    for (std::size_t i = 0; i < addresses.size() && i < kFarthest; ++i) {
        Dl_info info{};
        if (dladdr(callOf(addresses[i]), &info) != 0 && info.dli_fname
            && std::strstr(info.dli_fname, "libstrata_") != nullptr)
            own = i + 1;
    }
    return own;
}

} // namespace strata::agent
