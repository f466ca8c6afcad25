// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/models/document/document.h"
#include "views/pages/parts/page.h"

#include <optional>
#include <vector>

namespace strata::views {

/// One figure of the details: "freed", "event 41,207 at 12.384 s".
struct DetailsRow {
    QString label;
    QString value;
    QString exact; ///< the same to the byte, in grey; may be empty
    std::optional<model::EventIndex> event; ///< a click shows this instant

    friend bool operator==(const DetailsRow&, const DetailsRow&) = default;
};

struct DetailsFrame {
    QString place; ///< "train.py:57"
    QString function;
    QString file; ///< as recorded, with directories
    std::int64_t line = 0;
    bool user = false; ///< of the user's own code

    friend bool operator==(const DetailsFrame&, const DetailsFrame&) = default;
};

/// What the details dock says of a focus, always in this order: what it is, its size, who, when it lived,
/// what for, where, and what was recorded with it.
struct Details {
    QString kind; ///< "Block"
    QString title; ///< "24.0 MiB by train.py:57"
    QString shortTitle; ///< of a line of code in a folder: the title without it; else empty
    std::vector<DetailsRow> size;
    std::vector<DetailsFrame> frames; ///< innermost first
    QString frameHeading; ///< "Allocated by"
    QString noFrames; ///< why there is no stack
    std::vector<DetailsRow> life;
    std::vector<DetailsRow> purpose; ///< of a block, once it is known
    std::vector<DetailsRow> place;
    std::vector<DetailsRow> recorded;
    [[nodiscard]] bool empty() const { return kind.isEmpty(); }
    friend bool operator==(const Details&, const Details&) = default;
};

/// Empty for Focus::Kind::Nothing and Work, and for rows that the device does not have. `at` is the instant
/// for which the bytes of a group are given. Costs a live set for a group, else O(log n). Any thread.
[[nodiscard]] Details detailsOf(const DeviceData& device, const Focus& focus, model::EventIndex at);

/// Of a piece of work, which needs no device.
[[nodiscard]] Details detailsOf(const WorkDetails& work);

/// The stack as PyTorch and Python print it, outermost last: for the clipboard.
[[nodiscard]] QString stackText(const Details& details);
/// All of it as text.
[[nodiscard]] QString detailsText(const Details& details);

} // namespace strata::views
