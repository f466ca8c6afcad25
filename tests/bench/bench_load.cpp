// SPDX-License-Identifier: GPL-3.0-or-later
// Reads snapshots and prints time, speed and peak memory; beside them the time of Python's pickle.load of the
// same file, which is what the bars of the project are stated in.
//
// usage: bench_load [--no-python] [--repeat N] FILE...
#include "model/base/words.h"
#include "model/readers/reader.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace strata::model;
using Clock = std::chrono::steady_clock;

struct Reading {
    double seconds = 0;
    double megabytes = 0;
    long long events = 0;
    double cpuSeconds = 0; ///< with the start of the process: what counts when others use the machine
    long peakKib = 0;
};

double cpuSecondsOf(const rusage& usage)
{
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// Reads in a child process, so that each file has a peak of its own. The child tells its figures through a
/// pipe.
std::optional<Reading> readInChild(const std::string& path)
{
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
        return std::nullopt;
    const pid_t child = ::fork();
    if (child == 0) {
        const auto start = Clock::now();
        const auto recording = readRecording(path, {}, {});
        Reading reading;
        reading.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (!recording) {
            fmt::print(stderr, "{}\n", recording.error().text());
            ::_exit(1);
        }
        reading.megabytes = static_cast<double>((*recording)->fileBytes) / 1e6;
        for (const DeviceRecording& device : (*recording)->devices)
            reading.events += device.events.size();
        const bool told = ::write(ends[1], &reading, sizeof reading) == sizeof reading;
        ::_exit(told ? 0 : 1);
    }
    ::close(ends[1]);
    Reading reading;
    const bool told = child > 0 && ::read(ends[0], &reading, sizeof reading) == sizeof reading;
    ::close(ends[0]);
    int status = 0;
    rusage usage{};
    if (child > 0)
        ::wait4(child, &status, 0, &usage);
    reading.peakKib = usage.ru_maxrss;
    reading.cpuSeconds = cpuSecondsOf(usage);
    return told ? std::optional(reading) : std::nullopt;
}

struct PythonTime {
    double seconds = 0;
    double cpuSeconds = 0;
};

/// What pickle.load takes, garbage collector on as by default.
std::optional<PythonTime> timePython(const std::string& path)
{
    ::setenv("STRATA_BENCH_FILE", path.c_str(), 1);
    std::FILE* const pipe
        = ::popen("python3 -c 'import os, pickle, time\n"
                  "with open(os.environ[\"STRATA_BENCH_FILE\"], \"rb\") as f:\n"
                  "    wall = time.perf_counter(); cpu = time.process_time(); pickle.load(f)\n"
                  "    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)\n"
                  "os._exit(0)' 2>/dev/null",
            "r");
    if (pipe == nullptr)
        return std::nullopt;
    PythonTime time;
    const bool read = std::fscanf(pipe, "%lf %lf", &time.seconds, &time.cpuSeconds) == 2;
    ::pclose(pipe);
    return read ? std::optional(time) : std::nullopt;
}

} // namespace

int main(int argc, char** argv)
{
    bool python = true;
    int repeat = 1;
    std::vector<std::string> files;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--no-python")
            python = false;
        else if (argument == "--repeat" && i + 1 < argc)
            repeat = std::atoi(argv[++i]);
        else
            files.emplace_back(argument);
    }
    if (files.empty()) {
        fmt::print(stderr, "usage: bench_load [--no-python] [--repeat N] FILE...\n");
        return 2;
    }
    for (const std::string& file : files) {
        std::optional<Reading> best;
        for (int i = 0; i < repeat; ++i) {
            const std::optional<Reading> reading = readInChild(file);
            if (!reading)
                return 1;
            if (!best || reading->seconds < best->seconds)
                best = reading;
        }
        fmt::print("{}: {:.1f} MB, {} events, {:.3f} s ({:.3f} s of CPU), {:.0f} MB/s, peak {:.1f} MB "
                   "({:.2f} of the file)",
            file, best->megabytes, best->events, best->seconds, best->cpuSeconds,
            best->megabytes / best->seconds, static_cast<double>(best->peakKib) * 1024 / 1e6,
            static_cast<double>(best->peakKib) * 1024 / 1e6 / best->megabytes);
        std::fflush(stdout);
        if (python) {
            if (const std::optional<PythonTime> time = timePython(file))
                fmt::print(
                    ", pickle.load {:.3f} s ({:.3f} s of CPU): {:.1f} times as long ({:.1f} in CPU time)",
                    time->seconds, time->cpuSeconds, time->seconds / best->seconds,
                    time->cpuSeconds / best->cpuSeconds);
            else
                fmt::print(", pickle.load: failed");
        }
        fmt::print("\n");
    }
    return 0;
}
