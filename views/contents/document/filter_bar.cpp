// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/filter_bar.h"

#include "views/pages/parts/filter_text.h"
#include "views/style/icons.h"
#include "views/style/type.h"

#include <QHBoxLayout>
#include <QToolButton>

#include <utility>

namespace strata::views {

namespace {

/// A tool button that may get narrower than its text.
class ChipButton : public QToolButton {
public:
    ChipButton(const QString& text, const QIcon& cross, bool muted, QWidget* parent)
        : QToolButton(parent)
        , m_text(text)
    {
        setObjectName(QStringLiteral("chip"));
        setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        setLayoutDirection(Qt::RightToLeft); // the cross stands behind the text
        setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
        setFocusPolicy(Qt::TabFocus);
        setProperty("muted", muted);
        setIcon(cross);
        setIconSize(QSize(12, 12));
        setText(text);
        ensurePolished(); // the style sheet has its say
        m_full = QToolButton::sizeHint();
    }

    QSize sizeHint() const override { return m_full; }
    QSize minimumSizeHint() const override
    {
        return { std::min(m_full.width(), 6 * fontMetrics().height()), m_full.height() };
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        const int missing = m_full.width() - width();
        setText(missing <= 0 ? m_text
                             : fontMetrics().elidedText(
                                 m_text, Qt::ElideMiddle, fontMetrics().horizontalAdvance(m_text) - missing));
        QToolButton::resizeEvent(event);
    }

private:
    QString m_text;
    QSize m_full;
};

} // namespace

FilterBar::FilterBar(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QHBoxLayout(this))
{
    setAccessibleName(tr("Active filters"));
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(kGrid / 2);
}

void FilterBar::setDocument(Document* document)
{
    if (m_document)
        disconnect(&m_document->viewState(), nullptr, this, nullptr);
    m_document = document;
    if (m_document)
        connect(&m_document->viewState(), &ViewState::filterChanged, this, &FilterBar::rebuild);
    rebuild();
}

void FilterBar::setPalette(const Palette& palette)
{
    m_palette = palette;
    rebuild();
}

void FilterBar::setMuted(bool muted)
{
    if (std::exchange(m_muted, muted) != muted)
        rebuild();
}

void FilterBar::rebuild()
{
    while (QLayoutItem* item = m_layout->takeAt(0)) {
        if (QWidget* widget = item->widget()) {
            widget->hide();
            widget->deleteLater(); // it may be the one that was clicked
        }
        delete item;
    }
    if (!m_document || !m_document->recording())
        return;
    for (const FilterChip& chip : filterChips(m_document->viewState().filter(), *m_document->recording())) {
        auto* button = new ChipButton(chip.text, icon(QStringLiteral("close"), m_palette), m_muted, this);
        button->setToolTip(m_muted
                ? tr("%1\nThe page that is shown is not filtered.\nClick removes it.").arg(chip.toolTip)
                : tr("%1\nClick removes it.").arg(chip.toolTip));
        button->setAccessibleName(tr("Filter %1; remove").arg(chip.text));
        connect(button, &QToolButton::clicked, this,
            [this, without = chip.without] { m_document->viewState().setFilter(without); });
        m_layout->addWidget(button);
    }
    m_layout->addStretch();
}

} // namespace strata::views
