// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/live/terminal/grid.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// What a curve does within one column of the plot: both ends are values that it had.
struct PlotSpan {
    std::int64_t min = 0;
    std::int64_t max = 0;
    friend bool operator==(const PlotSpan&, const PlotSpan&) = default;
};

struct PlotColumn {
    std::optional<PlotSpan> requested, reserved; ///< none: nothing is known of that time
    std::optional<PlotSpan> allocated; ///< none: not known exactly
    bool hasOom = false;
    friend bool operator==(const PlotColumn&, const PlotColumn&) = default;
};

/// What the terminal shows of a process that is watched, in figures and words; draw() makes cells of it. What
/// is not known has no value, or is empty.
struct Picture {
    struct Line {
        std::int64_t bytes = 0;
        std::int64_t blocks = 0;
        std::string label;
    };
    struct Event {
        std::string time; ///< since the first: "12.384 s"
        std::string action; ///< as PyTorch calls it
        std::int64_t bytes = 0;
        std::string label; ///< who
        bool isBad = false;
    };
    struct Allocated {
        std::int64_t bytes = 0;
        bool isExact = false; ///< else at least
    };

    // Of the process.
    std::string name;
    std::optional<std::int64_t> process, rank, worldSize;
    std::string device; ///< "GPU 0: NVIDIA H100 80GB"
    std::string state; ///< "connected"
    bool stateIsGood = true;
    std::optional<std::int64_t> eventsPerSecond, events, elapsedNs;
    std::optional<std::int64_t> driverBytes; ///< that the driver says it uses
    std::optional<std::int64_t> capacityBytes;
    bool isPolled = false; ///< all that is known is what the driver says: `reserved` of the columns is that

    // At the instant that is shown.
    std::optional<std::int64_t> requestedBytes, reservedBytes;
    std::optional<Allocated> allocated;

    // The plot. As many columns as plotColumns() says.
    std::vector<PlotColumn> columns;
    std::string begin, middle, end; ///< what stands below it
    std::optional<int> instant, peak; ///< columns that are marked

    std::string linesTitle;
    std::vector<Line> lines; ///< at the instant, largest first
    std::int64_t linesBytes = 0; ///< of all of them
    int firstLine = 0; ///< that is shown: scrolled to
    std::vector<Event> latest; ///< events up to the instant, latest first

    std::string verdict; ///< of an out-of-memory, or of what has ended
    bool verdictIsBad = false;
    std::vector<std::string> warnings;
    std::string mode; ///< "paused", where it does not follow
    std::string message; ///< in the place of the keys
    bool help = false; ///< in the place of plot and tables
};

/// The characters that may be used.
enum class Charset : std::uint8_t { Ascii, Utf8 };

/// Columns of the plot, of a terminal so wide.
[[nodiscard]] int plotColumns(int columns);
/// How many lines and events one of that size can show at most.
[[nodiscard]] int mostRows(GridSize size);

/// Any size: what has no room is left out, the least important first. Pure: the same gives the same.
[[nodiscard]] Grid draw(const Picture& picture, GridSize size, Charset charset);

} // namespace strata::cli
