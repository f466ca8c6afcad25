// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/filter_note.h"

#include "views/style/icons.h"
#include "views/style/labels.h"
#include "views/style/type.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace strata::views {

FilterNote::FilterNote(Document& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_icon(new QLabel)
    , m_text(textLabel({}))
    , m_remove(linkButton({}))
{
    setObjectName(QStringLiteral("banner")); // as the style sheet knows it
    setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(kMargin, kGrid / 2, kMargin, kGrid / 2);
    row->setSpacing(kGrid);
    row->addWidget(m_icon);
    row->addWidget(m_text, 1);
    row->addWidget(m_remove);
    connect(m_remove, &QPushButton::clicked, this, [this] { m_document.viewState().setFilter({}); });
    connect(&document.viewState(), &ViewState::filterChanged, this, &FilterNote::refresh);
    hide();
}

void FilterNote::setPage(const Page* page)
{
    m_page = page;
    refresh();
}

void FilterNote::setPalette(const Palette& palette)
{
    const int size = scaled(16, font());
    m_icon->setPixmap(
        iconPixmap(QStringLiteral("info"), palette[Palette::Role::TextMuted], size, devicePixelRatioF()));
}

void FilterNote::refresh()
{
    const Page::FilterReach reach = m_page ? m_page->filterReach() : Page::FilterReach::All;
    const bool said = reach != Page::FilterReach::All && !m_document.viewState().filter().empty();
    if (said) {
        m_text->setText(reach == Page::FilterReach::Nothing
                ? tr("The filter does not apply here: figures are of everything.")
                : tr("The filter applies to groups, blocks and the table; the verdict and the curves are of "
                     "everything."));
        m_remove->setText(tr("Remove the filter"));
        setAccessibleName(m_text->text());
    }
    setVisible(said);
}

} // namespace strata::views
