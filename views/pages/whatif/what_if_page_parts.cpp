// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the page What-if, and what its lower part shows.
#include "views/pages/whatif/what_if_areas.h"
#include "views/pages/whatif/what_if_confirm_panel.h"
#include "views/pages/whatif/what_if_page.h"
#include "views/pages/whatif/what_if_plan_panel.h"
#include "views/style/type.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/table_footer.h"
#include "views/widgets/whatif/run_chart.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace strata::views {

QStringList WhatIfPage::belowWords()
{
    return { QStringLiteral("alternatives"), QStringLiteral("peaks"), QStringLiteral("cards"),
        QStringLiteral("blocks"), QStringLiteral("plan"), QStringLiteral("confirm") };
}

QList<Segmented::Choice> WhatIfPage::belowChoices()
{
    return { { tr("Alternatives"), tr("One more change each, and what it saves (B: the next)") },
        { tr("Peaks"), tr("The figures of the picture (B: the next)") },
        { tr("Cards"), tr("Cards of the catalogue, and what would be left over on each (B: the next)") },
        { tr("Blocks"), tr("What became of which blocks (B: the next)") },
        { tr("Plan"), tr("What makes it fit, with the code to paste (B: the next)") },
        { tr("Confirm"), tr("Runs it, to know to the byte (B: the next)") } };
}

QWidget* WhatIfPage::makeChanges()
{
    auto* side = new QWidget(m_splitter);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, kGrid, 0);
    column->setSpacing(kGrid);
    auto* area = new CardArea;
    column->addWidget(area, 1);
    auto* inside = new QWidget;
    area->setWidget(inside);
    inside->setObjectName(QStringLiteral("page"));
    auto* list = new QVBoxLayout(inside);
    list->setContentsMargins(0, 0, kGrid / 2, 0);
    list->setSpacing(kGrid);
    m_cards = makeWhatIfCards(m_whatIf, m_document);
    for (WhatIfCard* card : m_cards) {
        list->addWidget(card);
        connect(card, &WhatIfCard::edited, this, &WhatIfPage::collect);
    }
    list->addStretch();
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus);
    m_area = area;
    return side;
}

/// What is done with all of it, in a line with what goes on.
QWidget* WhatIfPage::makeFoot()
{
    auto* foot = new QWidget;
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(kGrid);
    m_reset->setProperty("atEdge", true);
    m_reset->setToolTip(tr("Switches every change off (D)"));
    m_copySetting->setToolTip(tr("Copies PYTORCH_CUDA_ALLOC_CONF=… of the changed settings (C)"));
    m_copyCommand->setToolTip(tr("Copies the command that prints this answer"));
    connect(m_reset, &QPushButton::clicked, this, [this] { setScenario({}); });
    connect(m_copySetting, &QPushButton::clicked, this, &WhatIfPage::copySetting);
    connect(m_copyCommand, &QPushButton::clicked, this, &WhatIfPage::copyCommand);
    row->addWidget(m_reset);
    row->addWidget(m_copySetting);
    row->addWidget(m_copyCommand);
    row->addWidget(m_footer, 1);
    return foot;
}

QWidget* WhatIfPage::makeAnswer()
{
    auto* side = new QSplitter(Qt::Vertical, m_splitter); // whoever plans or confirms may want the room
    auto* lower = new QWidget(side);
    auto* column = new QVBoxLayout(lower);
    column->setContentsMargins(kMargin, kGrid / 2, 0, 0);
    column->setSpacing(kGrid);
    auto* pictures = new QVBoxLayout(m_pictures);
    pictures->setContentsMargins(kMargin, 0, 0, 0);
    pictures->setSpacing(kGrid / 2);
    pictures->addWidget(m_chart, 2);
    pictures->addWidget(m_run, 3);
    pictures->addWidget(m_legend);
    side->addWidget(m_pictures);
    side->addWidget(lower);
    side->setStretchFactor(0, 4);
    side->setStretchFactor(1, 3);
    side->setChildrenCollapsible(false);
    m_choice->setProperty("many", true); // as narrow as what is beside it
    for (const Segmented::Choice& below : belowChoices())
        m_list->addItem(below.text);
    m_list->setAccessibleName(tr("Shown below"));
    connect(m_list, &QComboBox::activated, this, [this](int below) { setBelow(static_cast<Below>(below)); });
    column->addWidget(new ChoiceRow(*m_choice, *m_list));
    const QString names[] = { tr("One more change each, and what it comes to"), tr("Peaks"),
        tr("Cards of the catalogue"), tr("What became of blocks") };
    for (const QString& name : names) {
        auto* table = new AnswerTable;
        table->setAccessibleName(name);
        m_tables->addWidget(table);
    }
    for (QWidget* panel : { static_cast<QWidget*>(m_plan), static_cast<QWidget*>(m_confirm) }) {
        auto* scrolls = new QScrollArea;
        scrolls->setWidgetResizable(true);
        scrolls->setFrameShape(QFrame::NoFrame);
        scrolls->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        scrolls->setFocusPolicy(Qt::NoFocus);
        panel->setObjectName(QStringLiteral("page"));
        scrolls->setWidget(panel);
        m_tables->addWidget(scrolls);
    }
    column->addWidget(m_about);
    column->addWidget(m_tables, 1);
    connect(m_chart, &PeakChart::hovered, this, &Page::hoverText);
    connect(m_run, &RunChart::hovered, this, &Page::hoverText);
    connect(m_choice, &Segmented::changed, this, [this](int below) { setBelow(static_cast<Below>(below)); });
    connect(&table(Alternatives), &PlainTableView::sourceRowOpened, this, &WhatIfPage::takeAlternative);
    return side;
}

} // namespace strata::views
