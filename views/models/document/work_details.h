// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>
#include <utility>
#include <vector>

namespace strata::views {

/// What is known of a piece of work, for the details: a label and what it says, in their order.
struct WorkDetails {
    using Rows = std::vector<std::pair<QString, QString>>;

    QString kind; ///< "Kernel"
    QString title; ///< its name
    Rows size, life, place, recorded;
    struct Frame {
        QString file, function;
        std::int64_t line = 0;
        bool isOwn = false; ///< of the user's own code
    };
    std::vector<Frame> frames; ///< of Python, innermost first; empty: none were recorded
};

} // namespace strata::views
