// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that nobody records, with a driver and a /proc that a test describes, and with the real one.
#include "model/live/find_processes.h"
#include "model/live/process_files.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::model {

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

constexpr const char* kTorch = "7f00-7f10 r-xp 0 08:01 1 /venv/torch/lib/libc10_cuda.so\n";
constexpr const char* kRecorder = "7f20-7f30 r-xp 0 08:01 2 /opt/lib/strata/libstrata_capture.so\n";
constexpr const char* kOther = "7f40-7f50 r-xp 0 08:01 3 /usr/lib/libc.so.6\n";

class FindProcesses : public testing::Test {
protected:
    FindProcesses()
    {
        m_options.nvml = STRATA_FAKE_NVML_LIBRARY;
        m_options.proc = m_folder.path() / "proc";
    }

    void machine(const std::string& text) const { m_folder.file("machine", text); }
    void process(int number, const std::string& maps, const std::vector<std::string>& command, int parent = 1,
        const std::string& environment = {}, const std::string& session = {}) const
    {
        const std::string folder = fmt::format("proc/{}/", number);
        std::string words;
        for (const std::string& word : command)
            words += word + '\0';
        m_folder.file(folder + "maps", maps);
        m_folder.file(folder + "cmdline", words);
        m_folder.file(folder + "stat", fmt::format("{} (a name) of) S {} 1 1 0", number, parent));
        m_folder.file(folder + "environ", environment);
        fs::create_directories(m_folder.path() / folder / "fd");
        if (!session.empty())
            fs::create_symlink(session, m_folder.path() / folder / "fd" / "7");
    }
    [[nodiscard]] std::vector<LiveProcess> find() const
    {
        std::string why;
        std::vector<LiveProcess> found = findProcesses(why, m_options);
        std::erase_if(found, [](const LiveProcess& each) { return each.state == ProcessState::Live; });
        return found;
    }
    [[nodiscard]] std::vector<std::string> texts() const
    {
        std::vector<std::string> all;
        for (const LiveProcess& each : find()) {
            std::string text = fmt::format("{} {} {}", stateName(each.state), *each.process, each.name);
            if (each.rank)
                text += fmt::format(" rank {}/{} of {}", *each.rank, *each.worldSize, *each.job);
            if (each.totals)
                for (const wire::DeviceTotals& device : each.totals->devices)
                    text += fmt::format(" gpu{}={}", device.device, device.usedBytes);
            all.push_back(text + (each.file.empty() ? "" : " " + each.file));
        }
        return all;
    }

    test::TemporaryDirectory m_folder;
    test::Variable m_fakeNvml{ "STRATA_FAKE_NVML", m_folder.path() / "machine" };
    test::Variable m_runtime{ "XDG_RUNTIME_DIR", m_folder.path() }; // nobody is live there
    FindOptions m_options;
};

} // namespace

TEST_F(FindProcesses, TellsTheStatesApart)
{
    machine(
        "device H100 80000 70000\nprocess 10 30000\nprocess 30 20000\ndevice H100 80000 500\nprocess 10 400\n"
        "process 40 -\nprocess 50 7\nname 50 /opt/other/train\n");
    process(10, std::string(kOther) + kTorch, { "python3", "-u", "train.py" });
    process(20, std::string(kTorch) + kRecorder, { "python3", "rec.py" }, 1, {}, "/home/u/run.strata");
    process(25, std::string(kTorch) + kRecorder, { "python3", "stopped.py" }); // it records nothing
    process(30, kOther, { "/usr/bin/blender" });
    process(60, kOther, { "bash" });
    EXPECT_THAT(texts(),
        ElementsAre("file 20 rec.py /home/u/run.strata", "attachable 10 train.py gpu0=30000 gpu1=400",
            "attachable 25 stopped.py", "polled 30 blender gpu0=20000", "polled 40  gpu1=-1",
            "polled 50 train gpu1=7"));
}

TEST_F(FindProcesses, RanksOfAJobStandTogether)
{
    const auto rank = [](int number) {
        return fmt::format("RANK={}", number) + '\0' + "WORLD_SIZE=2" + '\0' + "MASTER_ADDR=localhost" + '\0'
            + "MASTER_PORT=29500" + '\0';
    };
    process(5, kTorch, { "python3", "-m", "torch.distributed.run", "train.py" });
    process(12, kTorch, { "python3", "-u", "train.py" }, 5, rank(0));
    process(11, kTorch, { "python3", "-u", "train.py" }, 5, rank(1));
    process(13, kTorch, { "python3", "-u", "train.py" }, 12, rank(0)); // a worker of its DataLoader
    EXPECT_THAT(texts(),
        ElementsAre("attachable 12 train.py rank 0/2 of localhost:29500",
            "attachable 11 train.py rank 1/2 of localhost:29500"));
}

TEST_F(FindProcesses, WithoutADriverThereIsWhatTheSystemTells)
{
    m_options.nvml = "libthere-is-none.so.1";
    process(10, kTorch, { "python3", "train.py" });
    EXPECT_THAT(texts(), ElementsAre("attachable 10 train.py"));
    EXPECT_FALSE(Nvml(m_options.nvml).isThere());
    m_fakeNvml.set(std::nullopt); // one that cannot begin
    m_options.nvml = STRATA_FAKE_NVML_LIBRARY;
    EXPECT_FALSE(Nvml(m_options.nvml).isThere());
    EXPECT_THAT(texts(), ElementsAre("attachable 10 train.py"));
}

TEST_F(FindProcesses, AsksForAsManyAsThereAre)
{
    std::string text = "device A 1000 900\n";
    for (int i = 0; i < 300; ++i)
        text += fmt::format("process {} {}\n", 1000 + i, i);
    machine(text);
    const std::vector<GpuReading> readings = Nvml(m_options.nvml).read();
    ASSERT_EQ(readings.size(), 1u);
    EXPECT_EQ(readings[0].processes.size(), 300u);
    EXPECT_EQ(readings[0].processes.back().usedBytes, 299);
    EXPECT_EQ(readings[0].totalBytes, 1000);
    EXPECT_EQ(find().size(), 300u);
}

TEST_F(FindProcesses, DamagedFilesOfTheSystemAreNoProcesses)
{
    m_folder.file("proc/10/maps", std::string(300'000, 'x')); // no line of it ends
    m_folder.file("proc/11/maps", kTorch); // and nothing else of it
    m_folder.file("proc/notanumber/maps", kTorch);
    m_folder.file("proc/12/maps", std::string(65'530, 'y') + kTorch); // across two blocks
    EXPECT_THAT(texts(), ElementsAre("attachable 11 ", "attachable 12 "));
}

TEST_F(FindProcesses, APolledOneIsReadUntilItIsGone)
{
    machine("device H100 80000 70000\nprocess 30 20000\nprocess 31 5\n");
    process(30, kOther, { "/usr/bin/blender" });
    PolledProcess polled(30, m_options);
    auto read = polled.read();
    ASSERT_TRUE(read);
    EXPECT_EQ(read->state, ProcessState::Polled);
    EXPECT_EQ(read->name, "blender");
    ASSERT_EQ(read->totals->devices.size(), 1u);
    EXPECT_EQ(read->totals->devices[0].usedBytes, 20000);
    EXPECT_EQ(read->totals->devices[0].requestedBytes, -1);
    ASSERT_EQ(polled.devices().size(), 1u);
    EXPECT_EQ(polled.devices()[0].processes.size(), 2u);
    machine("device H100 80000 70000\nprocess 30 21000\n");
    EXPECT_EQ(polled.read()->totals->devices[0].usedBytes, 21000);
    machine("device H100 80000 70000\n");
    ASSERT_TRUE(polled.read()); // it is there, and uses no GPU any more
    EXPECT_FALSE(polled.read()->totals);
    fs::remove_all(m_folder.path() / "proc/30");
    EXPECT_FALSE(polled.read());
    EXPECT_FALSE(PolledProcess(999, m_options).read());
}

/// The real /proc: a child that has a library of that name.
TEST_F(FindProcesses, ARealProcessIsFound)
{
    const fs::path library = m_folder.path() / "libc10_cuda.so";
    fs::copy_file(STRATA_FAKE_NVML_LIBRARY, library);
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool loaded = dlopen(library.c_str(), RTLD_NOW) != nullptr;
        (void)!write(ready[1], loaded ? "y" : "n", 1);
        pause();
        _exit(0);
    }
    char answer = 'n';
    ASSERT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    const std::vector<ProcessFiles> found = findTorchProcesses();
    const auto own = std::ranges::find(found, child, &ProcessFiles::process);
    ASSERT_NE(own, found.end());
    EXPECT_EQ(own->parent, getpid());
    EXPECT_THAT(own->command, testing::HasSubstr("test_find_processes"));
    EXPECT_FALSE(own->hasRecorder);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(std::ranges::count(findTorchProcesses(), child, &ProcessFiles::process), 0);
    close(ready[0]);
    close(ready[1]);
}

/// Whose libraries may not be seen is known by the driver alone.
TEST_F(FindProcesses, OfOthersThereIsWhatTheDriverTells)
{
    machine("device H100 80000 70000\nprocess 1 20000\n");
    m_options.proc = "/proc";
    m_options.nvml = m_folder.path() / "libnvml.so"; // where anybody may read it
    fs::copy_file(STRATA_FAKE_NVML_LIBRARY, m_options.nvml);
    fs::permissions(m_folder.path(), fs::perms(0755));
    const auto isPolled = [&] {
        const std::vector<LiveProcess> all = find();
        const auto init = std::ranges::find(all, std::optional<std::int64_t>(1), &LiveProcess::process);
        return init != all.end() && init->state == ProcessState::Polled && !init->name.empty()
            && init->totals->devices.at(0).usedBytes == 20000;
    };
    if (geteuid() != 0) {
        EXPECT_TRUE(isPolled());
        return;
    }
    constexpr uid_t kNobody = 65534; // root sees all: one who is nobody looks
    const pid_t child = fork();
    if (child == 0)
        _exit(setresuid(kNobody, kNobody, kNobody) == 0 && isPolled() ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace strata::model
