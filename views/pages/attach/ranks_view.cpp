// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/attach/ranks_view.h"

#include "views/pages/attach/rank_curves.h"
#include "views/pages/attach/spread_table.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/plain_table_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTextDocumentFragment>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

RanksView::RanksView(QWidget* parent)
    : QWidget(parent)
    , m_back(linkButton(tr("Processes")))
    , m_verdict(textLabel({}))
    , m_curves(new RankCurves)
    , m_table(new PlainTableView)
    , m_open(new QPushButton(tr("Open This Rank")))
{
    setAccessibleName(tr("Ranks"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(kMargin, kGrid, kMargin, kGrid);
    top->setSpacing(kMargin);
    m_back->setProperty("atEdge", true);
    m_back->setToolTip(tr("Back to the list of processes (Esc); the ranks are not followed any more then"));
    m_verdict->setFont(sized(font(), kVerdictPx));
    m_verdict->setTextFormat(Qt::RichText);
    m_open->setToolTip(tr("Opens the rank that is marked in all views (Enter)"));
    top->addWidget(m_back, 0, Qt::AlignTop);
    top->addWidget(m_verdict, 1);
    top->addWidget(m_open, 0, Qt::AlignTop);
    layout->addLayout(top);
    auto* splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(1);
    splitter->addWidget(m_curves);
    splitter->addWidget(m_table);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({ 480, 200 });
    m_table->setAccessibleName(tr("What differs between the ranks, the widest spread first"));
    layout->addWidget(splitter, 1);
    connect(m_back, &QPushButton::clicked, this, &RanksView::backRequested);
    connect(m_open, &QPushButton::clicked, this, [this] { open(m_curves->current()); });
    connect(m_curves, &RankCurves::opened, this, &RanksView::open);
    connect(m_table, &PlainTableView::sourceRowChosen, this, [this](quint32 row) {
        if (const auto* const table = dynamic_cast<const SpreadTable*>(m_table->source().get()))
            m_curves->setCurrent(static_cast<int>(table->spread(row).highest));
    });
}

RanksView::~RanksView() = default;

void RanksView::watch(const std::vector<model::LiveProcess>& processes)
{
    m_curves->setRanks(nullptr);
    m_table->setSource(nullptr);
    m_ranks.reset();
    if (processes.empty())
        return;
    m_ranks = std::make_unique<LiveRanks>(processes);
    connect(m_ranks.get(), &LiveRanks::changed, this, &RanksView::refresh);
    m_curves->setRanks(m_ranks.get());
    refresh();
    m_curves->setFocus();
}

QString RanksView::verdict() const
{
    return QTextDocumentFragment::fromHtml(m_verdict->text()).toPlainText();
}

void RanksView::setPalette(const Palette& palette)
{
    m_curves->setColours(palette);
    m_table->setColours(palette);
}

void RanksView::refresh()
{
    m_curves->setRanks(m_ranks.get());
    const auto& ranks = m_ranks->ranks();
    const auto& spreads = m_ranks->spreads();
    QStringList names;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        names.append(m_ranks->rankName(i));
    auto table = std::make_shared<const SpreadTable>(spreads, names);
    if (m_table->source())
        m_table->goOn(std::move(table));
    else
        m_table->setSource(std::move(table));

    const auto known = static_cast<int>(
        std::ranges::count_if(ranks, [](const LiveRanks::Rank& rank) { return rank.data != nullptr; }));
    const int count = static_cast<int>(ranks.size());
    if (const std::vector<std::size_t> failed = m_ranks->outOfMemory(); !failed.empty()) {
        QStringList which;
        for (const std::size_t place : failed)
            which.append(m_ranks->rankName(place).toHtmlEscaped());
        m_verdict->setText(tr("Out of memory on %1.").arg(text::strong(which.join(QStringLiteral(", ")))));
        return;
    }
    const auto reserved = std::ranges::find(spreads, RankSpread::Of::ReservedPeak, &RankSpread::of);
    if (reserved == spreads.end()) {
        m_verdict->setText(tr("Following %1 of %2 ranks.").arg(text::count(known), text::count(count)));
        return;
    }
    if (reserved->bytes() == 0) {
        m_verdict->setText(tr("All %1 ranks need the same: %2.")
                               .arg(text::count(known), text::strong(text::bytes(reserved->highestBytes))));
        return;
    }
    QString verdict = tr("Ranks need %1 to %2: %3 the most, %4 the least.")
                          .arg(text::strong(text::bytes(reserved->lowestBytes)),
                              text::strong(text::bytes(reserved->highestBytes)),
                              names[static_cast<qsizetype>(reserved->highest)],
                              names[static_cast<qsizetype>(reserved->lowest)]);
    const auto line = std::ranges::find(spreads, RankSpread::Of::Line, &RankSpread::of);
    if (line != spreads.end() && line->bytes() > 0)
        verdict += QLatin1Char(' ')
            + tr("They differ most in %1, by %2.")
                  .arg(text::strong(line->name.toHtmlEscaped()), text::bytes(line->bytes()));
    m_verdict->setText(text::unbroken(verdict));
}

void RanksView::open(int row)
{
    if (m_ranks && row >= 0 && static_cast<std::size_t>(row) < m_ranks->ranks().size())
        Q_EMIT opened(m_ranks->ranks()[static_cast<std::size_t>(row)].process);
}

QString RanksView::copyText() const
{
    return m_table->copyText();
}

bool RanksView::event(QEvent* event)
{
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        Q_EMIT backRequested();
        return true;
    }
    return QWidget::event(event);
}

} // namespace strata::views
