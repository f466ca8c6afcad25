// SPDX-License-Identifier: Apache-2.0
// By the tables through which an ELF file calls what lies in others (System V ABI, "Global Offset Table"):
// the loader filled them, or does at the first call.
#include "capture/interpose/redirect_calls.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <optional>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace strata::interpose {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kCall = R_X86_64_JUMP_SLOT, kData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t kCall = R_AARCH64_JUMP_SLOT, kData = R_AARCH64_GLOB_DAT;
#endif

/// The parts of a loaded file that say what it calls.
struct Calls {
    std::uintptr_t base = 0;
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    std::span<const ElfW(Rela)> tables[2];
};

/// Whether a part of that type has the address: PT_LOAD has what is of the file, PT_GNU_RELRO what the loader
/// made read-only after it had filled it.
bool isWithin(std::uint32_t partType, const dl_phdr_info& file, std::uintptr_t address)
{
    return std::ranges::any_of(std::span(file.dlpi_phdr, file.dlpi_phnum), [&](const ElfW(Phdr) & part) {
        const std::uintptr_t begin = file.dlpi_addr + part.p_vaddr;
        std::uintptr_t end = begin + part.p_memsz;
        if (partType == PT_GNU_RELRO)
            end &= ~(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
        return part.p_type == partType && address >= begin && address < end;
    });
}

Calls callsOf(const dl_phdr_info& file)
{
    Calls calls{ file.dlpi_addr, nullptr, nullptr, {} };
    const ElfW(Dyn)* entry = nullptr;
    for (const ElfW(Phdr) & part : std::span(file.dlpi_phdr, file.dlpi_phnum))
        if (part.p_type == PT_DYNAMIC)
            entry = reinterpret_cast<const ElfW(Dyn)*>(file.dlpi_addr + part.p_vaddr);
    const ElfW(Rela) * starts[2]{};
    std::size_t bytes[2]{};
    for (; entry && entry->d_tag != DT_NULL; ++entry) {
        const auto place = entry->d_un.d_ptr; // glibc has made it an address
        switch (entry->d_tag) {
        case DT_SYMTAB:
            calls.symbols = reinterpret_cast<const ElfW(Sym)*>(place);
            break;
        case DT_STRTAB:
            calls.names = reinterpret_cast<const char*>(place);
            break;
        case DT_JMPREL:
            starts[0] = reinterpret_cast<const ElfW(Rela)*>(place);
            break;
        case DT_PLTRELSZ:
            bytes[0] = entry->d_un.d_val;
            break;
        case DT_RELA:
            starts[1] = reinterpret_cast<const ElfW(Rela)*>(place);
            break;
        case DT_RELASZ:
            bytes[1] = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    // What the loader left as it was, as the kernel's own library, says nothing.
    const auto isThere = [&](const void* table) {
        return table && isWithin(PT_LOAD, file, reinterpret_cast<std::uintptr_t>(table));
    };
    if (isThere(calls.symbols) && isThere(calls.names))
        for (int i = 0; i < 2; ++i)
            if (isThere(starts[i]))
                calls.tables[i] = { starts[i], bytes[i] / sizeof(ElfW(Rela)) };
    return calls;
}

/// Whether the loader made the page read-only after it had filled it: it does so with whole pages.
bool isReadOnly(const dl_phdr_info& file, const std::uintptr_t* slot)
{
    return isWithin(PT_GNU_RELRO, file, reinterpret_cast<std::uintptr_t>(slot));
}

bool write(std::uintptr_t* slot, bool readOnly, void* value)
{
    const auto address = reinterpret_cast<std::uintptr_t>(slot);
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    void* const start = reinterpret_cast<void*>(address & ~(page - 1));
    if (readOnly && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    std::atomic_ref(*slot).store(reinterpret_cast<std::uintptr_t>(value), std::memory_order_release);
    if (readOnly)
        mprotect(start, page, PROT_READ);
    return true;
}

/// Where the loader leads such a call.
void* resolve(const dl_phdr_info& file, const char* function)
{
    if (void* found = dlsym(RTLD_DEFAULT, function))
        return found;
    void* const handle = dlopen(file.dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = handle ? dlsym(handle, function) : nullptr;
    if (handle)
        dlclose(handle);
    return found;
}

struct Search {
    std::string_view caller;
    std::optional<dl_phdr_info> found;
};

/// The loader's lock is held here: nothing that asks the loader.
int lookAt(dl_phdr_info* file, std::size_t, void* given)
{
    Search& search = *static_cast<Search*>(given);
    const std::string_view path = file->dlpi_name;
    if (!path.substr(path.rfind('/') + 1).starts_with(search.caller))
        return 0;
    search.found = *file;
    return 1;
}

std::optional<dl_phdr_info> find(std::string_view caller)
{
    Search search{ caller, std::nullopt };
    dl_iterate_phdr(lookAt, &search);
    return search.found;
}

int addFile(dl_phdr_info* file, std::size_t, void* given)
{
    static_cast<std::vector<dl_phdr_info>*>(given)->push_back(*file);
    return 0;
}

/// Calls use(slot, where it leads) for each place through which `file` calls `function`.
template <class Use> void forEachPlace(const dl_phdr_info& file, const char* function, Use&& use)
{
    const Calls calls = callsOf(file);
    for (const auto& table : calls.tables)
        for (const ElfW(Rela) & row : table) {
            const auto kind = static_cast<std::uint32_t>(ELF64_R_TYPE(row.r_info));
            if ((kind != kCall && kind != kData)
                || std::strcmp(calls.names + calls.symbols[ELF64_R_SYM(row.r_info)].st_name, function) != 0)
                continue;
            auto* const slot = reinterpret_cast<std::uintptr_t*>(calls.base + row.r_offset);
            const std::uintptr_t now = std::atomic_ref(*slot).load(std::memory_order_acquire);
            // Before its first call a slot leads into the file itself, to what resolves it.
            void* const leads = now == 0 || isWithin(PT_LOAD, file, now) ? resolve(file, function)
                                                                         : reinterpret_cast<void*>(now);
            if (leads)
                use(slot, leads);
        }
}

} // namespace

bool redirectCalls(
    std::string_view caller, const char* function, void* instead, const void* own, std::atomic<void*>& before)
{
    const std::optional<dl_phdr_info> file = find(caller);
    bool redirected = false;
    if (file)
        forEachPlace(*file, function, [&](std::uintptr_t* slot, void* leads) {
            if (leads == instead || leads == own)
                return;
            before.store(leads, std::memory_order_release);
            redirected = write(slot, isReadOnly(*file, slot), instead) || redirected;
        });
    return redirected;
}

bool redirectAllCalls(const char* function, void* instead, std::atomic<void*>& before)
{
    std::vector<dl_phdr_info> files;
    dl_iterate_phdr(addFile, &files);
    bool redirected = false;
    for (const dl_phdr_info& file : files)
        forEachPlace(file, function, [&](std::uintptr_t* slot, void* leads) {
            if (leads == instead)
                return;
            void* none = nullptr;
            if (before.compare_exchange_strong(none, leads) || none == leads)
                redirected = write(slot, isReadOnly(file, slot), instead) || redirected;
        });
    return redirected;
}

CallPlaces::CallPlaces(std::string_view caller, const char* function)
{
    const std::optional<dl_phdr_info> file = find(caller);
    bool same = true;
    if (file)
        forEachPlace(*file, function, [&](std::uintptr_t* slot, void* leads) {
            same = same && (!m_target || m_target == leads);
            m_target = leads;
            m_places.push_back({ slot, isReadOnly(*file, slot) });
        });
    if (!same)
        m_target = nullptr;
}

bool CallPlaces::lead(void* function) const
{
    for (std::size_t i = 0; i < m_places.size(); ++i) {
        if (write(m_places[i].slot, m_places[i].readOnly, function))
            continue;
        for (; i > 0; --i)
            write(m_places[i - 1].slot, m_places[i - 1].readOnly, m_target);
        return false;
    }
    return !m_places.empty();
}

} // namespace strata::interpose
