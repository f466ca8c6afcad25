// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/activity.h"

#include "capture/cupti/parse.h"
#include "capture/interpose/redirect_calls.h"

#include <array>
#include <dlfcn.h>
#include <new>
#include <utility>

namespace strata::cupti {

namespace {

constexpr std::array kOurKinds{ RecordKind::ConcurrentKernel, RecordKind::Memcpy, RecordKind::Memset,
    RecordKind::MemcpyPeer, RecordKind::Runtime, RecordKind::Driver, RecordKind::Synchronization,
    RecordKind::Overhead };
/// What a library may lack: then it is not recorded, and the rest is.
constexpr RecordKind kOptionalKind = RecordKind::Memory;
constexpr std::size_t kBufferBytes = std::size_t{ 1 } << 20;
constexpr std::size_t kSharedBufferBytes = std::size_t{ 8 } << 20; ///< Kineto's have 4 MiB at most
constexpr Status kNotSaid = -1;

bool isOurs(RecordKind kind)
{
    for (const RecordKind ours : kOurKinds)
        if (ours == kind)
            return true;
    return kind == kOptionalKind;
}

std::uint64_t bitOf(RecordKind kind)
{
    const auto number = static_cast<std::uint32_t>(kind);
    return number < 64 ? std::uint64_t{ 1 } << number : 0;
}

/// torch.profiler is at work on this thread, or on all of them, as far as LibTorch says: by
/// torch::profiler::impl::profilerEnabled() and torch::autograd::profiler::isProfilerEnabledInMainThread().
bool isTorchProfiling()
{
    using IsEnabled = bool (*)();
    const auto says = [](const char* function) {
        void* const library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
        const auto ask = reinterpret_cast<IsEnabled>(library ? dlsym(library, function) : nullptr);
        return ask && ask();
    };
    return says("_ZN5torch8profiler4impl15profilerEnabledEv")
        || says("_ZN5torch8autograd8profiler29isProfilerEnabledInMainThreadEv");
}

std::atomic<void*> g_register{ nullptr }, g_registerClock{ nullptr }, g_enable{ nullptr },
    g_disable{ nullptr }, g_flush{ nullptr }, g_finalize{ nullptr }; // where LibTorch's calls went

} // namespace

/// Where LibTorch's calls go instead.
struct Redirected {
    static Status registerCallbacks(RequestBuffer request, CompleteBuffer complete)
    {
        return Activity::one().theyRegister(request, complete);
    }
    static Status registerClock(Clock clock) { return Activity::one().theyRegisterClock(clock); }
    static Status enable(RecordKind kind) { return Activity::one().theyEnable(kind); }
    static Status disable(RecordKind kind) { return Activity::one().theyDisable(kind); }
    static Status flush(std::uint32_t flags) { return Activity::one().theyFlush(flags); }
    static Status finalize() { return Activity::one().theyFinalize(); }
};

namespace {

template <class Function, class... Arguments>
Status call(const std::atomic<void*>& function, Arguments... arguments)
{
    void* const before = function.load(std::memory_order_acquire);
    return before ? reinterpret_cast<Function>(before)(arguments...) : kNotSaid;
}

} // namespace

Activity& Activity::one()
{
    static auto* const activity = new Activity;
    return *activity;
}

std::string Activity::begin(const Library& library, const Options& options)
{
    // A launch that went on while an earlier recording ended is of neither.
    if (m_begun.load() && !theyRecord()) {
        library.flush(0);
        drain([](std::span<std::uint8_t>) {});
    }
    const std::lock_guard lock(m_control);
    m_library = &library;
    m_options = options;
    if (!m_buffers) {
        const std::size_t bytes = options.shares ? kSharedBufferBytes : kBufferBytes;
        m_buffers = std::make_unique<Buffers>(bytes, std::max<std::size_t>(options.memory / bytes, 2));
    }
    follow();
    m_begun.store(true);
    m_wanted.store(true);
    if (m_theirs.load() == Theirs::Before || (theyRecord() && !options.shares)) {
        m_turns.push_back({ true, options.clock() });
        return {};
    }
    const std::string why = enableOurs();
    m_wanted.store(why.empty());
    return why;
}

void Activity::watch()
{
    const std::lock_guard lock(m_control);
    follow();
}

/// Under the lock. Calls of other libraries than LibTorch's are not seen.
void Activity::follow()
{
    constexpr const char* kCaller = "libtorch_cpu.so";
    if (m_followed || !dlopen(kCaller, RTLD_LAZY | RTLD_NOLOAD))
        return;
    m_followed = true;
    if (isTorchProfiling())
        m_theirs.store(Theirs::Before);
    const auto lead = [&](const char* function, auto* instead, std::atomic<void*>& before) {
        (void)interpose::redirectCalls(kCaller, function, reinterpret_cast<void*>(instead), nullptr, before);
    };
    lead("cuptiActivityRegisterCallbacks", &Redirected::registerCallbacks, g_register);
    lead("cuptiActivityRegisterTimestampCallback", &Redirected::registerClock, g_registerClock);
    lead("cuptiActivityEnable", &Redirected::enable, g_enable);
    lead("cuptiActivityDisable", &Redirected::disable, g_disable);
    lead("cuptiActivityFlushAll", &Redirected::flush, g_flush);
    lead("cuptiFinalize", &Redirected::finalize, g_finalize);
}

/// Under the lock. What they enabled stays theirs.
std::string Activity::enableOurs()
{
    if (!m_registered) {
        if (const Status status = m_library->registerCallbacks(request, complete); status != 0)
            return textOf(status);
        m_registered = true;
    }
    // Each registration may spoil a record that is under way: once.
    if (!m_clockRegistered && m_library->registerClock) {
        if (const Status status = m_library->registerClock(m_options.clock); status != 0)
            return textOf(status);
        m_clockRegistered = true;
    }
    if (!m_clockRegistered)
        return "this CUPTI knows no clock but its own: kernels are recorded from CUDA 11.8 on";
    for (const RecordKind kind : kOurKinds)
        if (const Status status = m_library->enable(kind); status != 0) {
            m_enabled = true;
            disableOurs();
            return textOf(status);
        }
    (void)m_library->enable(kOptionalKind);
    m_enabled = true;
    return {};
}

/// Under the lock.
void Activity::disableOurs()
{
    if (!std::exchange(m_enabled, false))
        return;
    const auto disable = [&](RecordKind kind) {
        if (!m_theirKinds.test(static_cast<std::uint32_t>(kind)))
            m_library->disable(kind);
    };
    for (const RecordKind kind : kOurKinds)
        disable(kind);
    disable(kOptionalKind);
}

std::string Activity::textOf(Status status) const
{
    constexpr Status kInsufficientPrivileges = 35, kMultipleSubscribers = 39;
    if (status == kInsufficientPrivileges)
        return "the driver lets only administrators profile: as root, or with the kernel module's option "
               "NVreg_RestrictProfilingToAdminUsers=0";
    if (status == kMultipleSubscribers)
        return "another profiler has CUPTI, as Nsight Systems does: end it first";
    const char* text = nullptr;
    if (m_library->resultText)
        m_library->resultText(status, &text);
    return std::string("CUPTI refuses: ") + (text ? text : std::to_string(status).c_str());
}

void Activity::request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* mostRecords)
{
    Activity& self = one();
    const RequestBuffer theirs = self.m_theirRequest.load();
    if (theirs && (self.theyRecord() || !self.m_begun.load()))
        return theirs(buffer, bytes, mostRecords);
    *mostRecords = 0;
    *buffer = self.m_begun.load() ? self.m_buffers->take() : nullptr;
    *bytes = *buffer ? self.m_buffers->bytes() : 0;
}

void Activity::complete(
    void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes, std::size_t valid)
{
    Activity& self = one();
    const CompleteBuffer theirs = self.m_theirComplete.load();
    if (!self.m_begun.load())
        return theirs ? theirs(context, stream, buffer, bytes, valid) : void();
    if (self.m_library->dropped) {
        std::size_t dropped = 0;
        if (self.m_library->dropped(context, stream, &dropped) == 0)
            self.m_lost.fetch_add(dropped);
    }
    if (self.m_buffers->isOurs(buffer))
        return self.m_buffers->fill(buffer, valid);
    if (self.m_options.shares && self.m_wanted.load() && valid > 0) {
        if (!self.m_buffers->copy({ buffer, valid }))
            self.m_lost.fetch_add(1);
        valid = keepRecords({ buffer, valid }, self.m_library->next, self.m_theirKindsEver.load());
    }
    if (theirs)
        theirs(context, stream, buffer, bytes, valid);
}

Status Activity::theyRegister(RequestBuffer theirRequest, CompleteBuffer theirComplete)
{
    const std::lock_guard lock(m_control);
    m_theirRequest.store(theirRequest);
    m_theirComplete.store(theirComplete);
    if (m_theirs.load() == Theirs::Before)
        m_theirs.store(Theirs::None);
    if (m_registered)
        return 0;
    const Status status = call<Status (*)(RequestBuffer, CompleteBuffer)>(
        g_register, &Activity::request, &Activity::complete);
    m_registered = status == 0;
    return status;
}

Status Activity::theyRegisterClock(Clock clock)
{
    // One counter under two names: nothing changes for them.
    constexpr std::uint64_t kNear = 10'000'000;
    const std::lock_guard lock(m_control);
    if (m_clockRegistered && clock) {
        const std::uint64_t before = m_options.clock(), theirs = clock(), after = m_options.clock();
        if (theirs + kNear >= before && theirs <= after + kNear)
            return 0;
    }
    m_clockRegistered = false;
    return call<Status (*)(Clock)>(g_registerClock, clock);
}

Status Activity::theyEnable(RecordKind kind)
{
    bool begins = false;
    {
        const std::lock_guard lock(m_control);
        begins = !theyRecord();
        if (begins) {
            m_theirKindsEver.store(0);
            m_theyDisabled = false;
            if (m_wanted.load() && !m_options.shares)
                m_turns.push_back({ true, m_options.clock() });
        }
    }
    // What is in our buffer is ours, and the next one is theirs, before any record of theirs is made.
    if (begins) {
        m_theirs.store(Theirs::Open);
        if (m_begun.load())
            m_library->flush(0);
    }
    const std::lock_guard lock(m_control);
    m_theirKindsEver.fetch_or(bitOf(kind));
    const Status status = call<Status (*)(RecordKind)>(g_enable, kind);
    if (status == 0 && bitOf(kind) != 0)
        m_theirKinds.set(static_cast<std::uint32_t>(kind));
    if (!m_options.shares)
        disableOurs();
    return status;
}

Status Activity::theyDisable(RecordKind kind)
{
    const std::lock_guard lock(m_control);
    m_theyDisabled = true;
    if (bitOf(kind) != 0)
        m_theirKinds.reset(static_cast<std::uint32_t>(kind));
    return m_enabled && isOurs(kind) ? 0 : call<Status (*)(RecordKind)>(g_disable, kind);
}

Status Activity::theyFlush(std::uint32_t flags)
{
    const Status status = call<Status (*)(std::uint32_t)>(g_flush, flags);
    const std::lock_guard lock(m_control);
    if (theyRecord() && m_theyDisabled && m_theirKinds.none())
        takeOver();
    return status;
}

/// Under the lock: they are done.
void Activity::takeOver()
{
    m_theirs.store(Theirs::None);
    if (!m_wanted.load())
        return;
    if (!m_enabled && enableOurs().empty())
        m_turns.push_back({ false, m_options.clock() });
}

/// Takes CUPTI away from everybody; the next call brings it back.
Status Activity::theyFinalize()
{
    const Status status = call<Status (*)()>(g_finalize);
    const std::lock_guard lock(m_control);
    m_theirKinds.reset();
    m_registered = m_clockRegistered = m_enabled = false;
    takeOver();
    return status;
}

void Activity::flush()
{
    {
        const std::lock_guard lock(m_control);
        if (!m_wanted.load() || theyRecord())
            return;
    }
    m_library->flush(0);
}

std::uint64_t Activity::takeLost()
{
    return m_lost.exchange(0);
}

std::vector<Activity::Turn> Activity::takeTurns()
{
    const std::lock_guard lock(m_control);
    return std::exchange(m_turns, {});
}

void Activity::end()
{
    if (!m_wanted.load())
        return;
    flush();
    {
        const std::lock_guard lock(m_control);
        disableOurs();
    }
    flush();
    m_wanted.store(false);
}

void Activity::forget() noexcept
{
    new (&m_control) std::mutex;
    m_wanted.store(false);
    m_enabled = m_registered = false;
}

} // namespace strata::cupti
