// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>
#include <QList>

namespace strata::views {

/// Puts items beside each other and, where the width ends, goes on in the next line: for groups of buttons
/// that must not decide how narrow a window may get. Every item has its preferred size, in the middle of its
/// line.
class FlowLayout : public QLayout {
public:
    explicit FlowLayout(QWidget* parent = nullptr);
    ~FlowLayout() override;

    void setSpacings(int between, int lines);

    void addItem(QLayoutItem* item) override;
    [[nodiscard]] int count() const override { return static_cast<int>(m_items.size()); }
    [[nodiscard]] QLayoutItem* itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem* takeAt(int index) override;
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize sizeHint() const override; ///< all in one line
    [[nodiscard]] QSize minimumSize() const override; ///< as wide as the widest item
    void setGeometry(const QRect& rect) override;

private:
    /// Places the items within `rect` if `move`; returns the height that they take.
    int place(const QRect& rect, bool move) const;

    QList<QLayoutItem*> m_items;
    int m_between = 8, m_lines = 8;
};

} // namespace strata::views
