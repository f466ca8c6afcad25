// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program whose threads all use CUDA for the first time at once.
//
// usage: begin THREADS [SESSION [open]]
//
// Each thread allocates three tensors of 1, 2 and 3 MiB and keeps them. With a session the program records
// itself, says what it does before anything is allocated, and each thread does ten steps with parts. "open":
// the recording ends with the process.
#include <ATen/ATen.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#ifdef STRATA_LINKED
#include <strata/capture.h>
#endif

namespace {

at::Tensor allocateHere(std::int64_t mebibytes)
{
    return at::empty({ mebibytes << 20 }, at::TensorOptions(at::kCUDA).dtype(at::kByte));
}

/// Ten steps with a phase and a range each, all of the same names on every thread.
void takeSteps()
{
#ifdef STRATA_LINKED
    for (int number = 0; number < 10; ++number) {
        const strata::capture::Step step(number);
        const strata::capture::Phase forward(strata::capture::Phase::Forward);
        const strata::capture::Scope inner("inner");
    }
#endif
}

} // namespace

int main(int argc, char** argv)
{
    const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
    if (threads < 1 || argc > 4) {
        std::fprintf(stderr, "usage: begin THREADS [SESSION [open]]\n");
        return 2;
    }
#ifdef STRATA_LINKED
    std::optional<strata::capture::Recording> recording;
    std::optional<strata::capture::Scope> whole;
    if (argc >= 3) {
        strata::capture::Options options;
        options.file = argv[2];
        if (argc == 4)
            strata::capture::start(options);
        else
            recording.emplace(options);
        strata::capture::note("before anything");
        strata::capture::mark("early mark");
        whole.emplace("whole program");
    }
#endif
    std::atomic<int> waiting{ threads };
    std::vector<std::vector<at::Tensor>> kept(static_cast<std::size_t>(threads));
    std::vector<std::thread> all;
    for (auto& mine : kept)
        all.emplace_back([&waiting, &mine] {
            for (--waiting; waiting.load() > 0;) { }
            for (std::int64_t mebibytes = 1; mebibytes <= 3; ++mebibytes)
                mine.push_back(allocateHere(mebibytes));
            takeSteps();
        });
    for (std::thread& thread : all)
        thread.join();
#ifdef STRATA_LINKED
    if (whole)
        strata::capture::mark("late mark");
    whole.reset();
    recording.reset();
#endif
    std::puts("done");
}
