// SPDX-License-Identifier: Apache-2.0
// What a program asks of the caching allocator besides memory. Most of it are virtual functions, which inline
// functions of the headers call: nothing to interpose by name. They are found by their type, as everything
// here, and called after the agent was told; a version that lacks one has no such call.
#pragma once

#include "capture/hook/libtorch.h"
#include "capture/hook/virtual_place.h"

#include <string>
#include <type_traits>
#include <utility>

namespace strata::hook {

/// Codes of model/wire/kinds.h.
enum CallKind : std::uint8_t {
    kEmptyCache = 0,
    kSettings = 1,
    kMemoryFraction = 3,
    kPoolBegin = 4,
    kPoolEnd = 5,
    kPoolRelease = 6,
    kPoolCreate = 7,
    kPoolUseOnOom = 8,
    kPoolNoSplit = 9,
    kCaptureBegin = 10,
    kCaptureEnd = 11,
    kNothing = 255, ///< not to be told
};

/// Tells of a call as it begins and, however it ends, as it ends.
class Told {
public:
    explicit Told(const Call& call)
        : m_token(g_callbacks.callBegins(call))
    {
    }
    ~Told() { g_callbacks.callEnds(m_token, m_done); }
    Told(const Told&) = delete;
    Told& operator=(const Told&) = delete;
    void done() { m_done = true; }

private:
    int m_token;
    bool m_done = false;
};

/// An argument says what the call is about by its type.
inline void describe(Call& call, double fraction)
{
    call.fraction = fraction;
}
inline void describe(Call& call, c10::DeviceIndex device)
{
    call.device = device;
}
inline void describe(Call& call, const PoolId& pool)
{
    call.poolOwner = pool.first;
    call.poolId = pool.second;
}
/// Of setUseOnOOM().
inline void describe(Call& call, bool on)
{
    if (!on)
        call.kind = kNothing;
}
template <class Other> void describe(Call&, const Other&) { }

/// Up to 2.8 empty_cache() is of the pool that the thread is in.
inline void describeThread(Call& call)
{
    using Active = void* (*)();
    using IdOf = PoolId (*)(void*);
    static const auto active = reinterpret_cast<Active>(
        find("_ZN3c104cuda14MemPoolContext16getActiveMemPoolEv", "libc10_cuda.so"));
    static const auto idOf = reinterpret_cast<IdOf>(find("_ZN3c104cuda7MemPool2idEv", "libc10_cuda.so"));
    if (void* const pool = active && idOf ? active() : nullptr)
        describe(call, idOf(pool));
}

template <CallKind Kind, class Method> struct Followed;

template <CallKind Kind, class Result, class Class, class... Arguments>
struct Followed<Kind, Result (Class::*)(Arguments...)> {
    using Function = Result (*)(Class*, Arguments...);
    static inline std::atomic<Function> s_before{ nullptr };

    static Result instead(Class* self, Arguments... arguments)
    {
        Call call;
        call.kind = Kind;
        (describe(call, arguments), ...);
        if constexpr (Kind == kEmptyCache && sizeof...(Arguments) == 0)
            describeThread(call);
        Told told(call);
        if constexpr (std::is_void_v<Result>) {
            s_before.load()(self, std::forward<Arguments>(arguments)...);
            told.done();
        } else {
            Result result = s_before.load()(self, std::forward<Arguments>(arguments)...);
            told.done();
            return result;
        }
    }
};

template <CallKind Kind, class Object, class Method> bool followOne(Object& object, Method method)
{
    using Call = Followed<Kind, Method>;
    const VirtualPlace place = VirtualPlace::of(&object, method);
    if (!place.isUsable())
        return false;
    Call::s_before.store(reinterpret_cast<typename Call::Function>(place.function()));
    return place.set(reinterpret_cast<void*>(&Call::instead));
}

/// Of pools and captures what there is: a replay without them is told so by the pools of the events.
template <class A> void followPools(A& allocator)
{
    (void)followOne<kPoolBegin>(allocator, &A::beginAllocateToPool);
    (void)followOne<kPoolEnd>(allocator, &A::endAllocateToPool);
    (void)followOne<kPoolRelease>(allocator, &A::releasePool);
    if constexpr (requires { &A::createOrIncrefPool; })
        (void)followOne<kPoolCreate>(allocator, &A::createOrIncrefPool);
    else if constexpr (requires { &A::ensureExistsAndIncrefPool; })
        (void)followOne<kPoolCreate>(allocator, &A::ensureExistsAndIncrefPool);
    if constexpr (requires { &A::setUseOnOOM; })
        (void)followOne<kPoolUseOnOom>(allocator, &A::setUseOnOOM);
    if constexpr (requires { &A::setNoSplit; })
        (void)followOne<kPoolNoSplit>(allocator, &A::setNoSplit);
    if constexpr (requires { &A::markCaptureBegin; }) {
        (void)followOne<kCaptureBegin>(allocator, &A::markCaptureBegin);
        (void)followOne<kCaptureEnd>(allocator, &A::markCaptureEnd);
    }
}

template <class A> bool followAllocator(A& allocator)
{
    const bool empty = followOne<kEmptyCache>(allocator, &A::emptyCache);
    const bool fraction = followOne<kMemoryFraction>(allocator, &A::setMemoryFraction);
    followPools(allocator);
    return empty && fraction;
}

/// Settings are changed by functions that are called by name.
inline Call settingsCall(const std::string& text)
{
    Call call;
    call.kind = kSettings;
    call.text = { text.data(), text.size() };
    return call;
}

inline std::atomic<void*> g_setSettings{ nullptr }, g_parseSettings{ nullptr };

/// Up to 2.9.
inline void setSettings(const std::string& text)
{
    Told told(settingsCall(text));
    reinterpret_cast<void (*)(const std::string&)>(g_setSettings.load())(text);
    told.done();
}

/// From 2.9 on: what was set by the function above, which is inline then.
inline void parseSettings(void* self, const std::string& text)
{
    Told told(settingsCall(text));
    reinterpret_cast<void (*)(void*, const std::string&)>(g_parseSettings.load())(self, text);
    told.done();
}

#if _GLIBCXX_USE_CXX11_ABI
#define STRATA_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#else
#define STRATA_STRING "Ss"
#endif
inline const NamedCall kNamedCalls[] = {
    { "_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERK" STRATA_STRING,
        reinterpret_cast<void*>(setSettings), &g_setSettings },
    { "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERK" STRATA_STRING,
        reinterpret_cast<void*>(parseSettings), &g_parseSettings },
    {},
};
#undef STRATA_STRING

} // namespace strata::hook
