// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/save.h"
#include "tests/support/make_recording.h"

#include <filesystem>
#include <string>

namespace strata::test {

/// A training of so many steps, named by its program, each with a peak in its middle; from each, `kept` bytes
/// stay (0: nothing does). `segments`: each takes a segment of 2 MiB more, from a place of its own.
inline std::unique_ptr<model::Recording> trainingRun(int steps, std::int64_t kept, bool segments = false)
{
    std::string text;
    std::uint64_t next = std::uint64_t{ 1 } << 44;
    const auto event = [&](const char* action, std::uint64_t address, std::int64_t bytes, const char* stack) {
        text += std::string(action) + " " + std::to_string(address) + " " + std::to_string(bytes)
            + (*stack ? std::string(" stack=") + stack : std::string()) + "\n";
    };
    const auto alloc = [&](std::int64_t bytes, const char* stack) {
        event("alloc", next += 1 << 20, bytes, stack);
        return next;
    };
    const auto free = [&](std::uint64_t address, std::int64_t bytes) {
        event("free_requested", address, bytes, "");
        event("free_completed", address, bytes, "");
    };
    constexpr const char* kForward = "forward@model.py:7|step@train.py:20";
    (void)alloc(40'960, "__init__@model.py:3|main@train.py:5");
    for (int step = 0; step < steps; ++step) {
        const std::string name = "ProfilerStep#" + std::to_string(step);
        text += "annotation start " + name + "\n";
        if (segments)
            event("segment_alloc", next += 4 << 20, 2 << 20, "reserve@pool.py:4|step@train.py:19");
        const auto activation = alloc(30'000, kForward);
        const std::int64_t passing = 7'000 + 100 * (step % 5);
        free(alloc(passing, kForward), passing);
        if (kept > 0)
            (void)alloc(kept, "keep@train.py:30|step@train.py:31");
        free(activation, 30'000);
        free(alloc(4'096, ""), 4'096);
        text += "annotation end " + name + "\n";
    }
    return makeRecording(text);
}

/// The same, recorded without stacks.
inline std::unique_ptr<model::Recording> withoutStacks(std::unique_ptr<model::Recording> run)
{
    model::EventColumns& events = run->devices.front().events;
    for (std::size_t row = 0; row < static_cast<std::size_t>(events.size()); ++row)
        events.stack.edit(row) = {};
    return run;
}

/// It as a session file.
inline std::filesystem::path writeTrainingRun(
    const std::filesystem::path& path, int steps = 30, std::int64_t kept = 4'000)
{
    if (!model::saveSession(*trainingRun(steps, kept), path))
        throw std::runtime_error("cannot write " + path.string());
    return path;
}

} // namespace strata::test
