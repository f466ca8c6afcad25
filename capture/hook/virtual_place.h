// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>

namespace strata::hook {

/// Where a class says which function a virtual one of its objects is: an entry of its vtable (Itanium C++
/// ABI, "Virtual Table Layout"), which all its objects share.
///
///     object -> [ vptr ] -> vtable [ ..., f, g, ... ]      g: a pointer to member has its place
///
/// Nothing is taken for granted: a vtable that is not in a loaded library, or an entry that leads out of that
/// library, is not touched.
class VirtualPlace {
public:
    /// Of `method` for `object`. Not usable where the method is not virtual, or of another base class.
    template <class Class, class Method>
    [[nodiscard]] static VirtualPlace of(const Class* object, Method method)
    {
        static_assert(std::is_member_function_pointer_v<Method>);
        struct {
            std::uintptr_t function;
            std::intptr_t adjustment;
        } parts{};
        static_assert(sizeof parts == sizeof method);
        std::memcpy(&parts, &method, sizeof parts);
#if defined(__x86_64__)
        const bool isVirtual = (parts.function & 1) != 0 && parts.adjustment == 0;
        const std::uintptr_t offset = parts.function - 1;
#else // aarch64 keeps the mark in the adjustment
        const bool isVirtual = parts.adjustment == 1;
        const std::uintptr_t offset = parts.function;
#endif
        constexpr std::uintptr_t kMostEntries = 1024;
        if (!isVirtual || offset % sizeof(void*) != 0 || offset / sizeof(void*) >= kMostEntries)
            return {};
        std::uintptr_t vtable = 0;
        std::memcpy(&vtable, static_cast<const void*>(object), sizeof vtable);
        return VirtualPlace(vtable + offset);
    }

    [[nodiscard]] bool isUsable() const
    {
        return m_entry != 0;
    }
    /// The function that is called now.
    [[nodiscard]] void* function() const
    {
        return __atomic_load_n(entry(), __ATOMIC_ACQUIRE);
    }
    /// From now on `instead` is called, on whatever thread; calls that have begun go on. False, and nothing
    /// is changed, where the system does not let it be written.
    [[nodiscard]] bool set(void* instead) const
    {
        const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
        void* const start = reinterpret_cast<void*>(m_entry & ~(page - 1));
        if (m_readOnly && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
            return false;
        __atomic_store_n(entry(), instead, __ATOMIC_RELEASE);
        if (m_readOnly)
            mprotect(start, page, PROT_READ);
        return true;
    }

private:
    VirtualPlace() = default;
    explicit VirtualPlace(std::uintptr_t entry)
    {
        Search search{ .address = entry };
        dl_iterate_phdr(lookAt, &search);
        if (!search.found)
            return;
        m_entry = entry;
        m_readOnly = search.readOnly;
        Search code{ .address = reinterpret_cast<std::uintptr_t>(function()) };
        dl_iterate_phdr(lookAt, &code);
        if (!code.found || !code.isCode || code.base != search.base)
            m_entry = 0;
    }

    struct Search {
        std::uintptr_t address = 0;
        bool found = false, readOnly = false, isCode = false;
        std::uintptr_t base = 0; ///< of the library that the address lies in
    };
    static int lookAt(dl_phdr_info* file, std::size_t, void* given)
    {
        Search& search = *static_cast<Search*>(given);
        for (int i = 0; i < file->dlpi_phnum; ++i) {
            const ElfW(Phdr)& part = file->dlpi_phdr[i];
            const std::uintptr_t begin = file->dlpi_addr + part.p_vaddr;
            if (search.address < begin || search.address >= begin + part.p_memsz)
                continue;
            if (part.p_type == PT_LOAD) {
                search.found = true;
                search.base = file->dlpi_addr;
                search.isCode = (part.p_flags & PF_X) != 0;
                search.readOnly = search.readOnly || (part.p_flags & PF_W) == 0;
            } else if (part.p_type == PT_GNU_RELRO) {
                // The loader made whole pages of it read-only after it had filled them.
                const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
                search.readOnly = search.readOnly || search.address < ((begin + part.p_memsz) & ~(page - 1));
            }
        }
        return search.found ? 1 : 0;
    }

    [[nodiscard]] void** entry() const
    {
        return reinterpret_cast<void**>(m_entry);
    }

    std::uintptr_t m_entry = 0;
    bool m_readOnly = false;
};

} // namespace strata::hook
