// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/inject/inject.h"

#include "app/launch/inject/held_process.h"
#include "app/launch/inject/injected_code.h"
#include "app/launch/inject/meeting.h"
#include "app/launch/inject/process_image.h"
#include "app/launch/inject/process_status.h"
#include "app/launch/libraries.h"
#include "capture/agent/entry/injected.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace strata::launch {

namespace {

namespace injected = agent::injected;
using model::Error;
using model::Result;
using namespace std::chrono_literals;

constexpr auto kHoldPatience = 2000ms; // until threads stand
constexpr int kBackTries = 5;
constexpr auto kLoadingPause = 10ms; // between two looks at a process that loads its libraries

model::Failure hasEnded(pid_t process)
{
    return model::fail(
        Error::Kind::NotFound, model::say("process %1 has ended", process), model::say("start it again"));
}

model::Failure isBeyondUs(pid_t process)
{
    return model::fail(Error::Kind::Refused,
        model::say("process %1: there is no room in it for the instructions that load the recorder", process),
        model::say("start it under strata record --live instead"));
}

/// The process still is the one that was looked at.
bool isSame(const InjectionPlan& plan)
{
    const ProcessStatus now = readStatus(plan.process);
    return now.isThere() && now.startedAt == plan.startedAt;
}

/// Calls find(memory, its address) for what no library uses of its pages, of those that no program unloads,
/// until that finds something.
template <class Find>
auto findInRests(const ProcessImage& image, ProcessImage::Part part, Find&& find)
    -> decltype(find(std::span<const std::byte>(), std::uint64_t{}))
{
    for (const char* name : { "libc10_cuda.so", "libc10.so", "libtorch_cuda.so", "libtorch_cpu.so",
             "libtorch.so", "libtorch_python.so", "libtorch_global_deps.so", "libstdc++.so", "libm.so",
             "libm-", "libc.so", "libc-" }) {
        const LoadedFile* const file = image.find(name);
        const auto rest = file ? image.readRest(*file, part) : std::nullopt;
        if (!rest)
            continue;
        if (const auto found = find(rest->bytes, rest->address))
            return found;
    }
    return std::nullopt;
}

/// What is put into the process, and taken back.
class Detour {
public:
    Detour(const InjectionPlan& plan, const std::string& meeting)
        : m_plan(plan)
    {
        m_code.loadLibrary = plan.places.loadLibrary;
        m_code.findSymbol = plan.places.findSymbol;
        m_code.lastError = plan.places.lastError;
        m_code.library = plan.recorder.string();
        m_code.entry = injected::kEntry;
        m_code.meeting = meeting;
    }

    /// The code first, unused; then, in one word, the place that leads to it. False: nothing yet, since the
    /// process still loads its libraries.
    Result<bool> put(const ProcessImage& image)
    {
        bool isPut = false;
        const auto done = whileHeld(m_plan.process, kHoldPatience, [&](HeldProcess& held) -> Result<void> {
            const auto asked = held.word(m_plan.places.callPlace);
            if (!isSame(m_plan) || !asked)
                return hasEnded(m_plan.process);
            if (!image.isLinked(m_plan.places.allocator, m_plan.places.callPlace))
                return {};
            m_code.asked = *asked;
            std::size_t from = 0;
            if (isThere(image))
                from = instructionBytes();
            else if (!findRoom(image))
                return isBeyondUs(m_plan.process);
            const auto bytes = makeCode(m_code, m_address);
            const InjectedState untouched;
            if (!held.write(m_code.state, std::as_bytes(std::span(&untouched, 1)))
                || !held.write(m_address + from, std::span(bytes).subspan(from))
                || !held.setWord(m_plan.places.callPlace, m_address))
                return model::fail(Error::Kind::Refused,
                    model::say("process %1: this system lets nobody write into it", m_plan.process),
                    model::say("start it under strata record --live instead"));
            isPut = true;
            return {};
        });
        return done ? Result<bool>(isPut) : model::Failure(done.error());
    }

    /// Where it is still as it was put.
    void takeBack() const
    {
        for (int i = 0; i < kBackTries && isSame(m_plan); ++i)
            if (whileHeld(m_plan.process, kHoldPatience, [&](HeldProcess& held) -> Result<void> {
                    if (isSame(m_plan) && held.word(m_plan.places.callPlace) == m_address)
                        (void)held.setWord(m_plan.places.callPlace, m_code.asked);
                    return {};
                }))
                return;
    }

    InjectedState state(const ProcessImage& image) const
    {
        return image.readAs<InjectedState>(m_code.state).value_or(InjectedState{});
    }

private:
    /// Of an earlier injection; its instructions are left alone, lest a thread is amid them.
    bool isThere(const ProcessImage& image)
    {
        const auto earlier = findInRests(
            image, ProcessImage::Part::Code, [&](std::span<const std::byte> memory, std::uint64_t address) {
                return findEarlierCode(memory, address, m_code);
            });
        if (!earlier)
            return false;
        m_address = earlier->address;
        m_code.state = earlier->state;
        if (m_code.asked == m_address) // whoever put it is gone, and nobody came by since
            m_code.asked = earlier->asked;
        return true;
    }

    bool findRoom(const ProcessImage& image)
    {
        const auto zeros = [&](ProcessImage::Part part, std::size_t bytes) {
            return findInRests(image, part, [&](std::span<const std::byte> memory, std::uint64_t address) {
                return findZeros(memory, address, bytes);
            });
        };
        const auto code = zeros(ProcessImage::Part::Code, codeBytes(m_code));
        const auto state = zeros(ProcessImage::Part::Data, sizeof(InjectedState));
        m_address = code.value_or(0);
        m_code.state = state.value_or(0);
        return code && state;
    }

    const InjectionPlan& m_plan;
    InjectedCode m_code;
    std::uint64_t m_address = 0;
};

std::string wishes(const InjectionPlan& plan, const InjectionOptions& options)
{
    const std::string script
        = plan.isPython ? plan.recorder.parent_path() / "record_start.py" : std::filesystem::path();
    return fmt::format("{}={}\n{}={}\n{}={}\n{}={}\n{}={}\n{}={}\n{}={}\n", injected::kStacks, options.stacks,
        injected::kKernels, options.kernels, injected::kOperators, options.operators ? 1 : 0,
        injected::kScript, script, injected::kRing, options.ringEvents, injected::kMemory,
        options.memoryBytes, injected::kLiveMemory, options.liveMemoryBytes);
}

std::vector<std::string> linesOf(const std::string& text)
{
    std::vector<std::string> lines;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size());
        lines.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return lines;
}

model::Failure whyNot(const InjectionPlan& plan, std::chrono::milliseconds timeout, Meeting::Came came,
    const Detour& detour, const ProcessImage& image)
{
    const pid_t process = plan.process;
    if (came == Meeting::Came::Ended)
        return hasEnded(process);
    if (came == Meeting::Came::Stopped)
        return model::fail(Error::Kind::Cancelled, model::say("process %1 goes on as before", process));
    const InjectedState state = detour.state(image);
    if (state.value == InjectedState::Failed) {
        const std::string why = state.error == 0 ? "" : image.readText(state.error, 1000);
        return model::fail(Error::Kind::Refused,
            model::say("process %1 cannot load the recorder: %2", process, why.empty() ? "?" : why),
            model::say("start it under strata record --live instead"));
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
    if (state.value == InjectedState::Came)
        return model::fail(Error::Kind::Refused,
            model::say("process %1 did not finish loading the recorder within %2 seconds", process, seconds),
            model::say("give it more time with --timeout"));
    return model::fail(Error::Kind::NotFound,
        model::say("process %1 did not use CUDA through PyTorch for %2 seconds, and goes on as before",
            process, seconds),
        model::say("try again while it trains, or wait longer with --timeout"));
}

/// Puts it once the process has loaded its libraries.
Result<void> putWhenLoaded(Detour& detour, const InjectionPlan& plan, const ProcessImage& image,
    Meeting::Deadline deadline, const std::stop_token& stop)
{
    for (;;) {
        const auto put = detour.put(image);
        if (!put)
            return model::Failure(put.error());
        if (*put)
            return {};
        if (stop.stop_requested())
            return model::fail(
                Error::Kind::Cancelled, model::say("process %1 goes on as before", plan.process));
        if (std::chrono::steady_clock::now() > deadline)
            return model::fail(Error::Kind::NotFound,
                model::say("process %1 still loads its libraries, and goes on as before", plan.process),
                model::say("try again when it trains, or wait longer with --timeout"));
        std::this_thread::sleep_for(kLoadingPause);
    }
}

/// Gives the connection, and the lines of the recorder's answer to `wishes`.
Result<std::pair<Meeting, std::vector<std::string>>> talk(const InjectionPlan& plan,
    const std::string& wishes, std::chrono::milliseconds timeout, const std::stop_token& stop)
{
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    int why = 0;
    const auto image = ProcessImage::open(plan.process, why);
    if (!image || !isSame(plan))
        return hasEnded(plan.process);
    auto meeting = Meeting::with(plan.process);
    if (!meeting)
        return model::Failure(meeting.error());
    Detour detour(plan, meeting->name());
    if (const auto put = putWhenLoaded(detour, plan, *image, deadline, stop); !put)
        return model::Failure(put.error());
    if (const auto came = meeting->wait(deadline, stop); came != Meeting::Came::Yes) {
        detour.takeBack();
        return whyNot(plan, timeout, came, detour, *image);
    }
    meeting->send(wishes);
    std::string answer;
    if (const auto came = meeting->receive(answer, deadline, stop); came != Meeting::Came::Yes)
        return whyNot(plan, timeout, came, detour, *image);
    return std::pair(*std::move(meeting), linesOf(answer));
}

model::Failure refusedBy(const InjectionPlan& plan, const std::vector<std::string>& answer)
{
    const std::string said = fmt::format("{}", fmt::join(answer.begin() + 1, answer.end(), "; "));
    return model::fail(Error::Kind::Refused,
        model::say("process %1: %2", plan.process, said.empty() ? answer.front() : said));
}

} // namespace

Injection::Injection(Injection&& other) noexcept
    : m_link(std::exchange(other.m_link, -1))
    , m_address(std::move(other.m_address))
    , m_remarks(std::move(other.m_remarks))
{
}

Injection& Injection::operator=(Injection&& other) noexcept
{
    std::swap(m_link, other.m_link);
    std::swap(m_address, other.m_address);
    std::swap(m_remarks, other.m_remarks);
    return *this;
}

Injection::~Injection()
{
    if (m_link >= 0)
        close(m_link);
}

void Injection::send(std::string_view message) const noexcept
{
    (void)!::send(m_link, message.data(), message.size(), MSG_NOSIGNAL);
}

void Injection::stop() const noexcept
{
    send(injected::kStop);
}

void Injection::keep() const noexcept
{
    send(injected::kKeep);
}

Result<Injection> inject(
    const InjectionPlan& plan, const InjectionOptions& options, const std::stop_token& stop)
{
    auto talked = talk(plan, wishes(plan, options), options.timeout, stop);
    if (!talked)
        return model::Failure(talked.error());
    auto& [meeting, lines] = *talked;
    const std::string first = lines.front();
    if (!first.starts_with(injected::kRecording))
        return refusedBy(plan, lines);
    Injection injection(meeting.release());
    injection.m_address.socket = first.substr(std::min(injected::kRecording.size() + 1, first.size()));
    injection.m_address.owner = plan.owner;
    injection.m_remarks.assign(lines.begin() + 1, lines.end());
    return injection;
}

Result<void> endRecording(
    const InjectionPlan& plan, std::chrono::milliseconds timeout, const std::stop_token& stop)
{
    const auto talked = talk(plan, fmt::format("{}=1\n", injected::kEnd), timeout, stop);
    if (!talked)
        return model::Failure(talked.error());
    if (talked->second.front() != injected::kStopped)
        return refusedBy(plan, talked->second);
    return {};
}

} // namespace strata::launch
