// SPDX-License-Identifier: Apache-2.0
// The recorder's side of an injection, in the process that was started without it.
#include "capture/agent/entry/injected.h"

#include "capture/agent/say.h"
#include "capture/interpose/python_start.h"
#include "capture/interpose/redirect_calls.h"
#include "strata/capture_c.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace strata;
namespace injected = agent::injected;
using namespace std::chrono_literals;

/// How long the main thread of Python may take to come by; it may be inside of C++ for long.
constexpr auto kPythonPatience = 1s;
/// How long Python's script may wait for the recording to begin.
constexpr auto kBeginPatience = 5s;
constexpr int kAnswerPatienceMs = 10'000; // of who injects

/// What the thread that begins and the script of Python tell each other. Never destroyed.
struct Beginning {
    std::mutex mutex;
    std::condition_variable changed;
    bool scriptIsReady = false, hasBegun = false;
    std::string said; ///< lines, while it begins
    std::atomic<pid_t> process{ 0 }; ///< a child of fork() has our state, and none of our threads
};

Beginning& beginning()
{
    static Beginning* const one = new Beginning;
    return *one;
}

void keepSaid(const std::string& what)
{
    Beginning& self = beginning();
    const std::lock_guard lock(self.mutex);
    self.said += "\n" + what;
}

/// The end of a connection. Closes itself.
class Link {
public:
    explicit Link(int socket)
        : m_socket(socket)
    {
    }
    ~Link()
    {
        if (m_socket >= 0)
            close(m_socket);
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Of this user, or root: nobody else may say what is recorded.
    [[nodiscard]] bool isTrusted() const
    {
        ucred peer{};
        socklen_t size = sizeof peer;
        return getsockopt(m_socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
            && (peer.uid == geteuid() || peer.uid == 0);
    }
    /// One message; none where the other end is gone, or says nothing for so long (-1: waits).
    [[nodiscard]] std::optional<std::string> receive(int patienceMs) const
    {
        std::string text(injected::kMostBytes, '\0');
        for (;;) {
            pollfd waiting{ m_socket, POLLIN, 0 };
            if (poll(&waiting, 1, patienceMs) == 0)
                return std::nullopt;
            const ssize_t got = recv(m_socket, text.data(), text.size(), 0);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                return std::nullopt;
            text.resize(static_cast<std::size_t>(got));
            return text;
        }
    }
    void send(std::string text) const
    {
        text.resize(std::min(text.size(), injected::kMostBytes));
        (void)!::send(m_socket, text.data(), text.size(), MSG_NOSIGNAL);
    }
    [[nodiscard]] bool isOpen() const
    {
        pollfd state{ m_socket, POLLRDHUP, 0 };
        return poll(&state, 1, 0) == 0;
    }

private:
    const int m_socket;
};

int connectTo(const std::string& meeting)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t size = std::min(meeting.size(), sizeof address.sun_path - 1);
    meeting.copy(address.sun_path + 1, size); // behind the zero that makes it abstract
    const int link = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
    if (link < 0 || connect(link, reinterpret_cast<const sockaddr*>(&address), length) == 0)
        return link;
    close(link);
    return -1;
}

using Options = std::map<std::string, std::string, std::less<>>;

Options optionsIn(std::string_view text)
{
    Options options;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (const auto equals = line.find('='); equals != line.npos)
            options.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    return options;
}

std::uint64_t numberOf(const Options& options, std::string_view key)
{
    const auto found = options.find(key);
    return found == options.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::string textOf(const Options& options, std::string_view key)
{
    const auto found = options.find(key);
    return found == options.end() ? std::string() : found->second;
}

bool hasPython()
{
    const auto initialized = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    return initialized && initialized() != 0;
}

std::uint32_t stacksWanted(std::string_view text, bool python)
{
    if (text == "none")
        return STRATA_CAPTURE_STACKS_NONE;
    if (text == "native")
        return STRATA_CAPTURE_STACKS_NATIVE;
    if (text == "python")
        return STRATA_CAPTURE_STACKS_PYTHON;
    return python ? STRATA_CAPTURE_STACKS_AUTO : STRATA_CAPTURE_STACKS_NATIVE;
}

std::uint32_t kernelsWanted(std::string_view text)
{
    return text == "aside" ? STRATA_CAPTURE_KERNELS_ASIDE
        : text == "shared" ? STRATA_CAPTURE_KERNELS_SHARED
                           : STRATA_CAPTURE_KERNELS_OFF;
}

/// Python's side first, so that the first event has its frames. Python runs it on its main thread, between
/// two of its instructions; where that does not come by, the recording begins without.
void startPython(const Options& options)
{
    const std::string script = textOf(options, injected::kScript);
    if (script.empty() || !hasPython())
        return;
    Beginning& self = beginning();
    std::unique_lock lock(self.mutex);
    self.scriptIsReady = false;
    lock.unlock();
    interpose::startPython(interpose::PythonScript{
        strdup(script.c_str()), "<frozen strata_inject>", "Python's side of the recording failed" });
    lock.lock();
    if (self.changed.wait_for(lock, kPythonPatience, [&] { return self.scriptIsReady; }))
        return;
    self.said += "\nthe main thread of Python is busy elsewhere: stacks are those of C++ until it comes by";
}

/// A file in memory that the recorder adds the name of what it makes to, as it does for the command line.
class NameFile {
public:
    NameFile()
        : m_file(memfd_create("strata-name", MFD_CLOEXEC))
    {
    }
    ~NameFile()
    {
        if (m_file >= 0)
            close(m_file);
    }
    NameFile(const NameFile&) = delete;
    NameFile& operator=(const NameFile&) = delete;

    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(m_file); }
    [[nodiscard]] std::string firstLine() const
    {
        std::array<char, 4096> text;
        const ssize_t got = pread(m_file, text.data(), text.size(), 0);
        const std::string_view all(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        return std::string(all.substr(0, all.find('\n')));
    }

private:
    const int m_file;
};

/// Begins, or says why not: what is sent then.
std::string begin(const Link& link, const Options& options)
{
    if (strata_capture_poll() != STRATA_CAPTURE_OFF)
        return std::string(injected::kFailed) + "\nit is recorded already, by itself or without --live";
    startPython(options);
    const NameFile name;
    const std::string list = name.path();
    strata_capture_options wanted{};
    wanted.size = sizeof wanted;
    wanted.stacks = stacksWanted(textOf(options, injected::kStacks), hasPython());
    wanted.ring_events = numberOf(options, injected::kRing);
    wanted.memory_limit = numberOf(options, injected::kMemory);
    wanted.live_memory = numberOf(options, injected::kLiveMemory);
    wanted.kernels = kernelsWanted(textOf(options, injected::kKernels));
    wanted.operators = textOf(options, injected::kOperators) == "1" ? 1 : 0;
    wanted.live = 1;
    wanted.aside = 1;
    wanted.list_file = list.c_str();
    int state = strata_capture_start(&wanted);
    while (state == STRATA_CAPTURE_WAITING && link.isOpen()) {
        std::this_thread::sleep_for(20ms);
        state = strata_capture_poll();
    }
    if (state == STRATA_CAPTURE_WAITING) // for nobody any more
        strata_capture_stop();
    Beginning& self = beginning();
    const std::lock_guard lock(self.mutex);
    self.hasBegun = state == STRATA_CAPTURE_RECORDING;
    self.changed.notify_all();
    if (state == STRATA_CAPTURE_RECORDING)
        return std::string(injected::kRecording) + " " + name.firstLine() + self.said;
    return std::string(injected::kFailed) + self.said;
}

std::string end()
{
    if (strata_capture_poll() == STRATA_CAPTURE_OFF)
        return std::string(injected::kFailed) + "\nit is not recorded";
    strata_capture_stop();
    return std::string(injected::kStopped);
}

/// Leads the calls of LibTorch back; what the loader has resolved meanwhile stays.
void leadBack(void* asked)
{
    std::atomic<void*> ignored{ nullptr };
    (void)interpose::redirectCalls("libc10_cuda.so", "cudaGetDevice", asked, asked, ignored);
}

void serve(const std::string& meeting)
{
    const Link link(connectTo(meeting));
    if (!link.isTrusted())
        return; // whoever wanted it is gone
    const auto text = link.receive(kAnswerPatienceMs);
    if (!text)
        return;
    {
        Beginning& self = beginning();
        const std::lock_guard lock(self.mutex);
        self.hasBegun = false;
        self.said.clear();
        self.process.store(getpid());
    }
    const Options options = optionsIn(*text);
    if (numberOf(options, injected::kEnd) != 0)
        return link.send(end());
    agent::g_alsoSayTo.store(keepSaid);
    const std::string answer = begin(link, options);
    agent::g_alsoSayTo.store(nullptr);
    link.send(answer);
    if (!answer.starts_with(injected::kRecording))
        return;
    if (link.receive(-1) == injected::kKeep)
        return;
    strata_capture_stop();
    link.send(std::string(injected::kStopped));
}

void serveGuarded(const std::string& meeting) noexcept
{
    try {
        serve(meeting);
    } catch (...) {
        agent::g_alsoSayTo.store(nullptr); // no memory: the program goes on without a recording
    }
}

} // namespace

void strata_capture_injected(const char* meeting, void* asked)
{
    try {
        leadBack(asked);
        // Signals are for threads of the program.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            std::thread(serveGuarded, std::string(meeting)).detach();
        } catch (...) {
            // No thread: nobody comes to the meeting, and who waits there says so.
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    } catch (...) {
        // No memory: the program goes on without a recording.
    }
}

int strata_capture_injected_ready()
{
    Beginning& self = beginning();
    if (self.process.load() != getpid())
        return 0;
    std::unique_lock lock(self.mutex);
    self.scriptIsReady = true;
    self.changed.notify_all();
    return self.changed.wait_for(lock, kBeginPatience, [&] { return self.hasBegun; }) ? 1 : 0;
}
