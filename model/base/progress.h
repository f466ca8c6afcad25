// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string_view>

namespace strata::model {

enum class Stage : std::uint8_t { Reading, Building, Checking, Indexing };

/// How far a long job is. `done` and `total` are bytes while reading and items afterwards; total 0 is
/// unknown.
struct ProgressReport {
    Stage stage = Stage::Reading;
    std::int64_t done = 0;
    std::int64_t total = 0;
    std::int64_t events = 0; ///< events read so far
    friend bool operator==(const ProgressReport&, const ProgressReport&) = default;
};

/// Handed to every job that can take longer than a blink. The callback runs on the job's thread, a few
/// hundred times a job at most; the stop token is looked at as often. Both may be empty.
struct Progress {
    std::function<void(const ProgressReport&)> report;
    std::stop_token stop;

    void operator()(const ProgressReport& r) const
    {
        if (report)
            report(r);
    }
    [[nodiscard]] bool cancelled() const { return stop.stop_requested(); }
};

} // namespace strata::model
