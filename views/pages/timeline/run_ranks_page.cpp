// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/run_ranks_page.h"

#include "views/models/tables/plain_table.h"
#include "views/pages/timeline/timeline_texts.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/timeline/rank_grid.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace strata::views {

namespace {

/// A row is a rank: medians over its steps.
class RunRanksTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(RunRanksTable)
public:
    explicit RunRanksTable(std::shared_ptr<const RunRanks> ranks)
        : PlainTable({
            { { tr("Rank"), {}, QStringLiteral("8,888"), true }, "rank" },
            { { tr("Slowest"), tr("In how many steps all others wait for it"), QStringLiteral("888 of 888"),
                  true },
                "slowest_steps" },
            { { tr("Own"), tr("Median of a step, without waiting for other ranks"), kTime(), true },
                "own_ns" },
            { { tr("Waiting"), tr("Median of a step: in collectives, longer than any rank must"), kTime(),
                  true },
                "waited_ns" },
            { { tr("Computing"), tr("Median of a step, on its GPU"), kTime(), true }, "computation_ns" },
            { { tr("Copies"), tr("Median of a step, on its GPU"), kTime(), true }, "copies_ns" },
            { { tr("Clock"), tr("Ahead of the first rank's, by the ends of collectives"),
                  QStringLiteral("-888.8 ms"), true },
                "offset_ns" },
            { { tr("Trace"), {}, QStringLiteral("rank88.pt.trace.json.gz"), false, {}, true }, "file" },
        })
        , m_ranks(std::move(ranks))
    {
        for (std::size_t rank = 0; rank < m_ranks->ranks().ranks.size(); ++rank)
            m_sums.push_back(model::rankSumsOf(m_ranks->ranks(), rank));
    }
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_sums.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override
    {
        const model::RankSums& sums = m_sums[row];
        const auto value = figure(row, column);
        switch (column) {
        case Number:
            return { text::count(*value), {} };
        case Slowest:
            return { tr("%1 of %2").arg(text::count(sums.slowestSteps), text::count(sums.steps)), {} };
        case Trace:
            return { QFileInfo(m_ranks->file(row)).fileName(), {} };
        default:
            return { value ? text::duration(*value) : QStringLiteral("–"), {} };
        }
    }
    [[nodiscard]] QString tooltip(std::uint32_t row, int column) const override
    {
        return column == Trace ? m_ranks->file(row) : PlainTable::tooltip(row, column);
    }

private:
    enum Place { Number, Slowest, Own, Waiting, Computing, Copies, Clock, Trace };
    static QString kTime() { return QStringLiteral("888.8 ms"); }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override
    {
        const model::RankSums& sums = m_sums[row];
        switch (column) {
        case Number:
            return m_ranks->ranks().ranks[row];
        case Slowest:
            return sums.slowestSteps;
        case Own:
            return sums.ownNs;
        case Waiting:
            return sums.waitedNs;
        case Computing:
            return sums.computationNs;
        case Copies:
            return sums.copiesNs;
        case Clock: {
            const auto& clock = m_ranks->ranks().clocks[row];
            return clock ? std::optional(clock->offsetNs) : std::nullopt;
        }
        default:
            return std::nullopt;
        }
    }
    [[nodiscard]] std::string text(std::uint32_t row, int) const override
    {
        return m_ranks->file(row).toStdString();
    }

    std::shared_ptr<const RunRanks> m_ranks;
    std::vector<model::RankSums> m_sums;
};

} // namespace

RunRanksPage::RunRanksPage(QWidget* parent)
    : QWidget(parent)
    , m_back(linkButton({}))
    , m_choose(new QPushButton(tr("Choose Traces…")))
    , m_merge(new QPushButton(tr("Lanes Side by Side…")))
    , m_verdict(textLabel({}))
    , m_legend(textLabel(tr("A column is a step, without those that warm up. The redder a rank, the longer "
                            "it takes beside the "
                            "others, its waiting left out; framed: the others wait for it."),
          true))
    , m_body(new QStackedWidget)
    , m_grid(new RankGrid)
    , m_table(new PlainTableView)
    , m_notice(new EmptyNotice)
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Ranks"));
    m_verdict->setTextFormat(Qt::RichText);
    m_verdict->setFont(sized(font(), kVerdictPx));
    m_verdict->setAccessibleName(tr("Verdict"));
    m_table->setAccessibleName(tr("Ranks in numbers"));
    auto* ranks = new QWidget;
    auto* column = new QVBoxLayout(ranks);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(kGrid);
    column->addWidget(m_legend);
    column->addWidget(m_grid);
    column->addWidget(m_table, 1);
    m_body->addWidget(ranks);
    m_body->addWidget(m_notice);
    auto* head = new QHBoxLayout;
    head->setSpacing(kMargin);
    auto* buttons = new QHBoxLayout; // their texts on one line
    buttons->setSpacing(kMargin);
    buttons->addWidget(m_merge);
    buttons->addWidget(m_choose);
    buttons->addWidget(m_back);
    head->addWidget(m_verdict, 1);
    head->addLayout(buttons);
    head->setAlignment(buttons, Qt::AlignTop);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kGrid, kMargin, kMargin);
    layout->setSpacing(kGrid);
    layout->addLayout(head);
    layout->addWidget(m_body, 1);
    connect(m_choose, &QPushButton::clicked, this, &RunRanksPage::filesWanted);
    m_merge->setToolTip(
        tr("Writes all ranks as one trace, on the clock of the first, and opens its timeline"));
    connect(m_merge, &QPushButton::clicked, this, &RunRanksPage::mergeWanted);
    connect(m_notice, &EmptyNotice::buttonPressed, this, &RunRanksPage::filesWanted);
    connect(m_back, &QPushButton::clicked, this, &RunRanksPage::backRequested);
    connect(m_grid, &RankGrid::hovered, this, &RunRanksPage::hoverText);
    connect(m_grid, &RankGrid::rankOpened, this, &RunRanksPage::openRank);
    connect(
        m_grid, &RankGrid::rankChosen, this, [this](quint32 rank) { m_table->setCurrentSourceRow(rank); });
    connect(m_table, &PlainTableView::sourceRowOpened, this, &RunRanksPage::openRank);
    connect(&m_job, &BackgroundJob::failed, this,
        [this](const model::Error& error) { show(model::Failure(error)); });
    setBackTo({});
    showNothing(ask(tr("No traces yet"),
        tr("Choose the traces of the ranks of one run: which of them the others wait for, in which steps, "
           "and why.")));
}

void RunRanksPage::open(const QStringList& paths)
{
    showNothing({ .title = tr("Reading the traces…"), .reason = {}, .code = {}, .button = {} });
    m_job.start(
        [paths, this](const JobContext& context) {
            return RunRanks::open(paths, context.forModel(), [&](qsizetype file) {
                context.deliver([this, file, paths] {
                    m_verdict->setText(tr("Reading %1 (%2 of %3)")
                                           .arg(QFileInfo(paths[file]).fileName().toHtmlEscaped(),
                                               text::count(file + 1), text::count(paths.size())));
                });
            });
        },
        [this](model::Result<std::shared_ptr<const RunRanks>> opened) { show(std::move(opened)); });
}

void RunRanksPage::show(model::Result<std::shared_ptr<const RunRanks>> opened)
{
    if (!opened)
        return showNothing(ask(tr("These cannot be compared"), text::said(opened.error())));
    m_ranks = *std::move(opened);
    m_verdict->setText(ranksVerdict(*m_ranks));
    m_verdict->show();
    m_choose->show();
    m_merge->show();
    m_grid->setRanks(m_ranks);
    m_table->setSource(std::make_shared<const RunRanksTable>(m_ranks));
    m_body->setCurrentIndex(0);
    Q_EMIT changed();
}

EmptyNotice::Text RunRanksPage::ask(const QString& title, const QString& reason)
{
    return { .title = title,
        .reason = reason,
        .code
        = QStringLiteral("tensorboard_trace_handler(\"traces\", use_gzip=True)  # a file for each rank"),
        .button = tr("Choose Traces…") };
}

void RunRanksPage::showNothing(const EmptyNotice::Text& text)
{
    m_ranks = nullptr;
    m_grid->setRanks(nullptr);
    m_table->setSource(nullptr);
    m_verdict->setText({});
    m_choose->hide();
    m_merge->hide();
    m_notice->setText(text);
    m_body->setCurrentWidget(m_notice);
    Q_EMIT changed();
}

void RunRanksPage::saveMerged(const QString& path)
{
    if (!m_ranks || m_job.running())
        return;
    sayMerging(tr("Writing %1…").arg(QFileInfo(path).fileName()), false);
    m_job.start([ranks = m_ranks, path](const JobContext&) { return ranks->saveMerged(path); },
        [this, path](const model::Result<void>& saved) {
            sayMerging(saved ? QString() : text::said(saved.error()), true);
            if (saved)
                Q_EMIT fileWanted(path);
        });
}

void RunRanksPage::sayMerging(const QString& text, bool isOver)
{
    m_merge->setEnabled(isOver);
    m_choose->setEnabled(isOver);
    m_verdict->setText(text.isEmpty() ? ranksVerdict(*m_ranks) : text.toHtmlEscaped());
    Q_EMIT changed();
}

void RunRanksPage::openRank(quint32 rank)
{
    if (m_ranks && rank < m_ranks->ranks().ranks.size())
        Q_EMIT fileWanted(m_ranks->file(rank));
}

QString RunRanksPage::verdict() const
{
    return m_verdict->text();
}

void RunRanksPage::setPalette(const Palette& palette)
{
    m_grid->setColours(palette);
    m_table->setColours(palette);
}

void RunRanksPage::setBackTo(const QString& title)
{
    m_back->setText(title.isEmpty() ? tr("Back to the start") : tr("Back to %1").arg(title));
}

QString RunRanksPage::copyText() const
{
    return m_table->copyText();
}

QString RunRanksPage::commandLine() const
{
    if (!m_ranks)
        return {};
    QString line = QStringLiteral("strata timeline");
    for (const QString& file : m_ranks->files())
        line += QLatin1Char(' ') + text::shellQuoted(file);
    return line;
}

} // namespace strata::views
