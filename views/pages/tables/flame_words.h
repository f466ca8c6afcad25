// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "views/pages/tables/flame_picture.h"

namespace strata::views {

/// What a flame graph shows, in words. All that it is made of must outlive it. GUI thread.
class FlameWords {
    Q_DECLARE_TR_FUNCTIONS(strata::views::FlamePage)
public:
    /// `selected`: somebody has selected an instant or a range; `device` and `tree` are of the picture.
    FlameWords(const FlameQuestion& question, const DeviceData& device, const FlameTree& tree, bool selected);

    /// Rich text; `leaks` of the same run, or nullptr: not known.
    [[nodiscard]] QString sentence(const model::LeakReport* leaks) const;
    [[nodiscard]] QString range() const; ///< "between event 3 and event 40"

private:
    [[nodiscard]] QString alive(const model::LeakReport* leaks) const;

    const FlameQuestion& m_question;
    const DeviceData& m_device;
    const FlameTree& m_tree;
    bool m_selected;
};

} // namespace strata::views
