// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/inject/check_injection.h"
#include "model/live/link_address.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace strata::launch {

struct InjectionOptions {
    std::chrono::milliseconds timeout = std::chrono::seconds(30); ///< until it records, all in all
    std::string stacks = "auto"; ///< auto, none, python or native
    std::string kernels; ///< aside or shared, as the recorder takes it; empty: none
    bool operators = false; ///< of PyTorch too, where kernels are recorded
    std::int64_t ringEvents = 0; ///< 0: as the recorder has it; likewise the next
    std::int64_t memoryBytes = 0; ///< of the recorder
    std::int64_t liveMemoryBytes = 0; ///< kept for those who look on
};

/// A recording in a process that was started without one. It lasts as long as this does: with its end, in
/// whatever way, the recording ends too, and the recorder stays in the process and does nothing. One thread.
class Injection {
public:
    Injection(Injection&& other) noexcept;
    Injection& operator=(Injection&& other) noexcept;
    ~Injection();

    [[nodiscard]] const model::LinkAddress& address() const { return m_address; } ///< where it can be watched
    /// What the recorder said as it began, for the user.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return m_remarks; }

    /// Asks for its end, and does not wait for it: who watches sees it. May be called in any thread, while
    /// this is not moved.
    void stop() const noexcept;
    /// It goes on when this ends, until the process does.
    void keep() const noexcept;

private:
    friend model::Result<Injection> inject(
        const InjectionPlan& plan, const InjectionOptions& options, const std::stop_token& stop);
    explicit Injection(int link)
        : m_link(link)
    {
    }
    void send(std::string_view message) const noexcept;

    int m_link = -1;
    model::LinkAddress m_address;
    std::vector<std::string> m_remarks;
};

/// Ends what is recorded in a process, for a plan of that purpose, in the same way: all is written then.
[[nodiscard]] model::Result<void> endRecording(
    const InjectionPlan& plan, std::chrono::milliseconds timeout, const std::stop_token& stop);

/// Brings the recorder into a process and begins a recording that can be watched. No thread of the
/// process runs while some hundred bytes are written into room that nobody uses, and the place through which
/// LibTorch calls cudaGetDevice is led there; the next thread that comes by loads the recorder, which leads
/// the place back.
///
/// Whatever goes wrong, the process goes on as before: no signal is sent to it, no register of it changed, no
/// breakpoint set; nothing traces it while we wait, and if this process is killed then, the recorder finds
/// nobody at the meeting and does nothing. On a timeout, or when `stop` is asked for (Kind::Cancelled), the
/// place is led back from here. What stays in any case are those bytes, and the library once it was loaded.
[[nodiscard]] model::Result<Injection> inject(
    const InjectionPlan& plan, const InjectionOptions& options, const std::stop_token& stop);

} // namespace strata::launch
