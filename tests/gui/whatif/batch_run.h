// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/save.h"
#include "tests/support/make_recording.h"
#include "views/style/type.h"

#include <QApplication>
#include <QString>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <string>

namespace strata::test {

/// A training of a few steps, named by its program: 44 MiB of a model, and in each step so much, and as much
/// as that says for a while.
inline std::unique_ptr<model::Recording> madeRun(std::int64_t kept, std::int64_t passing, int steps = 8)
{
    constexpr std::int64_t kMiB = 1 << 20;
    std::string text;
    const auto event = [&](const char* action, std::int64_t address, std::int64_t bytes, const char* stack) {
        text += std::string(action) + " " + std::to_string(address) + " " + std::to_string(bytes)
            + (*stack ? std::string(" stack=") + stack : std::string()) + "\n";
    };
    const auto segment = [&](std::int64_t address, std::int64_t bytes) {
        event("segment_alloc", address, (bytes + 2 * kMiB - 1) / (2 * kMiB) * 2 * kMiB, "");
    };
    const auto free = [&](std::int64_t address, std::int64_t bytes) {
        event("free_requested", address, bytes, "");
        event("free_completed", address, bytes, "");
    };
    constexpr std::int64_t kModel = std::int64_t{ 1 } << 40, kKept = std::int64_t{ 1 } << 41,
                           kPassing = std::int64_t{ 1 } << 42;
    segment(kModel, 44 * kMiB);
    event("alloc", kModel, 44 * kMiB, "__init__@model.py:3|main@train.py:5");
    for (int step = 0; step < steps; ++step) {
        text += "annotation start ProfilerStep#" + std::to_string(step) + "\n";
        if (step == 0)
            segment(kKept, kept);
        event("alloc", kKept, kept, "forward@model.py:7|step@train.py:20");
        if (step == 0)
            segment(kPassing, passing);
        event("alloc", kPassing, passing, "forward@model.py:9|step@train.py:20");
        free(kPassing, passing);
        free(kKept, kept);
        text += "annotation end ProfilerStep#" + std::to_string(step) + "\n";
    }
    // As it ends: else less than nothing was reserved at first.
    const auto ends = [&](std::int64_t address, std::int64_t bytes) {
        text += "segment " + std::to_string(address) + " "
            + std::to_string((bytes + 2 * kMiB - 1) / (2 * kMiB) * 2 * kMiB) + " large\n";
    };
    ends(kModel, 44 * kMiB);
    text += "block " + std::to_string(kModel) + " " + std::to_string(44 * kMiB)
        + " allocated stack=__init__@model.py:3|main@train.py:5\n";
    if (steps > 0) {
        ends(kKept, kept);
        ends(kPassing, passing);
    }
    return makeRecording(text);
}

/// One with 11 MiB for every item of the batch, and twice as much for a while.
inline std::unique_ptr<model::Recording> batchRun(int items, int steps = 8)
{
    constexpr std::int64_t kItem = std::int64_t{ 11 } << 20;
    return madeRun(items * kItem, items * 2 * kItem, steps);
}

/// One with 22 KiB for every token of its sequences, and 48 bytes for each pair of them for a while, as
/// scores of attention are.
inline std::unique_ptr<model::Recording> sequenceRun(int length)
{
    const std::int64_t tokens = length;
    return madeRun(tokens * (22 << 10), tokens * tokens * 48);
}

/// What such a run asks for at once.
inline std::int64_t sequenceRunBytes(std::int64_t length)
{
    return (44 << 20) + length * (22 << 10) + length * length * 48;
}

/// They as files in a folder.
inline QString writeBatchRun(const QTemporaryDir& folder, int items)
{
    QString path = folder.filePath(QStringLiteral("batch%1.strata").arg(items));
    EXPECT_TRUE(model::saveSession(*batchRun(items), path.toStdString()));
    return path;
}
inline QString writeSequenceRun(const QTemporaryDir& folder, int length)
{
    QString path = folder.filePath(QStringLiteral("length%1.strata").arg(length));
    EXPECT_TRUE(model::saveSession(*sequenceRun(length), path.toStdString()));
    return path;
}

} // namespace strata::test
