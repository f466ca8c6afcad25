// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/trace/filter/filter_conditions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace strata::cli {

// Options that several commands have in common. Each declares itself, and is what was given.

/// --device, --json and --force: how a recording is read and printed.
struct ReadOptions {
    std::optional<int> device;
    bool json = false;
    bool force = false; ///< read what unpacks to more than half of this machine's memory

    enum class Devices : std::uint8_t { One, All }; ///< that it works on where none is named
    void declare(CLI::App& app, Devices devices);
};

/// --force alone.
void declareForce(CLI::App& app, bool& force);

/// --from and --to, as positions; empty: the whole trace.
struct RangeOptions {
    std::string from, to;

    [[nodiscard]] bool given() const { return !from.empty() || !to.empty(); }
    void declare(CLI::App& app, const char* fromHelp, const char* toHelp);
};

/// --limit: how many rows are printed.
struct LimitOption {
    std::optional<std::int64_t> limit; ///< none: as many as fit a person or a program; 0: all

    void declare(CLI::App& app, const char* rows); ///< what a row is
    [[nodiscard]] model::Result<void> check() const;
    /// Rows to print: 40 on a terminal and all for programs unless it was given.
    [[nodiscard]] std::int64_t rows(bool json, const Output& out) const;
};

/// POSITION: the instant that a command tells of; else the last out-of-memory, which whoever has one comes
/// for, else the peak.
class InstantOption {
public:
    enum class Peak : std::uint8_t { Requested, Reserved };
    explicit InstantOption(Peak peak = Peak::Requested)
        : m_peak(peak)
    {
    }
    void declare(CLI::App& app);
    [[nodiscard]] model::Result<model::EventIndex> of(const model::DeviceTrace& trace) const;

private:
    Peak m_peak;
    std::string m_position;
};

/// --capacity: what the device has for PyTorch.
struct CapacityOption {
    std::optional<std::int64_t> bytes; ///< none: what the recording tells

    void declare(CLI::App& app);
    [[nodiscard]] model::Result<void> check(); ///< Kind::Usage: no size above 0

private:
    std::optional<std::string> m_text;
};

/// --filter: which blocks or events take part.
struct FilterOption {
    std::vector<std::string> texts; ///< in the language of filters; a row is one of each

    void declare(CLI::App& app, const char* what);
    /// Reads the texts. Kind::Usage says where one is wrong.
    [[nodiscard]] model::Result<void> check();
    [[nodiscard]] bool given() const { return !m_conditions.empty(); }
    [[nodiscard]] bool asksForLabels() const; ///< what blocks are for, which the analyses tell
    [[nodiscard]] std::vector<model::BlockFilter> of(const model::Recording& recording) const;
    /// As they are printed: how a person would have typed them.
    [[nodiscard]] std::vector<std::string> printed() const;

private:
    std::vector<model::FilterConditions> m_conditions; // that are not empty
};

/// What stands below the options in a command's help.
enum class Footer : std::uint8_t { ExitCodes, Positions, Filters };
[[nodiscard]] std::string footer(Footer kind);

} // namespace strata::cli
