// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/status_bar.h"

#include "views/style/type.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QTimer>

namespace strata::views {

namespace {

constexpr int kFlashMs = 4000;

} // namespace

StatusBar::StatusBar(QWidget* parent)
    : QWidget(parent)
    , m_text(new QLabel)
    , m_row(new QHBoxLayout(this))
    , m_place(*m_row, 0)
{
    setObjectName(QStringLiteral("statusBar"));
    setAttribute(Qt::WA_StyledBackground);
    m_row->setContentsMargins(kMargin, 2, kMargin, 2);
    m_row->setSpacing(kMargin);
    m_text->setFont(numberFont(font()));
    m_text->setTextFormat(Qt::PlainText);
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_text->setMinimumHeight(kRowHeight);
    m_row->addWidget(m_text, 1);
}

void StatusBar::setPart(QWidget* part)
{
    if (!m_place.show(part))
        return;
    m_hover.clear();
    refresh();
}

void StatusBar::setText(const QString& text)
{
    m_content = text;
    refresh();
}

void StatusBar::setHover(const QString& text)
{
    m_hover = text;
    refresh();
}

void StatusBar::flash(const QString& text)
{
    m_flash = text;
    refresh();
    QTimer::singleShot(kFlashMs, this, [this, text] {
        if (m_flash == text) {
            m_flash.clear();
            refresh();
        }
    });
}

QString StatusBar::text() const
{
    return m_text->text();
}

void StatusBar::refresh()
{
    m_text->setText(!m_flash.isEmpty() ? m_flash : !m_hover.isEmpty() ? m_hover : m_content);
}

} // namespace strata::views
