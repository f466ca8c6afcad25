// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeWidget>

#include "views/contents/details/details.h"
#include "views/style/palette.h"

namespace strata::views {

/// A stack, innermost frame first, as tall as its rows: place and function, the user's own frames in full
/// strength. Rows can be selected and copied. While folded, frames of frameworks are left out, unless there
/// are no others.
class StackList : public QTreeWidget {
    Q_OBJECT
public:
    explicit StackList(QWidget* parent = nullptr);

    void show(const std::vector<DetailsFrame>& frames, bool folded, const Palette& palette);
    [[nodiscard]] static int foldable(
        const std::vector<DetailsFrame>& frames); ///< how many frames folding hides

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void openFrame(const QString& file, qint64 line);
    void filterByLine(const QString& label);

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    [[nodiscard]] const DetailsFrame* frameOf(const QTreeWidgetItem* item) const;
    [[nodiscard]] int textWidth(const QTreeWidgetItem& item, int column) const;
    void fitColumns();

    std::vector<DetailsFrame> m_frames;
    int m_placeWidth = 0, m_functionWidth = 0; // of the widest
};

} // namespace strata::views
