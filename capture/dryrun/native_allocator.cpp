// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/native_allocator.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strata::dryrun {

namespace {

constexpr const char* kAllocator = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";

/// The parts of names that no version has changed; the types of arguments have.
constexpr std::string_view kClass = "N3c104cuda20CUDACachingAllocator6Native22NativeCachingAllocator";
constexpr std::string_view kAttach = "27attachAllocatorTraceTrackerE";
constexpr std::string_view kStats = "14getDeviceStatsEa";
constexpr std::string_view kInitialized = "11initializedEv";
constexpr std::string_view kVtable = "E";

struct Methods {
    std::uintptr_t vtable = 0;
    std::uintptr_t attach = 0;
    std::uintptr_t stats = 0;
    std::uintptr_t initialized = 0;

    bool complete() const { return vtable && attach && stats && initialized; }
};

const char* g_refusal = nullptr;

void note(Methods& methods, std::string_view name, std::uintptr_t address)
{
    const bool isVtable = name.starts_with("_ZTV");
    if (!isVtable && !name.starts_with("_Z"))
        return;
    name.remove_prefix(isVtable ? 4 : 2);
    if (!name.starts_with(kClass))
        return;
    name.remove_prefix(kClass.size());
    if (isVtable && name == kVtable)
        methods.vtable = address;
    else if (!isVtable && name.starts_with(kAttach))
        methods.attach = address;
    else if (!isVtable && name == kStats)
        methods.stats = address;
    else if (!isVtable && name == kInitialized)
        methods.initialized = address;
}

/// Reads the full symbol table, which the loader does not map: the methods are not exported.
Methods readMethods(const char* path, std::uintptr_t base)
{
    Methods methods;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info { };
    if (file < 0 || fstat(file, &info) != 0)
        return methods;
    const auto bytes = static_cast<std::size_t>(info.st_size);
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return methods;
    const auto* image = static_cast<const char*>(mapped);
    const auto inside = [&](std::uint64_t offset, std::uint64_t count) {
        return offset <= bytes && count <= bytes - offset;
    };
    Elf64_Ehdr header{};
    std::memcpy(&header, image, std::min(sizeof header, bytes));
    const auto section = [&](unsigned index) {
        Elf64_Shdr out{};
        const std::uint64_t at = header.e_shoff + std::uint64_t{ index } * sizeof out;
        if (index < header.e_shnum && inside(at, sizeof out))
            std::memcpy(&out, image + at, sizeof out);
        return out;
    };
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr symbols = section(i);
        const Elf64_Shdr strings = section(symbols.sh_link);
        if (symbols.sh_type != SHT_SYMTAB || !inside(symbols.sh_offset, symbols.sh_size)
            || !inside(strings.sh_offset, strings.sh_size))
            continue;
        for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol{};
            std::memcpy(&symbol, image + symbols.sh_offset + at, sizeof symbol);
            if (symbol.st_name >= strings.sh_size || symbol.st_value == 0)
                continue;
            const char* name = image + strings.sh_offset + symbol.st_name;
            note(methods, { name, strnlen(name, strings.sh_size - symbol.st_name) }, base + symbol.st_value);
        }
    }
    munmap(mapped, bytes);
    return methods;
}

template <class Function> Function functionAt(std::uintptr_t address)
{
    return reinterpret_cast<Function>(address);
}

} // namespace

const char* NativeAllocator::refusal()
{
    return g_refusal;
}

std::string NativeAllocator::folder()
{
    void* const library = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    const link_map* map = nullptr;
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return {};
    const std::string_view path = map->l_name;
    return std::string(path.substr(0, path.rfind('/')));
}

std::optional<NativeAllocator> NativeAllocator::find()
{
    static void* library = nullptr;
    static Methods methods;
    if (g_refusal)
        return std::nullopt;
    if (!library) {
        library = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
        if (!library)
            return std::nullopt;
        const link_map* map = nullptr;
        if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
            methods = readMethods(map->l_name, map->l_addr);
        if (!methods.complete()) {
            g_refusal = "this LibTorch's symbols were stripped: peaks cannot be followed";
            return std::nullopt;
        }
    }
    // A program that is not position-independent holds the live copy of the variable: global scope first.
    void* variable = dlsym(RTLD_DEFAULT, kAllocator);
    if (!variable)
        variable = dlsym(library, kAllocator);
    if (!variable)
        return std::nullopt;
    NativeAllocator allocator;
    allocator.m_object = static_cast<std::atomic<void*>*>(variable)->load();
    if (!allocator.m_object)
        return std::nullopt;
    constexpr std::uintptr_t kVtableHead = 16;
    std::uintptr_t vtable = 0;
    std::memcpy(&vtable, allocator.m_object, sizeof vtable);
    if (vtable != methods.vtable + kVtableHead) {
        g_refusal = "another backend than the caching allocator is in use: its peaks are not followed";
        return std::nullopt;
    }
    if (!functionAt<bool (*)(void*)>(methods.initialized)(allocator.m_object))
        return std::nullopt;
    allocator.m_attach = methods.attach;
    allocator.m_stats = methods.stats;
    return allocator;
}

void NativeAllocator::attach(std::function<void(const TraceHead&)> tracker) const
{
    // A std::function that is passed by value travels as the address of a temporary.
    functionAt<void (*)(void*, std::function<void(const TraceHead&)>*)>(m_attach)(m_object, &tracker);
}

NativeAllocator::Allocated NativeAllocator::allocated(int device) const
{
    // DeviceStats comes back through a hidden address. Its fifth array is allocated_bytes, three statistics
    // of { current, peak, allocated, freed } each, in 2.1 and everything after it.
    constexpr std::size_t kRoom = 1 << 14;
    constexpr std::size_t kAllocated = 4 * 96;
    alignas(16) char stats[kRoom];
    functionAt<void* (*)(void*, void*, std::int8_t)>(m_stats)(
        stats, m_object, static_cast<std::int8_t>(device));
    std::int64_t figures[2]{};
    std::memcpy(figures, stats + kAllocated, sizeof figures);
    return { figures[0], figures[1] };
}

} // namespace strata::dryrun
