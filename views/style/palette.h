// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBrush>
#include <QColor>
#include <QString>
#include <vector>

namespace strata::views {

/// Every colour of the window, from resources/palette.json: one set for light and one for dark. Data colours
/// are told apart by people with any of the three common colour-blindnesses and stand 3:1 against the
/// surface. A value: hand it down, no global.
class Palette {
public:
    enum class Role {
        Surface, ///< behind data and tables
        Frame, ///< rail, toolbar, status bar
        Line, ///< hairlines and grid
        Text,
        TextMuted, ///< units, axis labels
        Accent, ///< the one primary action, selection, focus
        AccentText,
        Selection, ///< translucent, over pictures
        Hover,
        Good,
        Warning,
        Bad,
        Reserved, ///< curve
        Requested, ///< curve and area
        PendingFree,
        BeforeTrace,
        Other, ///< groups beyond the coloured ones
        FilteredOut,
        Free, ///< empty part of a segment
        Tooltip,
        TooltipText,
    };

    [[nodiscard]] static Palette light();
    [[nodiscard]] static Palette dark();

    [[nodiscard]] bool isDark() const { return m_dark; }
    [[nodiscard]] QColor operator[](Role role) const;
    /// Of what has no stack, in place of a rank: grey, and hatched wherever it is drawn.
    static constexpr int kHatched = -2;
    /// In place of a rank too: what a block is for, from the ground up (model::Category). The last one is
    /// unknown, and hatched like what has no stack.
    [[nodiscard]] static constexpr int ofCategory(int category) { return kFirstCategory - category; }
    [[nodiscard]] bool isHatched(int rank) const
    {
        return rank == kHatched || (categoryCount() > 0 && rank == ofCategory(categoryCount() - 1));
    }
    /// Colour of the n-th largest group of the session; groups beyond the last one are Role::Other.
    [[nodiscard]] QColor group(int rank) const;
    [[nodiscard]] QBrush groupFill(int rank) const; ///< the same, for a swatch or a bar
    [[nodiscard]] int groupCount() const { return static_cast<int>(m_groups.size()); }
    [[nodiscard]] int categoryCount() const { return static_cast<int>(m_categories.size()); }
    /// Of a phase of a step: forward, backward, recompute, optimizer, without gradients; beyond the last one
    /// that of what is not known, Role::Other. Never shown without the letter or the name of the phase.
    [[nodiscard]] QColor phase(int place) const;
    [[nodiscard]] int phaseCount() const { return static_cast<int>(m_phases.size()); }

private:
    static constexpr int kFirstCategory = -16; // and downwards
    explicit Palette(bool dark);

    bool m_dark = false;
    std::vector<QColor> m_roles;
    std::vector<QColor> m_groups;
    std::vector<QColor> m_categories;
    std::vector<QColor> m_phases;
};

} // namespace strata::views
