// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/legend.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/table_header.h"

#include <QComboBox>
#include <QEvent>
#include <QLayout>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <QWidget>

#include <algorithm>
#include <utility>

namespace strata::views {

/// What lays out the parts of the page What-if. GUI thread only.

/// A choice side by side; as a list where that has no room.
class ChoiceRow : public QWidget {
public:
    ChoiceRow(QWidget& wide, QComboBox& narrow)
        : m_wide(wide)
        , m_narrow(narrow)
    {
        wide.setParent(this);
        narrow.setParent(this);
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    }
    [[nodiscard]] QSize sizeHint() const override { return m_wide.sizeHint(); }
    [[nodiscard]] QSize minimumSizeHint() const override
    {
        return { m_narrow.minimumSizeHint().width(), m_wide.sizeHint().height() };
    }

protected:
    void resizeEvent(QResizeEvent*) override
    {
        const bool isWide = width() >= m_wide.sizeHint().width();
        m_wide.setVisible(isWide);
        m_narrow.setVisible(!isWide);
        (isWide ? m_wide : m_narrow)
            .setGeometry(0, 0, (isWide ? m_wide.sizeHint() : m_narrow.sizeHint()).width(), height());
    }

private:
    QWidget& m_wide;
    QComboBox& m_narrow;
};

/// Pictures above a legend, which needs more lines where it is narrow: they are not squeezed for that.
class PictureArea : public QWidget {
public:
    [[nodiscard]] QSize minimumSizeHint() const override
    {
        const int least = layout()->minimumSize().width();
        return { least, layout()->minimumSize().height() };
    }

protected:
    bool event(QEvent* event) override
    {
        const bool isHandled = QWidget::event(event);
        if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) {
            for (Legend* legend : findChildren<Legend*>())
                legend->setMinimumHeight(legend->layout()->heightForWidth(legend->width()));
            updateGeometry();
        }
        return isHandled;
    }
};

/// A table with room for two whole rows, whatever the font.
class AnswerTable : public PlainTableView {
public:
    [[nodiscard]] QSize minimumSizeHint() const override
    {
        constexpr int kRows = 2;
        const QSize least = PlainTableView::minimumSizeHint();
        const int height = header()->sizeHint().height() + kRows * rowHeight()
            + horizontalScrollBar()->sizeHint().height() + 2 * frameWidth();
        return { least.width(), std::max(least.height(), height) };
    }
};

/// Cards below each other, as wide as the widest: nothing of them is cut at the right.
class CardArea : public QScrollArea {
public:
    CardArea()
    {
        setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn); // cards are as wide with it as without
        QScrollBar* const bar = verticalScrollBar();
        bar->setEnabled(false); // is not seen
        connect(bar, &QScrollBar::rangeChanged, bar,
            [bar](int least, int most) { bar->setEnabled(least < most); });
    }
    [[nodiscard]] QSize minimumSizeHint() const override
    {
        const int bar = verticalScrollBar()->sizeHint().width();
        return { widget() ? widget()->minimumSizeHint().width() + bar : 0,
            QScrollArea::minimumSizeHint().height() };
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::LayoutRequest)
            updateGeometry();
        return QScrollArea::eventFilter(watched, event);
    }
};

/// Texts above pictures: as high as the highest of them so far, or as it is told, so that pictures stay where
/// they are while texts change.
class KeptHeightLayout : public QVBoxLayout {
public:
    void setLeast(int height)
    {
        m_least = height;
        invalidate();
    }
    void forget()
    {
        m_highest = 0;
        invalidate();
    }
    [[nodiscard]] int heightForWidth(int width) const override
    {
        return std::max({ QVBoxLayout::heightForWidth(width), m_least, width == m_width ? m_highest : 0 });
    }
    [[nodiscard]] int minimumHeightForWidth(int width) const override { return heightForWidth(width); }
    void setGeometry(const QRect& place) override
    {
        if (std::exchange(m_width, place.width()) != place.width())
            m_highest = 0;
        m_highest = std::max(m_highest, QVBoxLayout::heightForWidth(m_width));
        QVBoxLayout::setGeometry(place);
    }

private:
    int m_least = 0, m_highest = 0, m_width = 0;
};

} // namespace strata::views
