// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary_page.h"

#include "views/models/csv.h"
#include "views/pages/device_list.h"
#include "views/pages/findings_list.h"
#include "views/pages/kept_view.h"
#include "views/pages/oom_panel.h"
#include "views/pages/share_list.h"
#include "views/pages/summary_facts.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <fmt/format.h>

#include <utility>

namespace strata::views {

namespace {

constexpr std::size_t kPeakRows = 10;
constexpr std::size_t kUnusualSettings = 4; // shown before the rest is folded
constexpr int kTwoColumns = 760; // from this width on, before scaling
constexpr int kFactsWidth = 352; // of the second one
constexpr int kLabelWidth = 124;
constexpr int kValueWidth = 72;
constexpr int kFactHeight = 20;
constexpr int kWidest = 1280;
constexpr int kRestMs = 300;

/// Label, value, exact figure in grey: three columns, figures right-aligned. Words take the room of both.
template <class OnEvent>
QGridLayout* factGrid(const std::vector<Fact>& facts, const QFont& font, const OnEvent& onEvent)
{
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(kMargin);
    grid->setVerticalSpacing(0);
    const double scale = scaleOf(font);
    grid->setColumnMinimumWidth(0, qRound(kLabelWidth * scale)); // one grid over all sections
    grid->setColumnMinimumWidth(1, qRound(kValueWidth * scale));
    grid->setColumnStretch(2, 1);
    const QFont numbers = numberFont(font);
    int line = 0;
    for (const Fact& fact : facts) {
        grid->setRowMinimumHeight(line, qRound(kFactHeight * scale));
        QLabel* label = textLabel(fact.label, true);
        label->setToolTip(aboutWord(fact.label));
        grid->addWidget(label, line, 0, fact.words ? Qt::AlignTop : Qt::AlignVCenter);
        if (fact.words) {
            QLabel* words = textLabel(fact.value);
            for (QLabel* part : { label, words }) // in line with the rows of one line
                part->setContentsMargins(
                    0, (qRound(kFactHeight * scale) - part->fontMetrics().height()) / 2, 0, 0);
            grid->addWidget(words, line++, 1, 1, 2, Qt::AlignTop);
            continue;
        }
        if (fact.event) {
            QPushButton* value = linkButton(fact.value);
            value->setFont(numbers);
            value->setToolTip(QObject::tr("Show this instant"));
            QObject::connect(
                value, &QPushButton::clicked, value, [onEvent, event = *fact.event] { onEvent(event); });
            grid->addWidget(value, line, 1, Qt::AlignRight);
        } else {
            QLabel* value = textLabel(fact.value);
            value->setFont(numbers);
            value->setWordWrap(false);
            value->setContentsMargins(0, 0, 5, 0); // in line with the text of links
            grid->addWidget(value, line, 1, Qt::AlignRight);
        }
        QLabel* exact = textLabel(fact.exact, true);
        exact->setFont(sized(numbers, kAxisPx));
        exact->setWordWrap(false);
        grid->addWidget(exact, line++, 2, Qt::AlignLeft | Qt::AlignVCenter);
    }
    return grid;
}

} // namespace

SummaryPage::SummaryPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_scroll(new QScrollArea)
{
    setAccessibleName(title());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->viewport()->setAutoFillBackground(false);
    layout->addWidget(m_scroll);
    setFocusProxy(m_scroll);
    connect(&document, &Document::outlineReady, this, &SummaryPage::refresh);
    connect(&document, &Document::deviceReady, this, &SummaryPage::refresh);
    connect(&document, &Document::stateChanged, this, &SummaryPage::refresh);
    connect(&document.viewState(), &ViewState::deviceChanged, this, &SummaryPage::refresh);
    m_step.setInterval(0);
    connect(&m_step, &QTimer::timeout, this, &SummaryPage::addNextPart);
    m_rest.setSingleShot(true);
    m_rest.setInterval(kRestMs);
    connect(&m_rest, &QTimer::timeout, this, &SummaryPage::makeNext);
    m_data = document.summary();
    rebuild();
}

SummaryPage::~SummaryPage()
{
    delete m_next.widget;
}

void SummaryPage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    rebuild();
}

bool SummaryPage::busy() const
{
    return m_data ? m_step.isActive() || m_rest.isActive() : m_document.working();
}

void SummaryPage::refresh()
{
    const auto before = std::exchange(m_data, m_document.summary());
    if (!m_data || !before || m_data->summary->device != before->summary->device)
        m_wanted.clear();
    const std::shared_ptr<const SummaryData>& shown = m_shown.data;
    if (!m_data || !shown || !m_data->follows(*shown)) {
        // What comes later does not change a summary, and events say what their digest said.
        if (!m_data || !shown || (m_data != shown && !sameFigures(*m_data, *shown))) {
            rebuild();
            Q_EMIT busyChanged();
        } else if (m_data != shown) {
            m_shown.data = m_data;
            recolour();
        }
    } else if (m_data != shown) {
        makeNext();
    }
    if (!m_wanted.empty() && m_document.device())
        focusOn(std::exchange(m_wanted, {}));
}

/// Begins to make the content of the newest generation, unless one is being made or was shown just now.
void SummaryPage::makeNext()
{
    m_late = inBackground();
    if (m_late || m_step.isActive() || m_rest.isActive() || !m_data || m_data == m_shown.data)
        return;
    if (sameFigures(*m_data, *m_shown.data)) {
        m_shown.data = m_data;
        return recolour();
    }
    m_next = begin();
    m_step.start();
    Q_EMIT busyChanged();
}

void SummaryPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (m_late)
        makeNext();
}

/// Colours may need the events.
void SummaryPage::recolour()
{
    for (ShareList* list : findChildren<ShareList*>())
        list->setColours([this](const ShareRow& row) {
            const SummaryData& shown = *m_shown.data;
            const auto group = shown.byLine->find({ row.key });
            return m_palette.groupFill(group ? shown.lineRank[*group] : -1);
        });
}

void SummaryPage::rebuild()
{
    m_step.stop();
    m_rest.stop();
    delete std::exchange(m_next, {}).widget;
    showContent(begin());
    if (m_data)
        m_step.start();
}

/// Content of the newest data, without its parts.
SummaryPage::Content SummaryPage::begin()
{
    Content made{ m_data, new QWidget };
    auto* outer = new QHBoxLayout(made.widget);
    outer->setContentsMargins(2 * kMargin, 2 * kGrid, 2 * kMargin, 2 * kMargin);
    auto* body = new QWidget;
    body->setMaximumWidth(scaled(kWidest, font()));
    outer->addWidget(body, 100);
    outer->addStretch(1);
    auto* page = new QVBoxLayout(body);
    page->setContentsMargins(0, 0, 0, 0);
    page->setSpacing(3 * kGrid);
    if (!m_data) {
        const auto session = m_document.session();
        const bool empty = session && session->devices().empty();
        page->addWidget(textLabel(!empty ? tr("Working out the totals…")
                : m_document.isFollowing()
                ? tr("Nothing has been recorded yet.")
                : tr("This file holds no memory of a GPU: neither segments nor events. Call %1 before the "
                     "program allocates.")
                      .arg(text::recordLine()),
            true));
        page->addStretch();
        return made;
    }

    QLabel* verdict
        = textLabel(verdictHtml(m_data->summary->verdict, m_palette[Palette::Role::Accent].name()));
    verdict->setTextFormat(Qt::RichText);
    verdict->setTextInteractionFlags(Qt::TextBrowserInteraction);
    verdict->setFont(sized(font(), kVerdictPx));
    verdict->setAccessibleName(verdictPlain(m_data->summary->verdict));
    connect(verdict, &QLabel::linkActivated, this, [this](const QString& target) {
        if (const auto line = text::lineOfLink(target))
            chooseLine(*line);
        else if (const auto event = text::eventOfLink(target))
            showInstant(*event);
    });
    page->addWidget(verdict);

    made.columns = new QBoxLayout(QBoxLayout::LeftToRight);
    made.columns->setSpacing(4 * kGrid);
    auto* story = new QVBoxLayout;
    made.facts = new QWidget;
    auto* facts = new QVBoxLayout(made.facts);
    facts->setContentsMargins(0, 0, 0, 0);
    for (QVBoxLayout* column : { story, facts })
        column->setSpacing(3 * kGrid);
    made.columns->addLayout(story, 1);
    made.columns->addWidget(made.facts);
    page->addLayout(made.columns);
    page->addStretch();
    arrange(made);
    return made;
}

void SummaryPage::addNextPart()
{
    struct Part {
        void (SummaryPage::*fill)(QVBoxLayout&, const SummaryData&);
        bool fact; ///< of the second column
    };
    static constexpr Part kParts[] = {
        { &SummaryPage::fillDevices, false },
        { &SummaryPage::fillOutOfMemory, false },
        { &SummaryPage::fillPeak, false },
        { &SummaryPage::fillIntegrity, true },
        { &SummaryPage::fillWaste, true },
        { &SummaryPage::fillNumbers, true },
        { &SummaryPage::fillSimulation, true },
        { &SummaryPage::fillDriver, true },
        { &SummaryPage::fillHostMemory, true },
        { &SummaryPage::fillSettings, true },
    };
    Content& made = m_next.widget ? m_next : m_shown;
    auto* story = static_cast<QVBoxLayout*>(made.columns->itemAt(0)->layout());
    auto* facts = static_cast<QVBoxLayout*>(made.facts->layout());
    const Part& part = kParts[made.parts++];
    // Filled before it has a parent: labels added to what is shown would be laid out one by one.
    auto* widget = new QWidget;
    auto* inside = new QVBoxLayout(widget);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->setSpacing(kGrid);
    (this->*part.fill)(*inside, *made.data);
    if (inside->count() > 0)
        (part.fact ? facts : story)->addWidget(widget);
    else
        delete widget;
    if (made.parts < std::size(kParts))
        return;
    story->addStretch();
    facts->addStretch();
    m_step.stop();
    if (m_next.widget) {
        const KeptView kept(m_scroll);
        showContent(std::exchange(m_next, {}));
        kept.restore(*m_scroll);
        m_rest.start();
    }
    Q_EMIT busyChanged();
    makeNext();
}

void SummaryPage::showContent(const Content& content)
{
    m_shown = content;
    m_scroll->setWidget(content.widget);
    content.widget->setAutoFillBackground(false); // the scroll area switches it on
}

void SummaryPage::arrange(const Content& content) const
{
    if (!content.columns)
        return;
    const double scale = scaleOf(font());
    const bool two = width() >= kTwoColumns * scale;
    content.columns->setDirection(two ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    content.facts->setMinimumWidth(two ? qRound(kFactsWidth * scale) : 0);
    content.facts->setMaximumWidth(two ? qRound(kFactsWidth * scale) : QWIDGETSIZE_MAX);
}

void SummaryPage::resizeEvent(QResizeEvent*)
{
    arrange(m_shown);
    arrange(m_next);
}

void SummaryPage::fillDevices(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<DeviceBrief> devices = m_document.devices();
    if (devices.size() < 2)
        return;
    part.addWidget(headingLabel(tr("The peak of each device")));
    auto* list = new DeviceList(devices, device.summary->device, m_palette);
    connect(
        list, &DeviceList::deviceChosen, this,
        [this](int chosen) { m_document.viewState().setDevice(chosen); }, Qt::QueuedConnection);
    part.addWidget(list);
}

void SummaryPage::fillOutOfMemory(QVBoxLayout& part, const SummaryData& device)
{
    const auto& all = device.summary->outOfMemory;
    if (all.empty())
        return;
    const model::OutOfMemory& oom = all.back();
    part.addWidget(headingLabel(all.size() == 1
            ? tr("The request that failed")
            : tr("The last of %n request(s) that failed", nullptr, static_cast<int>(all.size()))));
    part.addWidget(new OomPanel(oom, m_palette));
    if (const model::FrameId asked = model::userFrame(*device.recording, oom.request); asked.valid()) {
        auto* who = new QHBoxLayout;
        who->setSpacing(0);
        QLabel* label = textLabel(tr("Asked for by") + QLatin1Char(' '), true);
        label->setWordWrap(false);
        who->addWidget(label);
        QPushButton* line = linkButton(text::utf8(model::frameShortLabel(*device.recording, asked)));
        line->setToolTip(text::utf8(model::frameLabel(*device.recording, asked)));
        connect(line, &QPushButton::clicked, this,
            [this, link = text::LineLink{ model::frameLabel(*device.recording, asked), oom.event }] {
                chooseLine(link);
            });
        who->addWidget(line);
        who->addStretch();
        part.addLayout(who);
    }
    if (oom.biggest.empty())
        return;
    part.addSpacing(kGrid);
    part.addWidget(headingLabel(tr("What filled the device when it failed")));
    addAmount(part, tr("The biggest lines, of %1 requested:").arg(text::bytes(oom.requestedLiveBytes)),
        text::event(oom.event), oom.event);
    part.addWidget(shareList(device, oom.biggest, oom.requestedLiveBytes, oom.biggest.size()));
}

/// How much, and the instant that it is of.
void SummaryPage::addAmount(
    QVBoxLayout& part, const QString& amount, const QString& instant, model::EventIndex event)
{
    auto* where = new QHBoxLayout;
    where->setSpacing(0);
    QLabel* sum = textLabel(amount, true);
    sum->setWordWrap(false);
    where->addWidget(sum);
    QPushButton* link = linkButton(instant);
    link->setToolTip(tr("Show this instant"));
    connect(link, &QPushButton::clicked, this, [this, event] { showInstant(event); });
    where->addWidget(link);
    where->addStretch();
    part.addLayout(where);
}

void SummaryPage::fillPeak(QVBoxLayout& part, const SummaryData& device)
{
    const model::LiveGroups& peak = device.summary->peak;
    if (peak.groups.empty())
        return;
    const bool events = device.summary->totals.events > 0;
    part.addWidget(headingLabel(events ? tr("What fills the peak") : tr("What fills the device")));
    const QString amount
        = tr("%1 requested in %2 blocks").arg(text::bytes(peak.requestedBytes), text::count(peak.blocks));
    if (events)
        addAmount(
            part, amount + QLatin1Char(','), text::instant(peak.event, device.timeOfPeakNs()), peak.event);
    else
        part.addWidget(textLabel(tr("%1, when the snapshot was taken").arg(amount), true));
    part.addWidget(shareList(device, peak.groups, peak.requestedBytes, kPeakRows));
    if (device.recording->stacks.stackCount() == 0)
        part.addWidget(textLabel(
            tr("No stacks were recorded, so no line of code can be named. Switch the recorder on with %1.")
                .arg(text::recordLine()),
            true));
    if (peak.beforeTraceBytes > 0 && events)
        part.addWidget(textLabel(
            tr("%1 of it are older than the recording.").arg(text::bytes(peak.beforeTraceBytes)), true));
}

QWidget* SummaryPage::shareList(const SummaryData& device, const std::vector<model::GroupSum>& groups,
    std::int64_t whole, std::size_t most)
{
    const model::Recording& recording = *device.recording;
    std::vector<ShareRow> rows;
    ShareRow others;
    const bool fold = groups.size() > most + 1;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const model::GroupSum& sum = groups[i];
        if (fold && i >= most) {
            others.bytes += sum.bytes;
            others.blocks += sum.blocks;
            continue;
        }
        const model::FrameId frame = model::userFrame(recording, device.byLine->stackOf(sum.group));
        const QString label = text::utf8(device.byLine->label(sum.group));
        QString shown = label, instead;
        if (frame.valid()) {
            shown = instead = text::utf8(model::frameShortLabel(recording, frame));
            if (const std::string_view function = model::frameFunction(recording, frame); !function.empty())
                shown = tr("%1  %2").arg(instead, text::utf8(function));
        }
        ShareRow& row = rows.emplace_back();
        row.label = shown;
        row.shortLabel = instead;
        row.toolTip = tr("%1\nClick: details. Double click: filter by it.").arg(label);
        row.bytes = sum.bytes;
        row.blocks = sum.blocks;
        row.colour = m_palette.groupFill(device.lineRank[sum.group]);
        row.key = device.byLine->label(sum.group);
        row.named = device.byLine->stackOf(sum.group).valid();
    }
    if (fold) {
        others.label = tr("%n other line(s)", nullptr, static_cast<int>(groups.size() - most));
        others.colour = m_palette[Palette::Role::Other];
        others.clickable = false;
        rows.push_back(others);
    }
    auto* list = new ShareList;
    list->setAccessibleName(tr("Lines of code by requested bytes"));
    list->setRows(rows, whole, m_palette);
    connect(list, &ShareList::rowChosen, this, [this](const ShareRow& row) { focusOn(row.key); });
    connect(
        list, &ShareList::rowFiltered, this, [this](const ShareRow& row) { filterBy(row.key, row.named); });
    return list;
}

void SummaryPage::fillIntegrity(QVBoxLayout& part, const SummaryData& device)
{
    const DeviceBrief brief{ device.summary->device, &device.summary->totals, device.findings };
    part.addWidget(headingLabel(tr("Integrity: %1").arg(integrityOf({ &brief, 1 }).text())));
    auto* findings = new FindingsList({ &brief, 1 }, m_palette);
    connect(findings, &FindingsList::eventChosen, this,
        [this](int, model::EventIndex event) { showInstant(event); });
    part.addWidget(findings);
}

void SummaryPage::addFacts(QVBoxLayout& part, const std::vector<Fact>& facts)
{
    part.addLayout(factGrid(facts, font(), [this](model::EventIndex event) { showInstant(event); }));
}

void SummaryPage::fillWaste(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<Fact> waste = wasteFacts(device);
    if (waste.empty())
        return;
    part.addWidget(headingLabel(
        device.summary->totals.events > 0 ? tr("Not used at the peak") : tr("Not used by tensors")));
    if (const std::int64_t reserved = device.summary->peakUse.reservedBytes; reserved > 0)
        part.addWidget(textLabel(tr("Of %1 reserved").arg(text::bytes(reserved)), true));
    addFacts(part, waste);
}

void SummaryPage::fillNumbers(QVBoxLayout& part, const SummaryData& device)
{
    part.addWidget(headingLabel(tr("Numbers")));
    addFacts(part, numberFacts(device));
}

void SummaryPage::fillDriver(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<Fact> facts = driverFacts(device);
    if (facts.empty())
        return;
    part.addWidget(headingLabel(tr("Driver, at most")));
    addFacts(part, facts);
}

void SummaryPage::fillHostMemory(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<Fact> host = hostFacts(*device.recording);
    if (host.empty())
        return;
    part.addWidget(headingLabel(tr("Pinned host memory")));
    addFacts(part, host);
}

void SummaryPage::fillSimulation(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<Fact> simulation = simulationFacts(*device.recording);
    if (simulation.empty())
        return;
    part.addWidget(headingLabel(tr("Simulated device")));
    addFacts(part, simulation);
}

void SummaryPage::fillSettings(QVBoxLayout& part, const SummaryData& device)
{
    part.addWidget(headingLabel(tr("Allocator settings")));
    const std::vector<SettingFact> all = settingFacts(*device.recording);
    if (all.empty())
        part.addWidget(textLabel(tr("None in this snapshot: PyTorch writes them since 2.3."), true));
    std::vector<Fact> shown, folded;
    for (const SettingFact& fact : all)
        (fact.usual && shown.size() >= kUnusualSettings ? folded : shown)
            .push_back({ fact.key, fact.value, {}, {}, true });
    addFacts(part, shown);
    if (folded.empty())
        return;
    auto* rest = new QWidget;
    auto* inside = new QVBoxLayout(rest);
    inside->setContentsMargins(0, 0, 0, 0);
    addFacts(*inside, folded);
    QPushButton* more
        = linkButton(tr("Show %n more, all at their defaults", nullptr, static_cast<int>(folded.size())));
    more->setProperty("atEdge", true); // in line with what stands above it
    connect(more, &QPushButton::clicked, rest, [this, rest, more] {
        m_allSettings = true;
        rest->show();
        more->hide();
    });
    part.addWidget(more);
    part.addWidget(rest);
    (m_allSettings ? static_cast<QWidget*>(more) : rest)->hide();
}

void SummaryPage::showInstant(model::EventIndex event)
{
    m_document.viewState().select(EventRange{ event, event });
    Q_EMIT openPage(QStringLiteral("memory"), event);
    Q_EMIT focusChanged(Focus::onEvent(event));
}

void SummaryPage::chooseLine(const text::LineLink& link)
{
    m_document.viewState().setGrouping(model::Grouping::Line); // where Memory can show it
    if (link.event)
        m_document.viewState().select(EventRange{ *link.event, *link.event });
    Q_EMIT openPage(QStringLiteral("memory"), link.event);
    if (link.event)
        Q_EMIT focusChanged(Focus::onEvent(*link.event)); // unless the line holds memory
    focusOn(link.line);
}

void SummaryPage::focusOn(const std::string& line)
{
    const auto device = m_document.device();
    if (!device) {
        m_wanted = line;
        return;
    }
    if (const model::GroupKey key{ line, 0 }; device->byLine->find(key))
        Q_EMIT focusChanged(Focus::onGroup(model::Grouping::Line, key));
}

void SummaryPage::filterBy(const std::string& line, bool named)
{
    model::BlockFilter filter = m_document.viewState().filter();
    if (named)
        filter.line = line;
    else
        filter.sites = { model::StackId() };
    m_document.viewState().setFilter(filter);
    Q_EMIT openPage(QStringLiteral("memory"), {});
}

QString SummaryPage::commandLine() const
{
    return QStringLiteral("strata summary %1 --device %2")
        .arg(text::shellQuoted(m_document.path()))
        .arg(m_document.viewState().device());
}

QString SummaryPage::copyText() const
{
    if (!m_data)
        return {};
    QString all = verdictPlain(m_data->summary->verdict) + QLatin1Char('\n');
    std::size_t row = 0;
    for (const model::GroupSum& sum : m_data->summary->peak.groups) {
        if (row++ == kPeakRows)
            break;
        all += QStringLiteral("%1\t%2\t%3\n")
                   .arg(text::utf8(m_data->byLine->label(sum.group)), text::bytes(sum.bytes),
                       text::count(sum.blocks));
    }
    return all;
}

bool SummaryPage::writeCsv(QIODevice& out) const
{
    std::string all = "line,requested_bytes,blocks\n";
    if (m_data) {
        for (const model::GroupSum& sum : m_data->summary->peak.groups) {
            appendCsvField(all, m_data->byLine->label(sum.group));
            all += fmt::format(",{},{}\n", sum.bytes, sum.blocks);
        }
    }
    return writeText(out, all);
}

} // namespace strata::views
