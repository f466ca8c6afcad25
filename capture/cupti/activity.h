// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/cupti/buffers.h"
#include "capture/cupti/library.h"

#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace strata::cupti {

/// Our part of CUPTI's activity interface, which has one client in a process: whoever registers its callbacks
/// last. So that nobody loses anything, the callbacks that CUPTI has are always ours, once we record, and the
/// calls of LibTorch that would change what is recorded come here first:
///
///     torch.profiler --register, enable, disable, flush, finalize--> here --> CUPTI
///     CUPTI --request, complete--> here --> ours, or torch.profiler's, by whose buffer it is
///
/// While another profiler records (from the first kind that it enables until it has flushed behind the last
/// that it disables) every buffer is its own. We step aside then: our kinds are off. Shared, they stay on: a
/// buffer is copied for us, and what only we asked for is taken out before the other one gets it.
///
/// One of a process, never destroyed: CUPTI keeps calling. No callback allocates but from Buffers.
class Activity {
public:
    struct Options {
        Clock clock = nullptr; ///< of all times: in ticks
        bool shares = false;
        std::size_t memory = std::size_t{ 64 } << 20; ///< bytes for buffers, at most
    };
    /// The other profiler begins or ends.
    struct Turn {
        bool theirs = false;
        std::uint64_t ticks = 0;
    };

    static Activity& one();

    /// Sees from now on what torch.profiler does, so that one that begins before us is no surprise. LibTorch
    /// is loaded; no device needs to be known. Any thread.
    void watch();
    /// Records from now on, or as soon as the other profiler is done. Empty, or for the user why not. A
    /// device is known. One thread with the rest below.
    [[nodiscard]] std::string begin(const Library& library, const Options& options);
    /// What is complete comes into the queue, unless that would take it from the other profiler.
    void flush();
    /// The queue, oldest first: see(a buffer) for each.
    template <class See> void drain(See&& see)
    {
        for (std::span<std::uint8_t> buffer = m_buffers->front(); !buffer.empty();
             buffer = m_buffers->front()) {
            see(buffer);
            m_buffers->giveBack(buffer);
        }
    }
    [[nodiscard]] std::uint64_t takeLost(); ///< records that found no room
    [[nodiscard]] std::vector<Turn> takeTurns();
    /// No more of ours; what is complete is in the queue.
    void end();
    /// In the child of a fork: CUPTI is its parent's.
    void forget() noexcept;

private:
    friend struct Redirected;
    Activity() = default;

    enum class Theirs : std::uint8_t {
        None,
        Open, ///< it records, or has not flushed yet what it recorded
        Before, ///< likewise, since before we came: its callbacks are not known
    };

    static void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* mostRecords);
    static void complete(
        void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes, std::size_t valid);
    Status theyRegister(RequestBuffer theirRequest, CompleteBuffer theirComplete);
    Status theyRegisterClock(Clock clock);
    Status theyEnable(RecordKind kind);
    Status theyDisable(RecordKind kind);
    Status theyFlush(std::uint32_t flags);
    Status theyFinalize();

    void follow();
    std::string enableOurs();
    void disableOurs();
    void takeOver();
    [[nodiscard]] std::string textOf(Status status) const;
    [[nodiscard]] bool theyRecord() const { return m_theirs.load() != Theirs::None; }

    const Library* m_library = nullptr;
    Options m_options;
    std::unique_ptr<Buffers> m_buffers; ///< never replaced
    std::atomic<bool> m_begun{ false }; ///< the three above are there
    std::atomic<bool> m_wanted{ false }; ///< we record, when we may
    std::atomic<RequestBuffer> m_theirRequest{ nullptr };
    std::atomic<CompleteBuffer> m_theirComplete{ nullptr };
    std::atomic<Theirs> m_theirs{ Theirs::None };
    std::atomic<std::uint64_t> m_lost{ 0 };
    std::atomic<std::uint64_t> m_theirKindsEver{ 0 }; ///< of this turn of theirs

    std::mutex m_control; // of the rest; never held while CUPTI flushes
    bool m_registered = false; // our callbacks
    bool m_clockRegistered = false;
    bool m_enabled = false; // our kinds
    bool m_followed = false; // calls of the other profiler come here
    std::bitset<64> m_theirKinds; // that are enabled now
    bool m_theyDisabled = false; // something, since they began
    std::vector<Turn> m_turns;
};

} // namespace strata::cupti
