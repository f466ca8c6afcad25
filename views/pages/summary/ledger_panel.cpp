// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/ledger_panel.h"

#include "model/analysis/training/steps/spikes.h"
#include "views/models/document/shown_instant.h"
#include "views/models/tables/csv.h"
#include "views/pages/parts/bar_list.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/kept_view.h"
#include "views/pages/summary/ledger_lines.h"
#include "views/style/icons.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/widgets/flow_layout.h"
#include "views/widgets/segmented.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <utility>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr std::size_t kMostSpikes = 5;
constexpr int kMark = 16;

/// A list whose rows say when they are chosen, by a click or by Enter. Each is known by a key.
class ChoiceList : public BarList {
public:
    ChoiceList(std::vector<std::string> keys, std::function<void(int row)> chosen)
        : m_keys(std::move(keys))
        , m_chosen(std::move(chosen))
    {
        connect(this, &QTableWidget::cellClicked, this, [this](int row) { m_chosen(row); });
    }
    [[nodiscard]] std::optional<std::string> current() const
    {
        return currentRow() >= 0 ? std::optional(m_keys[static_cast<std::size_t>(currentRow())])
                                 : std::nullopt;
    }
    void setCurrent(const std::string& key)
    {
        if (const auto found = std::ranges::find(m_keys, key); found != m_keys.end())
            setCurrentCell(static_cast<int>(found - m_keys.begin()), 0);
    }

protected:
    void keyPressEvent(QKeyEvent* event) override
    {
        if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentRow() >= 0)
            return m_chosen(currentRow());
        BarList::keyPressEvent(event);
    }

private:
    std::vector<std::string> m_keys;
    std::function<void(int)> m_chosen;
};

QBrush fillOf(const LedgerLine& line, const Palette& palette)
{
    if (line.kind == LedgerLine::Kind::Category)
        return palette.groupFill(Palette::ofCategory(static_cast<int>(line.category)));
    return palette[line.kind == LedgerLine::Kind::Part ? Role::FilteredOut : Role::Other];
}

double fractionOf(std::int64_t bytes, std::int64_t whole)
{
    return whole > 0 ? static_cast<double>(bytes) / static_cast<double>(whole) : 0;
}

} // namespace

LedgerPanel::LedgerPanel(Document& document, LedgerSource& source, const Palette& palette, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_source(source)
    , m_palette(palette)
{
    setAccessibleName(tr("What the memory is for"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    connect(&source, &LedgerSource::changed, this, &LedgerPanel::show);
    // What there is to wait for ends, too.
    connect(&document, &Document::progressChanged, this, [this] {
        if (m_waiting)
            showWaiting();
    });
    show();
}

LedgerPanel::Kept LedgerPanel::kept() const
{
    Kept all = m_kept;
    if (!m_inside)
        return all;
    for (const BarList* list : m_inside->findChildren<BarList*>())
        if (const auto current = static_cast<const ChoiceList*>(list)->current())
            all.current[list->objectName()] = *current;
    if (const auto* tree = m_inside->findChild<ModuleTree*>())
        all.modules = tree->kept();
    return all;
}

void LedgerPanel::restore(const Kept& kept)
{
    m_kept = kept;
    for (BarList* list : m_inside->findChildren<BarList*>())
        if (const auto current = kept.current.find(list->objectName()); current != kept.current.end())
            static_cast<ChoiceList*>(list)->setCurrent(current->second);
    if (auto* tree = m_inside->findChild<ModuleTree*>(); tree && kept.modules)
        tree->restore(*kept.modules);
}

void LedgerPanel::goOnFrom(const LedgerPanel& other)
{
    restore(other.kept());
}

void LedgerPanel::show()
{
    const KeptFocus focus(m_inside);
    const Kept before = kept();
    m_waiting = nullptr;
    auto* inside = new QWidget;
    auto* all = new QVBoxLayout(inside);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(kGrid);
    addHeading(*all);
    if (const std::shared_ptr<const LedgerData> shown = m_source.data()) {
        addAmount(*all, *shown);
        addSurprises(*all, *shown);
        if (m_source.byModule())
            addModules(*all, *shown);
        else
            addCategories(*all, *shown);
        addSources(*all, *shown);
        addSpikes(*all, *shown);
        addUnused(*all, *shown);
    } else {
        addWaiting(*all);
    }
    QWidget* const old = std::exchange(m_inside, inside);
    layout()->addWidget(inside);
    inside->show(); // now, not when the layout gets to it: what is made is there
    restore(before);
    focus.restore(*inside, true);
    if (old) {
        old->hide();
        old->deleteLater(); // what changed it may be a button of it
    }
}

void LedgerPanel::addHeading(QVBoxLayout& layout)
{
    auto* top = new QHBoxLayout;
    top->setSpacing(kGrid);
    QLabel* heading = headingLabel(tr("What the memory is for"));
    heading->setWordWrap(false);
    top->addWidget(heading);
    top->addStretch();
    QPushButton* rules = linkButton(tr("Categories…"));
    rules->setToolTip(tr("Categories of your own, by frame, size, range or module (C)"));
    connect(rules, &QPushButton::clicked, this, &LedgerPanel::rulesAsked);
    top->addWidget(rules);
    auto* choice = new Segmented(tr("Rows"),
        { { tr("By category"), tr("What blocks are for") },
            { tr("By module"), tr("Which module they belong to, as a tree") } });
    choice->choose(m_source.byModule() ? 1 : 0);
    choice->setEnabled(m_source.data() != nullptr);
    connect(choice, &Segmented::changed, this, [this](int index) { m_source.setByModule(index == 1); });
    top->addWidget(choice);
    layout.addLayout(top);
}

void LedgerPanel::addWaiting(QVBoxLayout& layout)
{
    m_waiting = textLabel(QString(), true);
    m_waiting->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    layout.addWidget(m_waiting);
    showWaiting();
}

/// Why there is nothing: in place, since what stands beside it may be about to be clicked.
void LedgerPanel::showWaiting()
{
    const model::Error refusal = m_source.refusal();
    const bool works = m_document.analysing() || m_source.job().running();
    const QString ended = text::waiting(m_document).reason;
    m_waiting->setText(!refusal.what.empty() ? text::said(refusal)
            : works                          ? tr("Looking for steps, and for what blocks are for…")
            : !ended.isEmpty()               ? ended
                                             : tr("What blocks are for was not looked for."));
    // What comes is about as tall: nothing below it is to jump far.
    m_waiting->setMinimumHeight(works ? 8 * scaled(kRowHeight, font()) : 0);
}

void LedgerPanel::addAmount(QVBoxLayout& layout, const LedgerData& shown)
{
    const model::Ledger& ledger = shown.ledger;
    QString amount = ledger.reservedBytes
        ? tr("%1 requested of %2 reserved")
              .arg(text::bytes(ledger.requestedBytes), text::bytes(*ledger.reservedBytes))
        : tr("%1 requested").arg(text::bytes(ledger.requestedBytes));
    if (ledger.parameters)
        amount = tr("%1, %2 parameters").arg(amount, text::count(*ledger.parameters));
    const auto device = m_document.device();
    const model::EventIndex event = ledger.event;
    auto* where = new FlowLayout; // in a narrow window the instant is in the next line
    where->setSpacings(0, 0);
    QLabel* sum = textLabel(amount + QLatin1Char(','), true);
    sum->setWordWrap(false);
    where->addWidget(sum);
    QPushButton* link = linkButton(device ? text::instant(*device, event) : text::event(event));
    link->setToolTip(tr("Show this instant"));
    connect(link, &QPushButton::clicked, this, [this, event] { Q_EMIT instantChosen(event); });
    where->addWidget(link);
    layout.addLayout(where);
}

/// Each with a sign and the way to the blocks that it is about.
void LedgerPanel::addSurprises(QVBoxLayout& layout, const LedgerData& shown)
{
    for (const model::LedgerSurprise& surprise : shown.ledger.surprises) {
        const QString said = text::said(surprise.said);
        auto* line = new QHBoxLayout;
        line->setSpacing(kGrid);
        auto* mark = new QLabel;
        mark->setPixmap(
            iconPixmap(QStringLiteral("warning"), m_palette[Role::Warning], kMark, devicePixelRatioF()));
        mark->setAccessibleName(tr("Surprise"));
        line->addWidget(mark, 0, Qt::AlignTop);
        line->addWidget(textLabel(said + QLatin1Char('.')), 1);
        QPushButton* link = linkButton(tr("Show the blocks"));
        link->setAccessibleName(tr("Show the blocks: %1").arg(said));
        connect(link, &QPushButton::clicked, this,
            [this, category = surprise.category, event = shown.ledger.event] {
                Q_EMIT categoryChosen(category, event);
            });
        line->addWidget(link, 0, Qt::AlignTop);
        layout.addLayout(line);
    }
}

void LedgerPanel::addCategories(QVBoxLayout& layout, const LedgerData& shown)
{
    const model::Ledger& ledger = shown.ledger;
    const std::vector<LedgerLine> lines = ledgerLines(ledger);
    const bool counted = ledger.parameters.has_value();
    const bool expected
        = std::ranges::any_of(lines, [](const LedgerLine& line) { return !line.expected.isEmpty(); });
    QStringList headings{ tr("share"), tr("bytes") };
    if (counted)
        headings += tr("B/parameter");
    if (expected)
        headings += tr("textbook");
    headings += QString();
    std::int64_t longest = 1;
    for (const LedgerLine& line : lines)
        if (line.kind == LedgerLine::Kind::Category || line.kind == LedgerLine::Kind::Part)
            longest = std::max(longest, line.bytes.value_or(0));
    std::vector<BarList::Row> rows;
    for (const LedgerLine& line : lines) {
        BarList::Row& row = rows.emplace_back();
        row.label = line.label;
        row.shortLabel = line.shortLabel;
        row.toolTip
            = line.source.isEmpty() ? line.about : tr("%1\nHow sure: %2").arg(line.about, line.source);
        row.swatch = true;
        row.colour = fillOf(line, m_palette);
        row.marked = line.kind == LedgerLine::Kind::Sum;
        row.figures = { line.share, line.bytes ? text::bytes(*line.bytes) : tr("unknown") };
        if (counted)
            row.figures += line.perParameter;
        if (expected)
            row.figures += line.expected;
        row.figures += line.source;
        if (row.marked) {
            row.colour = Qt::transparent; // a sum is no part
        } else {
            row.fraction = fractionOf(line.bytes.value_or(0), longest);
            row.toolTip += line.kind == LedgerLine::Kind::Category ? tr("\nClick: its blocks") : QString();
        }
        if (line.kind == LedgerLine::Kind::Aside || !line.bytes)
            row.ink = m_palette[Role::TextMuted];
    }
    std::vector<std::string> keys;
    std::ranges::transform(lines, std::back_inserter(keys), &LedgerLine::name);
    auto* list = new ChoiceList(std::move(keys), [this, lines, event = ledger.event](int row) {
        if (const LedgerLine& line = lines[static_cast<std::size_t>(row)];
            line.kind == LedgerLine::Kind::Category)
            Q_EMIT categoryChosen(line.category, event);
    });
    list->setAccessibleName(tr("Categories by requested bytes"));
    list->setObjectName(QStringLiteral("ledger"));
    list->setHeadings(tr("category"), headings);
    list->setLessFrom(2); // share and bytes stay
    list->setRows(rows);
    for (int r = 0; r < list->rowCount(); ++r)
        list->item(r, list->columnCount() - 1)->setForeground(m_palette[Role::TextMuted]);
    layout.addWidget(list);
    layout.addWidget(textLabel(sumSentence(ledger), true));
}

void LedgerPanel::addModules(QVBoxLayout& layout, const LedgerData& shown)
{
    auto* tree = new ModuleTree(shown.modules, m_palette[Role::TextMuted], m_palette[Role::FilteredOut]);
    connect(tree, &ModuleTree::moduleChosen, this,
        [this, event = shown.ledger.event](const std::string& path) { Q_EMIT moduleChosen(path, event); });
    layout.addWidget(tree);
}

/// What the categories rest on, where that is little, and what would tell more.
void LedgerPanel::addSources(QVBoxLayout& layout, const LedgerData& shown)
{
    const bool byModule = m_source.byModule();
    const bool noModules
        = std::ranges::all_of(shown.modules, [](const model::ModuleRow& row) { return row.path.empty(); });
    QString why;
    if (byModule && noModules)
        why = tr("No module is known: this recording has no names of modules. \"strata record -- python "
                 "train.py\" records them.");
    else if (!shown.anyKnown())
        why = tr(
            "Nothing in this recording tells what its blocks are for. \"strata record -- python train.py\" "
            "records parameters, gradients and optimizer states by name, and forward and backward.");
    else if (!byModule && !shown.anyRecorded())
        why = tr(
            "None of this was recorded: stack traces, sizes and lifetimes show it. \"strata record -- python "
            "train.py\" records it.");
    if (!why.isEmpty())
        layout.addWidget(textLabel(why, true));
    if (const model::Error& refusal = m_document.rulesRefusal(); !refusal.what.empty())
        layout.addWidget(
            textLabel(tr("The categories of your own that are kept with the recording do not take part: %1")
                          .arg(text::said(refusal)),
                true));
    if (shown.training->rules)
        layout.addWidget(textLabel(tr("Categories of your own take part, see \"Categories…\"."), true));
}

void LedgerPanel::addSpikes(QVBoxLayout& layout, const LedgerData& shown)
{
    if (shown.spikes.empty())
        return;
    const model::DeviceTrace& trace = shown.trace();
    const std::int64_t peak = trace.totals().requestedBytesPeak;
    std::vector<BarList::Row> rows;
    std::vector<std::string> keys;
    for (const model::Spike& spike : shown.spikes) {
        if (rows.size() == kMostSpikes)
            break;
        const model::FrameId frame = model::userFrame(trace.recording(), spike.site);
        const std::string key = model::lineOf(trace.recording(), spike);
        BarList::Row& row = rows.emplace_back();
        row.label = text::utf8(frame.valid() ? model::frameShortLabel(trace.recording(), frame) : key);
        if (const std::string function
            = frame.valid() ? model::frameFunction(trace.recording(), frame) : std::string();
            !function.empty()) {
            row.shortLabel = row.label;
            row.label = tr("%1  %2").arg(row.label, text::utf8(function));
        }
        row.toolTip = tr("%1\n%2 in %3, gone within %4 events.\nWithout it the peak would be %5, at %6.")
                          .arg(text::utf8(key), text::exactBytes(spike.bytes),
                              text::counted(spike.blocks, tr("1 block"), tr("%1 blocks")),
                              text::count(spike.longestLife), text::exactBytes(spike.peakWithoutBytes),
                              text::event(spike.peakWithoutEvent));
        row.swatch = true;
        row.colour = m_palette[Role::Warning];
        row.fraction
            = fractionOf(peak - spike.peakWithoutBytes, peak - shown.spikes.front().peakWithoutBytes);
        row.figures = { text::bytes(spike.bytes), text::bytes(spike.peakWithoutBytes),
            text::bytes(peak - spike.peakWithoutBytes) };
        keys.push_back(key);
    }
    layout.addSpacing(kGrid);
    layout.addWidget(headingLabel(tr("Short-lived memory that makes the peak")));
    auto* list = new ChoiceList(keys, [this, keys, event = shown.ledger.event](int row) {
        Q_EMIT lineChosen(keys[static_cast<std::size_t>(row)], event);
    });
    list->setAccessibleName(tr("Short-lived memory by what the peak would be without it"));
    list->setObjectName(QStringLiteral("spikes"));
    list->setHeadings(tr("line"), { tr("bytes"), tr("peak without it"), tr("saves") });
    list->setRows(rows);
    layout.addWidget(list);
}

/// Each with what to do.
void LedgerPanel::addUnused(QVBoxLayout& layout, const LedgerData& shown)
{
    if (shown.unused.empty())
        return;
    std::vector<BarList::Row> rows;
    std::vector<std::string> keys;
    for (const model::UnusedLine& unused : shown.unused) {
        if (rows.size() == kMostSpikes)
            break;
        BarList::Row& row = rows.emplace_back();
        row.label = tr("%1: %2").arg(text::utf8(unused.line), text::said(model::sayUnused(unused)));
        row.shortLabel = text::utf8(unused.line);
        row.toolTip = row.label;
        row.swatch = true;
        row.colour = m_palette[Role::Warning];
        row.fraction = fractionOf(unused.unusedBytes(), shown.unused.front().unusedBytes());
        row.figures = { text::counted(unused.blocks, tr("1 block"), tr("%1 blocks")),
            text::bytes(unused.unusedBytes()) };
        // Blocks of a graph have lines of their own.
        keys.push_back(unused.kind == model::UnusedKind::Graph ? std::string() : unused.line);
    }
    layout.addSpacing(kGrid);
    layout.addWidget(headingLabel(
        tr("Not used by operators of the recorded step (other steps or custom kernels may use it)")));
    auto* list = new ChoiceList(keys, [this, keys, event = shown.ledger.event](int row) {
        if (const std::string& line = keys[static_cast<std::size_t>(row)]; !line.empty())
            Q_EMIT lineChosen(line, event);
    });
    list->setAccessibleName(tr("Memory that no operator of the recorded step used"));
    list->setObjectName(QStringLiteral("unused"));
    list->setHeadings(tr("line"), { tr("blocks"), tr("bytes") });
    list->setRows(rows);
    layout.addWidget(list);
}

QString LedgerPanel::commandLine() const
{
    const auto& shown = m_source.data();
    if (!shown)
        return {};
    const bool selected = m_document.viewState().selection().has_value();
    return QStringLiteral("strata ledger %1%2 --device %3%4")
        .arg(text::shellQuoted(m_document.path()),
            selected ? QStringLiteral(" %1").arg(shown->ledger.event) : QString(),
            QString::number(shown->trace().device()),
            m_source.byModule() ? QStringLiteral(" --by module") : QString());
}

QString LedgerPanel::copyText() const
{
    QStringList all;
    const auto& shown = m_source.data();
    if (!shown)
        return {};
    for (const model::LedgerSurprise& surprise : shown->ledger.surprises)
        all += text::said(surprise.said) + QLatin1Char('.');
    if (m_source.byModule())
        for (const model::ModuleRow& row : shown->modules)
            all += QStringLiteral("%1\t%2").arg(text::utf8(row.path), text::bytes(row.total.bytes));
    else
        for (const LedgerLine& line : ledgerLines(shown->ledger))
            all += QStringList{ line.label, line.bytes ? text::bytes(*line.bytes) : tr("unknown"), line.share,
                line.perParameter, line.expected, line.source }
                       .join(QLatin1Char('\t'));
    return all.join(QLatin1Char('\n'));
}

bool LedgerPanel::writeCsv(QIODevice& out) const
{
    const auto& shown = m_source.data();
    std::string all;
    if (shown && m_source.byModule()) {
        all = "module,depth,bytes,parameter_bytes,gradient_bytes,optimizer_state_bytes,activation_bytes,"
              "other_bytes\n";
        for (const model::ModuleRow& row : shown->modules) {
            using model::Category;
            appendCsvField(all, row.path);
            all += fmt::format(",{},{},{},{},{},{},{}\n", row.depth, row.total.bytes,
                row.total.of(Category::Parameter), row.total.of(Category::Gradient),
                row.total.of(Category::OptimizerState), row.total.of(Category::Activation),
                otherBytes(row.total));
        }
    } else if (shown) {
        all = "category,bytes,blocks,recorded_bytes,bytes_per_parameter,expected_bytes_per_parameter,note\n";
        const auto ratio = [](const std::optional<double>& bytes) {
            return bytes ? fmt::format("{:.6f}", *bytes) : std::string();
        };
        for (const LedgerLine& line : ledgerLines(shown->ledger)) {
            all += fmt::format("{},{}", line.name, line.bytes ? std::to_string(*line.bytes) : std::string());
            const model::LedgerRow* row
                = line.kind == LedgerLine::Kind::Category ? shown->find(line.category) : nullptr;
            if (row) {
                all += fmt::format(",{},{},{},{},", row->blocks, row->recordedBytes(),
                    ratio(row->bytesPerParameter), ratio(row->expectedBytesPerParameter));
                appendCsvField(all, text::english(row->note));
            } else {
                all += ",,,,,";
            }
            all += '\n';
        }
    }
    return writeText(out, all);
}

} // namespace strata::views
