// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <utility>
#include <vector>

namespace strata::views {

/// What is known of a piece of work, for the details: a label and what it says, in their order.
struct WorkDetails {
    using Rows = std::vector<std::pair<QString, QString>>;

    QString kind; ///< "Kernel"
    QString title; ///< its name
    Rows size, life, place, recorded;
};

} // namespace strata::views
