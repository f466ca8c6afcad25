// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/dryrun/dry_run_result_view.h"

#include "model/cards/catalogue.h"
#include "model/cards/fits.h"
#include "model/trace/frames.h"
#include "views/pages/dryrun/dry_run_texts.h"
#include "views/pages/dryrun/dry_run_time_view.h"
#include "views/pages/parts/bar_list.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include <algorithm>
#include <map>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr std::size_t kMostGroups = 10;
constexpr int kMostDeviceRows = 64; // rows of the table of devices
constexpr int kTwoColumns = 720; // from this width on, before scaling
constexpr int kSideWidth = 344;
constexpr int kFactHeight = 20;
constexpr int kResultLabelWidth = 80;
constexpr int kColumnGap = 4 * kGrid;

QVBoxLayout* section(QVBoxLayout& column, const QString& title)
{
    auto* part = new QVBoxLayout;
    part->setSpacing(kGrid);
    part->addWidget(headingLabel(title));
    column.addLayout(part);
    return part;
}

/// A table of labels: the first column is words, the rest figures.
class FigureGrid {
public:
    explicit FigureGrid(const QFont& font)
        : m_font(font)
        , m_grid(new QGridLayout)
    {
        m_grid->setContentsMargins(0, 0, 0, 0);
        m_grid->setHorizontalSpacing(kMargin);
        m_grid->setVerticalSpacing(0);
    }

    [[nodiscard]] QGridLayout* layout() const { return m_grid; }

    void addHeader(const QStringList& titles)
    {
        for (int c = 0; c < titles.size(); ++c) {
            QLabel* label = place(titles[c], c, true);
            label->setFont(sized(m_font, kAxisPx));
        }
        ++m_row;
    }

    struct Cell {
        QString text;
        QString toolTip = {};
        QColor ink = {};
        bool muted = false;
        bool words = false; ///< at the end of a row: takes what room is left, in several lines if it must
    };

    void addRow(const std::vector<Cell>& cells)
    {
        m_grid->setRowMinimumHeight(m_row, scaled(kFactHeight, m_font));
        for (int c = 0; c < static_cast<int>(cells.size()); ++c) {
            const Cell& cell = cells[static_cast<std::size_t>(c)];
            QLabel* label = place(cell.text, c, cell.muted);
            label->setToolTip(cell.toolTip);
            if (cell.words) {
                label->setWordWrap(true);
                m_grid->setAlignment(label, Qt::AlignVCenter); // across the column
                m_grid->setColumnStretch(c, 1);
            } else if (c > 0)
                label->setFont(numberFont(m_font));
            if (cell.ink.isValid())
                label->setStyleSheet(QStringLiteral("color: %1").arg(cell.ink.name()));
        }
        ++m_row;
        if (!cells.back().words)
            m_grid->setColumnStretch(static_cast<int>(cells.size()), 1);
    }

private:
    QLabel* place(const QString& text, int column, bool muted)
    {
        QLabel* label = textLabel(text, muted);
        label->setWordWrap(false);
        m_grid->addWidget(
            label, m_row, column, (column > 0 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        return label;
    }

    QFont m_font;
    QGridLayout* m_grid;
    int m_row = 0;
};

/// "/home/user/train.py:57" as the lists of other pages have it: "train.py:57".
QString shortKey(const QString& key)
{
    static const QRegularExpression place(QStringLiteral("^.*/([^/]+:\\d+)$"));
    const QRegularExpressionMatch match = place.match(key);
    return match.hasMatch() ? match.captured(1) : key;
}

/// What a word of model::fitWord() says of a run; empty: the program failed.
FigureGrid::Cell fitCell(std::string_view word, const Palette& palette)
{
    using View = DryRunResultView;
    if (word.empty())
        return { View::tr("failed"), {}, palette[Role::Bad] };
    if (word == model::fitWord(model::Fit::No))
        return { View::tr("does not fit"), {}, palette[Role::Bad] };
    return word == model::fitWord(model::Fit::Tight)
        ? FigureGrid::Cell{ View::tr("tight"), {}, palette[Role::Warning] }
        : FigureGrid::Cell{ View::tr("fits"), {}, palette[Role::Good] };
}

QString difference(qint64 before, qint64 after)
{
    return (after > before ? QStringLiteral("+") : QString()) + text::bytes(after - before);
}

} // namespace

DryRunResultView::DryRunResultView(const DryRunOutcome& outcome, const Palette& palette, QWidget* parent)
    : QWidget(parent)
    , m_outcome(outcome)
    , m_result(*m_outcome.result)
    , m_palette(palette)
    , m_columns(new QBoxLayout(QBoxLayout::LeftToRight, this))
    , m_side(new QWidget)
{
    m_columns->setContentsMargins(0, 0, 0, 0);
    m_columns->setSpacing(kColumnGap);
    m_story = new QWidget;
    auto* story = new QVBoxLayout(m_story);
    story->setContentsMargins(0, 0, 0, 0);
    auto* side = new QVBoxLayout(m_side);
    side->setContentsMargins(0, 0, 0, 0);
    for (QVBoxLayout* column : { story, side })
        column->setSpacing(3 * kGrid);
    if (m_result.isFit()) {
        if (m_result.variables.size() > 1)
            addTrials(*story, tr("The largest that fits"), m_result.best);
        addTrials(*story, tr("What was tried"), m_result.tried);
    } else {
        addChanged(*story);
        addPeaks(*story);
        if (m_result.time)
            story->addWidget(new DryRunTimeView(*m_result.time, m_palette));
        addGroups(*story);
        addCards(*side);
        addEachCard(*side);
        addOutside(*side);
    }
    story->addStretch();
    side->addStretch();
    m_columns->addWidget(m_story, 1);
    m_columns->addWidget(m_side);
    m_side->setVisible(!m_result.isFit());
    resizeEvent(nullptr);
}

void DryRunResultView::resizeEvent(QResizeEvent*)
{
    const double scale = scaleOf(font());
    const int side = qRound(kSideWidth * scale);
    // Tables do not shrink: what has no room beside them stands below.
    const bool two = width()
        >= std::max(qRound(kTwoColumns * scale), m_story->minimumSizeHint().width() + kColumnGap + side);
    m_columns->setDirection(two ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    m_side->setMinimumWidth(two ? side : 0);
    m_side->setMaximumWidth(two ? side : QWIDGETSIZE_MAX);
}

void DryRunResultView::addPeaks(QVBoxLayout& column)
{
    const auto used = std::count_if(m_result.run.devices.begin(), m_result.run.devices.end(),
        [](const DryRunDevice& each) { return each.used(); });
    if (used == 1)
        addDeviceFacts(column,
            *std::find_if(m_result.run.devices.begin(), m_result.run.devices.end(),
                [](const DryRunDevice& each) { return each.used(); }));
    else if (used > 1)
        addDeviceTable(column);
}

void DryRunResultView::addDeviceFacts(QVBoxLayout& column, const DryRunDevice& device)
{
    const QString peaks = m_result.changed ? tr("Peaks as it is") : tr("Peaks");
    const QString where = device.worldSize > 1 || m_result.run.devices.size() > 1
        ? tr("Peaks, %1").arg(deviceText(device))
        : peaks;
    QVBoxLayout* part = section(column, where);
    FigureGrid grid(font());
    grid.layout()->setColumnMinimumWidth(0, scaled(kResultLabelWidth, font()));
    const auto row = [&](const QString& label, qint64 bytes, const QString& when) {
        grid.addRow({ { label, {}, {}, true }, { text::bytes(bytes) },
            { text::exactBytes(bytes), {}, {}, true }, { when, {}, {}, true, true } });
    };
    row(tr("reserved"), device.reservedPeak, momentText(device.reservedPeakEvent, device.reservedPeakSteps));
    row(tr("allocated"), device.allocatedPeak,
        device.allocatedIsLeast ? tr("at least: the program ended with its last allocation") : QString());
    row(tr("requested"), device.requestedPeak,
        momentText(device.requestedPeakEvent, device.requestedPeakSteps));
    row(tr("capacity"), m_result.capacityBytes, {});
    if (device.fits)
        row(tr("left"), m_result.capacityBytes - device.reservedPeak, {});
    part->addLayout(grid.layout());
    if (device.outOfMemories > 0)
        part->addWidget(textLabel(tr(
            "%n request(s) refused, the first of %1 (%2).", nullptr, static_cast<int>(device.outOfMemories))
                                      .arg(text::bytes(device.firstRefused.value_or(0)),
                                          text::exactBytes(device.firstRefused.value_or(0)))));
}

void DryRunResultView::addDeviceTable(QVBoxLayout& column)
{
    QVBoxLayout* part = section(column, tr("Peaks"));
    FigureGrid grid(font());
    grid.addHeader({ QString(), tr("reserved"), tr("allocated"), tr("requested"), tr("left") });
    int shown = 0, more = 0;
    for (const DryRunDevice& device : m_result.run.devices) {
        if (!device.used())
            continue;
        if (shown == kMostDeviceRows) {
            ++more;
            continue;
        }
        ++shown;
        const auto bytes = [](qint64 figure) {
            return FigureGrid::Cell{ text::bytes(figure), text::exactBytes(figure) };
        };
        FigureGrid::Cell left = bytes(m_result.capacityBytes - device.reservedPeak);
        if (!device.fits)
            left = { tr("does not fit"),
                tr("%1 refused").arg(text::exactBytes(device.firstRefused.value_or(0))),
                m_palette[Role::Bad] };
        grid.addRow({ { deviceText(device) }, bytes(device.reservedPeak), bytes(device.allocatedPeak),
            bytes(device.requestedPeak), left });
    }
    part->addLayout(grid.layout());
    if (more > 0)
        part->addWidget(textLabel(tr("and %n more device(s)", nullptr, more), true));
}

void DryRunResultView::addGroups(QVBoxLayout& column)
{
    if (m_result.groups.empty())
        return;
    qint64 whole = 0;
    for (const model::PeakGroup& group : m_result.groups)
        whole += group.bytes;
    QVBoxLayout* part = section(column,
        m_result.changed ? tr("What fills the peak as it is, by line") : tr("What fills the peak, by line"));
    const qint64 longest = std::max<qint64>(m_result.groups.front().bytes, 1);
    const bool fold = m_result.groups.size() > kMostGroups + 1;
    std::vector<BarList::Row> rows;
    qint64 others = 0;
    for (std::size_t i = 0; i < m_result.groups.size(); ++i) {
        const model::PeakGroup& group = m_result.groups[i];
        if (fold && i >= kMostGroups) {
            others += group.bytes;
            continue;
        }
        const QString key = text::utf8(group.key);
        rows.push_back({ shortKey(key), QStringLiteral("%1\n%2").arg(key, text::exactBytes(group.bytes)),
            static_cast<double>(group.bytes) / static_cast<double>(longest),
            group.key == model::kNoStackLabel ? m_palette.groupFill(Palette::kHatched)
                                              : m_palette.groupFill(static_cast<int>(i)),
            { text::share(group.bytes, whole), text::bytes(group.bytes) }, {} });
    }
    if (fold)
        rows.push_back(
            { tr("%n other line(s)", nullptr, static_cast<int>(m_result.groups.size() - kMostGroups)),
                text::exactBytes(others), static_cast<double>(others) / static_cast<double>(longest),
                m_palette[Role::Other], { text::share(others, whole), text::bytes(others) },
                m_palette[Role::TextMuted] });
    auto* list = new BarList;
    list->setAccessibleName(tr("Lines of code by requested bytes"));
    list->setRows(rows);
    part->addWidget(list);
}

void DryRunResultView::addChanged(QVBoxLayout& column)
{
    if (!m_result.changed)
        return;
    const DryRunFigures& base = m_result.run;
    const DryRunFigures& changed = *m_result.changed;
    QVBoxLayout* part = section(column, tr("With %1").arg(m_result.changes.join(QLatin1Char(' '))));
    FigureGrid grid(font());
    grid.addHeader({ QString(), tr("as it is"), tr("changed"), tr("difference") });
    const auto row = [&](const QString& label, qint64 before, qint64 after) {
        const QColor ink = after < before ? m_palette[Role::Good]
            : after > before              ? m_palette[Role::Bad]
                                          : QColor();
        grid.addRow({ { label, {}, {}, true }, { text::bytes(before), text::exactBytes(before) },
            { text::bytes(after), text::exactBytes(after) },
            { difference(before, after), text::exactBytes(after - before), ink } });
    };
    row(tr("reserved peak"), base.reservedPeak(), changed.reservedPeak());
    row(tr("requested peak"), base.requestedPeak(), changed.requestedPeak());
    const qint64 more = changed.allocations() - base.allocations();
    grid.addRow({ { tr("allocations"), {}, {}, true }, { text::count(base.allocations()) },
        { text::count(changed.allocations()) },
        { (more > 0 ? QStringLiteral("+") : QString()) + text::count(more) } });
    const auto fits = [&](const DryRunFigures& run) {
        const model::Fit fit = !run.fits() ? model::Fit::No
            : run.isTight()                ? model::Fit::Tight
                                           : model::Fit::Yes;
        return fitCell(
            run.fits() && run.exitStatus != 0 ? std::string_view() : model::fitWord(fit), m_palette);
    };
    grid.addRow({ { tr("on %1").arg(m_result.device), {}, {}, true }, fits(base), fits(changed), {} });
    part->addLayout(grid.layout());
    if (changed.exitStatus != 0)
        part->addWidget(textLabel(tr("The changed program %1: its figures are of what it did until then.")
                                      .arg(endText(changed.exitStatus))));
}

void DryRunResultView::addCards(QVBoxLayout& column)
{
    const DryRunFigures& run = m_result.judged();
    if (!run.fits() && run.neededAtLeast > 0)
        addCardsToTry(column, run);
    if (run.fitsOn.empty())
        return;
    std::vector<model::CardMargin> cards = run.fitsOn;
    QStringList others;
    std::erase_if(cards, [&](const model::CardMargin& card) {
        const bool isOther = card.fits == model::fitWord(model::Fit::NotComparable);
        if (isOther)
            others << text::utf8(card.name);
        return isOther;
    });
    std::stable_sort(cards.begin(), cards.end(),
        [](const auto& a, const auto& b) { return a.marginBytes < b.marginBytes; });
    QVBoxLayout* part = section(column,
        cards.empty()          ? tr("Other cards")
            : m_result.changed ? tr("Fits on when changed, with room left")
                               : tr("Fits on, with room left"));
    std::vector<BarList::Row> rows;
    bool anyTight = false;
    for (const model::CardMargin& card : cards) {
        const model::Card* known = model::findCard(card.name);
        const qint64 capacity = known ? known->capacityBytes : card.marginBytes + run.reservedPeak();
        const qint64 needed = capacity - card.marginBytes;
        const bool tight = card.fits == model::fitWord(model::Fit::Tight);
        anyTight = anyTight || tight;
        const QString name = text::utf8(card.name);
        rows.push_back({ name,
            tr("%1 left of %2").arg(text::exactBytes(card.marginBytes), text::exactBytes(capacity)),
            static_cast<double>(needed) / static_cast<double>(capacity),
            m_palette[tight ? Role::Warning : Role::Requested],
            { text::share(needed, capacity), text::bytes(card.marginBytes) }, {}, name == m_result.device });
    }
    if (!rows.empty()) {
        auto* list = new BarList;
        list->setAccessibleName(tr("Cards that it fits on: share that it fills, memory left"));
        list->setRows(rows);
        part->addWidget(list);
    }
    if (anyTight)
        part->addWidget(textLabel(
            tr("Tight where the bar is amber: the CUDA context may need what is left, up to %1 a process.")
                .arg(text::bytes(model::outsideBytesOfProcess())),
            true));
    if (!others.empty())
        addOtherCards(*part, others);
}

/// Those of other GPU generations that no run speaks for, and how to get one.
void DryRunResultView::addOtherCards(QVBoxLayout& part, const QStringList& names)
{
    const bool ran = m_result.judged().eachCard.has_value();
    const QString listed = names.join(QStringLiteral(", "));
    part.addWidget(
        textLabel(ran ? tr("Not comparable, since no run on their GPU generation succeeded: %1.").arg(listed)
                      : tr("Not comparable, since other GPU generations run other kernels: %1.").arg(listed),
            true));
    if (ran)
        return;
    QPushButton* run = linkButton(tr("Run on Each of Them"));
    run->setProperty("atEdge", true);
    run->setToolTip(eachCardCost(m_outcome.request));
    connect(run, &QPushButton::clicked, this, &DryRunResultView::eachCardRequested);
    part.addWidget(run);
}

/// What the runs of --on-each-card came to.
void DryRunResultView::addEachCard(QVBoxLayout& column)
{
    const auto& runs = m_result.judged().eachCard;
    if (!runs || runs->empty())
        return;
    QVBoxLayout* part = section(
        column, m_result.changed ? tr("Runs on other cards when changed") : tr("Runs on other cards"));
    FigureGrid grid(font());
    grid.addHeader({ QString(), tr("needs"), QString() });
    for (const model::OtherCardRun& run : *runs) {
        const bool atLeast = run.fits.empty() || run.fits == model::fitWord(model::Fit::No);
        const QString needed = text::bytes(run.reservedPeak);
        FigureGrid::Cell answer = fitCell(run.fits, m_palette);
        answer.words = true;
        if (run.fits.empty())
            answer.text = tr("%1, status %2").arg(answer.text).arg(run.exitStatus);
        grid.addRow({ { text::utf8(run.device) },
            { atLeast ? QStringLiteral("≥ %1").arg(needed) : needed, text::exactBytes(run.reservedPeak) },
            answer });
    }
    part->addLayout(grid.layout());
}

/// Nobody knows what else the program would have come to ask for.
void DryRunResultView::addCardsToTry(QVBoxLayout& column, const DryRunFigures& run)
{
    QVBoxLayout* part = section(column, tr("May fit on"));
    QStringList names;
    for (const model::CardMargin& card : run.tryOn)
        names << text::utf8(card.name);
    const QString needed
        = tr("With what was refused it needs at least %1.").arg(text::bytes(run.neededAtLeast));
    part->addWidget(textLabel(names.empty()
            ? tr("%1 No card of the catalogue has that much.").arg(needed)
            : tr("%1 Cards that have more than that: %2.").arg(needed, names.join(QStringLiteral(", ")))));
}

void DryRunResultView::addOutside(QVBoxLayout& column)
{
    const bool manyRanks = std::any_of(m_result.run.devices.begin(), m_result.run.devices.end(),
        [](const DryRunDevice& each) { return each.worldSize > 1; });
    QVBoxLayout* part = section(column, tr("Not in these figures, or assumed"));
    for (const model::Assumption& one : m_result.outside) {
        if (one.each == "communicator" && !manyRanks)
            continue;
        QLabel* label = textLabel(QStringLiteral("%1: %2").arg(text::utf8(one.name), outsideText(one)), true);
        label->setToolTip(QStringLiteral("<p>%1</p>").arg(text::utf8(one.source).toHtmlEscaped()));
        part->addWidget(label);
    }
    if (m_result.time) // which says itself what it is
        return;
    part->addWidget(textLabel(
        m_result.weightsSkipped ? tr(
            "Simulated: values are zeros and there are no times. Weights on the CPU were not initialised.")
                                : tr("Simulated: values are zeros and there are no times."),
        true));
}

void DryRunResultView::addTrials(
    QVBoxLayout& column, const QString& title, const std::vector<DryRunTrial>& trials)
{
    if (trials.empty())
        return;
    QVBoxLayout* part = section(column, title);
    FigureGrid grid(font());
    QStringList header;
    for (const model::FitVariable& variable : m_result.variables)
        header << text::utf8(variable.name);
    grid.addHeader(header + QStringList{ tr("reserved"), tr("requested"), QString() });
    for (const DryRunTrial& trial : trials) {
        std::vector<FigureGrid::Cell> cells;
        for (const qint64 value : trial.values)
            cells.push_back({ QString::number(value) });
        for (const qint64 bytes : { trial.reservedPeak, trial.requestedPeak })
            cells.push_back({ text::bytes(bytes), text::exactBytes(bytes) });
        if (trial.fits)
            cells.push_back({ tr("fits"), {}, m_palette[Role::Good] });
        else
            cells.push_back(
                { trial.firstRefused ? tr("does not fit: %1 refused").arg(text::bytes(*trial.firstRefused))
                                     : tr("does not fit"),
                    trial.firstRefused ? text::exactBytes(*trial.firstRefused) : QString(),
                    m_palette[Role::Bad] });
        grid.addRow(cells);
    }
    part->addLayout(grid.layout());
}

QString DryRunResultView::asText() const
{
    QStringList lines{ wordsOf(m_outcome).plainVerdict() };
    for (const DryRunDevice& device : m_result.run.devices)
        if (device.used())
            lines << QStringLiteral("%1\treserved %2\tallocated %3\trequested %4")
                         .arg(deviceText(device))
                         .arg(device.reservedPeak)
                         .arg(device.allocatedPeak)
                         .arg(device.requestedPeak);
    for (const model::PeakGroup& group : m_result.groups)
        lines << QStringLiteral("%1\t%2").arg(text::utf8(group.key)).arg(group.bytes);
    for (const model::CardMargin& card : m_result.judged().fitsOn)
        lines << QStringLiteral("%1\t%2\t%3")
                     .arg(text::utf8(card.name))
                     .arg(card.marginBytes)
                     .arg(text::utf8(card.fits));
    if (const auto& runs = m_result.judged().eachCard)
        for (const model::OtherCardRun& run : *runs)
            lines << tr("run on %1").arg(text::utf8(run.device))
                    + QStringLiteral("\t%1\t%2").arg(run.reservedPeak).arg(fitCell(run.fits, m_palette).text);
    if (m_result.time)
        lines << DryRunTimeView::asLines(*m_result.time);
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

} // namespace strata::views
