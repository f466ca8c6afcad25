// SPDX-License-Identifier: GPL-3.0-or-later
// Refusals of an injection, and its parts on programs that are no training: tests/truth/tests/test_inject.py has
// those.
#include "app/launch/inject/check_injection.h"
#include "app/launch/inject/held_process.h"
#include "app/launch/inject/injected_code.h"
#include "app/launch/inject/process_image.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <pthread.h>
#include <string>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

using testing::HasSubstr;

namespace {

// What the injected code of this test came to.
int g_calls = 0;
std::string g_meeting;
void* g_asked = nullptr;
int g_goneOn = 0;

int goOn(int* device)
{
    *device = 7;
    return ++g_goneOn;
}

} // namespace

extern "C" __attribute__((visibility("default"))) void strataTestInjected(const char* meeting, void* asked)
{
    ++g_calls;
    g_meeting = meeting;
    g_asked = asked;
}

namespace strata::launch {

namespace {

using namespace std::chrono_literals;

/// A process that does as it is told, until this ends.
class Child {
public:
    explicit Child(const std::function<void()>& act)
    {
        m_process = fork();
        if (m_process == 0) {
            act();
            _exit(0);
        }
    }
    ~Child()
    {
        kill(m_process, SIGKILL);
        waitpid(m_process, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] pid_t process() const { return m_process; }
    void waitForState(char state) const
    {
        for (int i = 0; i < 500; ++i, usleep(2000)) {
            std::ifstream file("/proc/" + std::to_string(m_process) + "/stat");
            std::string text;
            std::getline(file, text);
            if (const auto place = text.rfind(") "); place != text.npos && text[place + 2] == state)
                return;
        }
        ADD_FAILURE() << "the child is never in state " << state;
    }

private:
    pid_t m_process = 0;
};

void sleepLong()
{
    sleep(100);
}

std::string refusal(pid_t process)
{
    const auto plan = checkInjection(process);
    return plan ? "none" : plan.error().text();
}

TEST(CheckInjection, TellsOfWhatIsNotThere)
{
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    waitpid(gone, nullptr, 0);
    EXPECT_EQ(refusal(gone), "there is no process " + std::to_string(gone) + ": ps shows those that run");
    const std::string own = std::to_string(getpid());
    EXPECT_EQ(refusal(getpid()), "process " + own + " is this strata: name the one that trains");
}

TEST(CheckInjection, TellsOfOneThatHasEnded)
{
    const Child child([] {});
    child.waitForState('Z');
    EXPECT_EQ(refusal(child.process()),
        "process " + std::to_string(child.process()) + " has ended: start it again");
}

TEST(CheckInjection, WantsPyTorch)
{
    const Child child(sleepLong);
    child.waitForState('S');
    EXPECT_THAT(refusal(child.process()),
        HasSubstr(
            "has not loaded PyTorch's libraries for CUDA (libc10_cuda.so): name the process that trains"));
}

TEST(CheckInjection, TellsOfOneThatIsStopped)
{
    const Child child([] { raise(SIGSTOP); });
    child.waitForState('T');
    const std::string number = std::to_string(child.process());
    EXPECT_EQ(
        refusal(child.process()), "process " + number + " is stopped: let it go on: kill -CONT " + number);
}

TEST(CheckInjection, TellsWhoTraces)
{
    const Child child(sleepLong);
    ASSERT_EQ(ptrace(PTRACE_SEIZE, child.process(), nullptr, nullptr), 0);
    EXPECT_THAT(refusal(child.process()),
        HasSubstr(
            "is in the hands of process " + std::to_string(getpid()) + ", a debugger or strace: end that"));
}

TEST(CheckInjection, LeavesProcessesOfOthersAlone)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can be somebody else";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const Child child([&] {
        constexpr uid_t kNobody = 65534;
        const std::string said = setresuid(kNobody, kNobody, kNobody) == 0 ? refusal(getppid()) : "";
        (void)!write(ends[1], said.data(), said.size());
    });
    close(ends[1]);
    std::array<char, 1000> text{};
    (void)!read(ends[0], text.data(), text.size() - 1);
    close(ends[0]);
    const std::string own = std::to_string(getpid());
    EXPECT_EQ(std::string(text.data()),
        "process " + own + " belongs to another user: its user and root can: sudo strata attach --inject "
            + own);
}

TEST(CheckInjection, TellsOfAnotherContainer)
{
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const Child child([&] {
        const char done = unshare(CLONE_NEWNET) == 0 ? '1' : '0';
        (void)!write(ends[1], &done, 1);
        sleepLong();
    });
    char done = '0';
    (void)!read(ends[0], &done, 1);
    close(ends[0]);
    close(ends[1]);
    if (done == '0')
        GTEST_SKIP() << "no network of its own can be made here";
    EXPECT_THAT(refusal(child.process()), HasSubstr("runs in a container, or sees other files or networks"));
}

TEST(CheckInjection, SaysWhatKeepsPeopleOut)
{
    EXPECT_EQ(whyNoAccess(42, "1", false).text(),
        "process 42: this system lets only root into another process (/proc/sys/kernel/yama/ptrace_scope is "
        "1): "
        "sudo strata attach --inject 42, or, until the next start of the system: sudo sysctl "
        "kernel.yama.ptrace_scope=0");
    EXPECT_EQ(whyNoAccess(42, "2", false).text(),
        "process 42: this system lets only root into another process (/proc/sys/kernel/yama/ptrace_scope is "
        "2): "
        "sudo strata attach --inject 42");
    EXPECT_EQ(whyNoAccess(42, "3", true).text(),
        "process 42: this system lets nobody into another process (/proc/sys/kernel/yama/ptrace_scope is 3): "
        "start "
        "it under strata record --live instead");
    EXPECT_EQ(whyNoAccess(42, "1", true).text(),
        "process 42: root may not look into it here: CAP_SYS_PTRACE is missing: start the container with "
        "--cap-add "
        "SYS_PTRACE");
    EXPECT_EQ(whyNoAccess(42, "0", false).text(),
        "process 42 does not let its user look into it: sudo strata attach --inject 42");
}

/// Of ourselves: what the loader and the compiler say is what is found.
TEST(ProcessImage, FindsFunctionsAndTheirPlaces)
{
    int why = 0;
    const auto image = ProcessImage::open(getpid(), why);
    ASSERT_TRUE(image) << std::strerror(why);
    const LoadedFile* const libc = image->find("libc.so");
    ASSERT_TRUE(libc);
    EXPECT_TRUE(image->isOurArchitecture(*libc));
    for (const char* name : { "dlopen", "dlsym", "dlerror", "getppid" }) {
        const auto found = image->findFunction(*libc, name);
        ASSERT_TRUE(found) << name;
        EXPECT_EQ(*found, reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, name))) << name;
    }
    EXPECT_FALSE(image->findFunction(*libc, "strataIsNotThere"));
    EXPECT_FALSE(image->find("libstrataIsNotThere.so"));
    const LoadedFile* const cpp = image->find("libstdc++.so");
    ASSERT_TRUE(cpp);
    const auto place = image->findCallPlace(*cpp, "memcpy");
    ASSERT_TRUE(place);
    EXPECT_NE(image->readAs<std::uint64_t>(*place).value_or(0), 0U);
    EXPECT_FALSE(image->findCallPlace(*cpp, "strataIsNotThere"));
    const std::string text = "some text";
    EXPECT_EQ(image->readText(reinterpret_cast<std::uint64_t>(text.c_str()), 100), text);
    EXPECT_EQ(image->readText(reinterpret_cast<std::uint64_t>(text.c_str()), 4), "some");
    EXPECT_FALSE(image->readAs<int>(1));
}

TEST(ProcessImage, ReadsWhatNobodyUses)
{
    int why = 0;
    const auto image = ProcessImage::open(getpid(), why);
    ASSERT_TRUE(image);
    int found = 0;
    for (const LoadedFile& file : image->files())
        for (const auto part : { ProcessImage::Part::Code, ProcessImage::Part::Data })
            if (const auto rest = image->readRest(file, part)) {
                ++found;
                EXPECT_EQ((rest->address + rest->bytes.size()) % 4096, 0U) << file.path;
                EXPECT_LT(rest->bytes.size(), 4096U) << file.path;
                EXPECT_EQ(
                    std::memcmp(reinterpret_cast<const void*>(rest->address), rest->bytes.data(), 1), 0);
            }
    EXPECT_GT(found, 0);
}

TEST(InjectedCode, FindsZerosBehindWhatStandsThere)
{
    std::vector<std::byte> memory(100);
    EXPECT_EQ(findZeros(memory, 0x1000, 64), 0x1010U);
    EXPECT_EQ(findZeros(memory, 0x1000, 84), 0x1010U);
    EXPECT_FALSE(findZeros(memory, 0x1000, 85));
    memory[14] = std::byte{ 1 };
    EXPECT_EQ(findZeros(memory, 0x1000, 64), 0x1010U);
    memory[15] = std::byte{ 1 }; // the zero behind it may be its end
    EXPECT_EQ(findZeros(memory, 0x1000, 64), 0x1020U);
    EXPECT_FALSE(findZeros({}, 0x1000, 1));
}

TEST(InjectedCode, IsFoundAgain)
{
    InjectedCode code{ 1, 2, 3, 4, 5, "/library.so", "entry", "meeting 1" };
    std::vector<std::byte> memory(200, std::byte{ 7 });
    const auto bytes = makeCode(code, 0x2030);
    memory.insert(memory.begin() + 0x2c, bytes.begin(), bytes.end());
    code.meeting = "meeting 2";
    code.asked = code.state = 0;
    const auto earlier = findEarlierCode(memory, 0x2004, code);
    ASSERT_TRUE(earlier);
    EXPECT_EQ(std::tuple(earlier->address, earlier->asked, earlier->state), std::tuple(0x2030U, 4U, 5U));
    EXPECT_FALSE(findEarlierCode(memory, 0x2003, code)); // not at such a place
    EXPECT_FALSE(findEarlierCode(std::span(memory).first(0x2c + bytes.size() - 1), 0x2004, code));
    for (const auto& other : { InjectedCode{ 9, 2, 3, 0, 0, "/library.so", "entry", "meeting 2" },
             InjectedCode{ 1, 2, 3, 0, 0, "/another.so", "entry", "meeting 2" },
             InjectedCode{ 1, 2, 3, 0, 0, "/library.so", "entry", "another meeting" } })
        EXPECT_FALSE(findEarlierCode(memory, 0x2004, other));
}

#if defined(__x86_64__)
/// The code that is injected, run here.
class InjectedCodeTest : public testing::Test {
protected:
    void SetUp() override
    {
        g_calls = g_goneOn = 0;
        m_page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (m_page == MAP_FAILED)
            GTEST_SKIP() << "this system has no memory that is written and run";
        m_code.loadLibrary = reinterpret_cast<std::uint64_t>(dlopen);
        m_code.findSymbol = reinterpret_cast<std::uint64_t>(dlsym);
        m_code.lastError = reinterpret_cast<std::uint64_t>(dlerror);
        m_code.asked = reinterpret_cast<std::uint64_t>(goOn);
        m_code.state = reinterpret_cast<std::uint64_t>(&m_state);
        m_code.entry = "strataTestInjected";
        m_code.meeting = "the place to meet";
    }
    void TearDown() override
    {
        if (m_page != MAP_FAILED)
            munmap(m_page, 4096);
    }
    int call(int& device)
    {
        const auto bytes = makeCode(m_code, reinterpret_cast<std::uint64_t>(m_page));
        EXPECT_EQ(bytes.size(), codeBytes(m_code));
        std::memcpy(m_page, bytes.data(), bytes.size());
        const auto result = reinterpret_cast<int (*)(int*)>(m_page)(&device);
        return result;
    }

    void* m_page = MAP_FAILED;
    InjectedCode m_code; // without a path it is this program that is loaded
    InjectedState m_state;
};

TEST_F(InjectedCodeTest, CallsOnceAndGoesOn)
{
    int device = 0;
    EXPECT_EQ(call(device), 1);
    EXPECT_EQ(device, 7);
    EXPECT_EQ(g_calls, 1);
    EXPECT_EQ(g_meeting, "the place to meet");
    EXPECT_EQ(g_asked, reinterpret_cast<void*>(goOn));
    EXPECT_EQ(m_state.value, InjectedState::Came);
    EXPECT_EQ(call(device), 2);
    EXPECT_EQ(g_calls, 1);
}

TEST_F(InjectedCodeTest, TellsWhatCannotBeLoaded)
{
    m_code.library = "/no/such/library.so";
    int device = 0;
    EXPECT_EQ(call(device), 1);
    EXPECT_EQ(g_calls, 0);
    EXPECT_EQ(m_state.value, InjectedState::Failed);
    ASSERT_NE(m_state.error, 0U);
    EXPECT_THAT(reinterpret_cast<const char*>(m_state.error), HasSubstr("/no/such/library.so"));
}

TEST_F(InjectedCodeTest, TellsWhatHasNoEntry)
{
    m_code.entry = "strataIsNotThere";
    int device = 0;
    EXPECT_EQ(call(device), 1);
    EXPECT_EQ(m_state.value, InjectedState::Failed);
}

TEST_F(InjectedCodeTest, IsRunByOneOfManyThreads)
{
    int device = 0;
    (void)call(device);
    g_calls = 0;
    m_state = {};
    std::atomic<int> done{ 0 };
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            int mine = 0;
            (void)reinterpret_cast<int (*)(int*)>(m_page)(&mine);
            done += mine == 7 ? 1 : 0;
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(done, 8);
    EXPECT_EQ(g_calls, 1);
}
#endif

/// What a child and we have in common.
struct Shared {
    std::array<std::atomic<long>, 16> counts;
    std::atomic<long> turns, interrupted;
    volatile std::uint64_t word;
};

Shared* share()
{
    void* const memory
        = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : new (memory) Shared{};
}

std::vector<long> countsOf(const Shared& shared)
{
    return { shared.counts.begin(), shared.counts.end() };
}

const volatile std::uint64_t g_constant = 0x1122334455667788; // in a page that nobody may write to

/// Threads that run stand still; those that wait in the system are not woken up, not even where that is an
/// error of the call.
TEST(HeldProcess, StandsAndGoesOn)
{
    Shared* const shared = share();
    ASSERT_TRUE(shared);
    const Child child([&] {
        std::vector<std::thread> threads;
        for (auto& count : shared->counts)
            threads.emplace_back([&] {
                for (;; std::this_thread::yield())
                    ++count;
            });
        threads.emplace_back([&] {
            const int poller = epoll_create1(0);
            for (epoll_event event{};;)
                if (epoll_wait(poller, &event, 1, 60'000) != 0)
                    ++shared->interrupted;
        });
        for (;; ++shared->turns) {
            usleep(2000);
            shared->word = g_constant;
        }
    });
    while (shared->turns < 2)
        std::this_thread::sleep_for(1ms);
    for (std::uint64_t turn = 1; turn <= 20; ++turn) {
        const auto done = whileHeld(child.process(), 2s, [&](HeldProcess& held) -> model::Result<void> {
            const auto before = countsOf(*shared);
            std::this_thread::sleep_for(3ms);
            EXPECT_EQ(countsOf(*shared), before);
            const auto address = reinterpret_cast<std::uint64_t>(&g_constant);
            EXPECT_TRUE(held.word(address));
            EXPECT_TRUE(held.setWord(address, turn));
            EXPECT_EQ(held.word(address), turn);
            EXPECT_FALSE(held.word(8));
            EXPECT_FALSE(held.setWord(8, 1));
            return {};
        });
        ASSERT_TRUE(done) << done.error().text();
        const auto before = countsOf(*shared);
        for (int i = 0; i < 1000 && (countsOf(*shared) == before || shared->word != turn); ++i)
            std::this_thread::sleep_for(1ms);
        EXPECT_NE(countsOf(*shared), before);
        EXPECT_EQ(shared->word, turn);
    }
    EXPECT_EQ(shared->interrupted, 0);
    EXPECT_EQ(waitpid(child.process(), nullptr, WNOHANG), 0);
    munmap(shared, sizeof(Shared));
}

/// As where the system lets nobody write to /proc/PID/mem; also of a process of which nothing runs.
TEST(HeldProcess, IsWrittenToWordByWord)
{
    Shared* const shared = share();
    ASSERT_TRUE(shared);
    static std::array<unsigned char, 24> g_bytes{};
    const Child child([&] {
        for (;; ++shared->turns) {
            usleep(2000);
            long sum = 0;
            for (const unsigned char& byte : g_bytes)
                sum += *const_cast<const volatile unsigned char*>(&byte);
            shared->counts[0] = sum;
        }
    });
    const std::array<unsigned char, 11> given{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    const auto done = whileHeld(
        child.process(), 2s,
        [&](HeldProcess& held) -> model::Result<void> {
            EXPECT_TRUE(held.write(
                reinterpret_cast<std::uint64_t>(g_bytes.data() + 3), std::as_bytes(std::span(given))));
            EXPECT_TRUE(held.setWord(reinterpret_cast<std::uint64_t>(&g_constant), 5));
            EXPECT_EQ(held.word(reinterpret_cast<std::uint64_t>(&g_constant)), 5U);
            EXPECT_FALSE(held.setWord(8, 1));
            return {};
        },
        Writing::ByWords);
    ASSERT_TRUE(done) << done.error().text();
    for (int i = 0; i < 1000 && shared->counts[0] != 66; ++i)
        std::this_thread::sleep_for(1ms);
    EXPECT_EQ(shared->counts[0], 66);
    munmap(shared, sizeof(Shared));
}

/// Who holds it is killed: it goes on.
TEST(HeldProcess, IsLetGoByWhoeverEnds)
{
    Shared* const shared = share();
    ASSERT_TRUE(shared);
    const Child child([&] {
        for (;; ++shared->counts[0]) { }
    });
    for (int turn = 0; turn < 5; ++turn) {
        const Child holder([&] {
            (void)whileHeld(child.process(), 2s, [&](HeldProcess&) -> model::Result<void> {
                ++shared->turns;
                sleepLong();
                return {};
            });
        });
        while (shared->turns <= turn)
            std::this_thread::sleep_for(1ms);
        const long before = shared->counts[0];
        std::this_thread::sleep_for(3ms);
        EXPECT_EQ(shared->counts[0], before);
        kill(holder.process(), SIGKILL);
        for (int i = 0; i < 1000 && shared->counts[0] == before; ++i)
            std::this_thread::sleep_for(1ms);
        EXPECT_NE(shared->counts[0], before);
    }
    munmap(shared, sizeof(Shared));
}

/// A signal that comes while it stands reaches it, once.
TEST(HeldProcess, PassesSignalsOn)
{
    static Shared* const shared = share();
    ASSERT_TRUE(shared);
    const Child child([] {
        std::signal(SIGUSR1, [](int) { ++shared->counts[0]; });
        for (;; ++shared->turns) { }
    });
    while (shared->turns < 2)
        std::this_thread::sleep_for(1ms);
    for (int turn = 1; turn <= 50; ++turn) {
        if (turn % 2 == 0)
            kill(child.process(), SIGUSR1);
        const auto done = whileHeld(child.process(), 2s, [&](HeldProcess&) -> model::Result<void> {
            if (turn % 2 == 1)
                kill(child.process(), SIGUSR1);
            return {};
        });
        ASSERT_TRUE(done) << done.error().text();
        for (int i = 0; i < 2000 && shared->counts[0] < turn; ++i)
            std::this_thread::sleep_for(1ms);
        ASSERT_EQ(shared->counts[0], turn);
    }
}

} // namespace

} // namespace strata::launch
