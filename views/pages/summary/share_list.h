// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/parts/bar_list.h"

#include "views/style/palette.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace strata::views {

/// One bar of a ShareList.
struct ShareRow {
    QString label; ///< "train.py:57  forward"
    QString shortLabel; ///< "train.py:57", where there is no room for more
    QString toolTip;
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;
    QBrush colour;
    std::string key; ///< these two: whatever the user of the list wants to be told at a click
    bool named = false;
    bool clickable = true;
};

/// What fills something: swatch, name, bar, share, bytes, blocks. Enter or a click chooses a row, a double
/// click or Shift+Enter filters by it.
class ShareList : public BarList {
    Q_OBJECT
public:
    explicit ShareList(QWidget* parent = nullptr);

    /// Bars are drawn to the scale of `whole`, shares are of it.
    void setRows(const std::vector<ShareRow>& rows, std::int64_t whole, const Palette& palette);
    /// Of the rows that can be clicked; nothing else changes.
    void setColours(const std::function<QBrush(const ShareRow&)>& colourOf);

Q_SIGNALS:
    void rowChosen(const strata::views::ShareRow& row);
    void rowFiltered(const strata::views::ShareRow& row);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    [[nodiscard]] const ShareRow* rowAt(int row) const;

    std::vector<ShareRow> m_rows;
};

} // namespace strata::views
