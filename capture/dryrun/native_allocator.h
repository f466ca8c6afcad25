// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace strata::dryrun {

/// The head of LibTorch's TraceEntry, the same in 2.2 and everything after it. Further members follow.
struct TraceHead {
    enum Action : int {
        Alloc,
        FreeRequested,
        FreeCompleted,
        SegmentAlloc,
        SegmentFree,
        SegmentMap,
        SegmentUnmap,
        Snapshot,
        OutOfMemory
    };
    Action action;
    std::int8_t device;
    std::uintptr_t address; ///< of OutOfMemory: free bytes of the device
    void* context[2];
    void* stream;
    std::size_t bytes; ///< as requested
};
static_assert(offsetof(TraceHead, device) == 4 && offsetof(TraceHead, address) == 8);
static_assert(offsetof(TraceHead, stream) == 32 && offsetof(TraceHead, bytes) == 40);

/// The caching allocator of the LibTorch in this process. Its interface is a class whose methods move with
/// each minor version, so they are not called by position: the library's own symbol table tells where they
/// are, and nothing of LibTorch is linked or compiled against.
///
/// One library serves all versions, rather than one built for each. What is relied upon is little: the names
/// of three methods and of the class's vtable in the library's own symbol table (wheels are not stripped of
/// it), the head of an entry, the place of one array in the statistics, and how the Itanium ABI passes and
/// returns such arguments (x86-64). The vtable is compared before anything is called, so that another
/// allocator is refused by name; a version that moves the head or the array shows in the truth corpus, where
/// every peak must be torch's own. In exchange a LibTorch that comes out tomorrow works, and nobody needs a
/// compiler or headers for each of them.
class NativeAllocator {
public:
    /// Nothing while libc10_cuda is not loaded or its allocator is not initialised. Cheap to ask again and
    /// again.
    static std::optional<NativeAllocator> find();
    /// Where LibTorch's libraries lie; empty while they are not loaded.
    static std::string folder();
    /// Why find() will never succeed in this process, or nullptr.
    static const char* refusal();

    /// `tracker` runs under the allocator's lock and must not throw. It cannot be removed again.
    void attach(std::function<void(const TraceHead&)> tracker) const;
    /// Bytes in blocks of the program, which are rounded.
    struct Allocated {
        std::int64_t now = 0;
        std::int64_t peak = 0; ///< the highest since the program last reset it
    };
    Allocated allocated(int device) const;

private:
    NativeAllocator() = default;

    void* m_object = nullptr;
    std::uintptr_t m_attach = 0;
    std::uintptr_t m_stats = 0;
};

} // namespace strata::dryrun
