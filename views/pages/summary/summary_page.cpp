// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/summary_page.h"

#include "views/models/document/ledger_source.h"
#include "views/models/document/replay_data.h"
#include "views/models/tables/csv.h"
#include "views/models/whatif/advice_source.h"
#include "views/pages/parts/kept_view.h"
#include "views/pages/parts/summary_facts.h"
#include "views/pages/summary/advice_rows.h"
#include "views/pages/summary/curve_part.h"
#include "views/pages/summary/ledger_panel.h"
#include "views/pages/summary/rules_dialog.h"
#include "views/pages/summary/share_list.h"
#include "views/pages/summary/summary_jumps.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/widgets/memory/curve_overview.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QTextDocumentFragment>
#include <QVBoxLayout>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace strata::views {

namespace {

constexpr int kRestMs = 300;

} // namespace

SummaryPage::SummaryPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_ledger(new LedgerSource(document, this))
    , m_advice(new AdviceSource(document, this))
    , m_jumps(new SummaryJumps(*this, document))
    , m_peak(document, *m_jumps)
    , m_facts(*this, *m_jumps, [this] { Q_EMIT unfoldedChanged(); })
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
    connect(&document.viewState(), &ViewState::axisChanged, this, &SummaryPage::showCurves);
    connect(&document, &Document::deviceReady, this, &SummaryPage::refreshLedger);
    connect(&document, &Document::deviceReady, this, [this] {
        m_shown.showLeaks(m_document);
        m_next.showLeaks(m_document);
    });
    connect(&document.viewState(), &ViewState::deviceChanged, this, &SummaryPage::refreshLedger);
    connect(&document.viewState(), &ViewState::selectionChanged, this, &SummaryPage::refreshLedger);
    follow(m_ledger->job());
    connect(&document, &Document::deviceReady, this, &SummaryPage::refreshAdvice);
    connect(&document, &Document::stateChanged, this, &SummaryPage::refreshAdvice);
    connect(&document.viewState(), &ViewState::deviceChanged, this, &SummaryPage::refreshAdvice);
    connect(m_advice, &AdviceSource::changed, this, &SummaryPage::adviceChanged);
    follow(m_advice->job());
    addPageAction(tr("What the Memory Is For: by Category or Module"), { Qt::Key_M },
        [this] { m_ledger->setByModule(!m_ledger->byModule()); });
    addPageAction(tr("Categories of Your Own…"), { Qt::Key_C }, [this] { editRules(); });
    m_step.setInterval(0);
    connect(&m_step, &QTimer::timeout, this, &SummaryPage::addNextPart);
    m_rest.setSingleShot(true);
    m_rest.setInterval(kRestMs);
    connect(&m_rest, &QTimer::timeout, this, [this] {
        makeNext();
        Q_EMIT busyChanged();
    });
    m_data = document.summary();
    refreshLedger();
    refreshAdvice();
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
    if (!m_data)
        return m_document.working();
    const CurveOverview* picture = curves(m_shown.widget);
    const bool waits = m_rest.isActive() && m_data != m_shown.data; // with something newer to show
    return m_step.isActive() || waits || m_document.replaying() || m_document.analysing()
        || m_ledger->job().running() || m_advice->job().running()
        || (picture && picture->waits() && m_document.working());
}

void SummaryPage::refresh()
{
    const auto before = std::exchange(m_data, m_document.summary());
    if (!m_data || !before || m_data->summary->device != before->summary->device)
        m_jumps->forgetWanted();
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
        goOn();
        makeNext();
        if (m_rest.isActive())
            Q_EMIT busyChanged();
    }
    if (const CurveOverview* picture = curves(m_shown.widget); picture && picture->waits()) {
        showCurves();
        if (!busy())
            Q_EMIT busyChanged();
    }
    m_jumps->deviceReady();
}

/// What is cheap goes with every generation, the rest when its turn comes.
void SummaryPage::goOn()
{
    if (inBackground())
        return;
    if (m_shown.verdict)
        m_shown.showVerdict(m_data->summary->verdict, m_palette);
    showCurves();
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
    refreshLedger();
    refreshAdvice();
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
    showCurves();
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

SummaryContent SummaryPage::begin()
{
    SummaryContent made = SummaryContent::begin(m_data, m_document, font(), m_palette, *m_jumps);
    arrange(made);
    return made;
}

void SummaryPage::addNextPart()
{
    using Fill = void (*)(SummaryPage&, QVBoxLayout&, const SummaryData&);
    static constexpr Fill kStory[] = { // of the first column
        [](SummaryPage& page, QVBoxLayout& part, const SummaryData& device) {
            page.fillCurves(part, device);
        },
        [](SummaryPage& page, QVBoxLayout& part, const SummaryData& device) {
            page.m_peak.fillDevices(part, device, page.m_palette);
        },
        [](SummaryPage& page, QVBoxLayout& part, const SummaryData& device) {
            page.m_peak.fillOutOfMemory(part, device, page.m_palette);
        },
        [](SummaryPage& page, QVBoxLayout& part, const SummaryData& device) {
            page.fillAdvice(part, device);
        },
        [](SummaryPage& page, QVBoxLayout& part, const SummaryData& device) {
            page.fillLedger(part, device);
        },
        [](SummaryPage& page, QVBoxLayout& part, const SummaryData& device) {
            page.m_peak.fillPeak(part, device, page.m_palette);
        },
    };
    SummaryContent& made = m_next.widget ? m_next : m_shown;
    auto* story = static_cast<QVBoxLayout*>(made.columns->itemAt(0)->layout());
    auto* facts = static_cast<QVBoxLayout*>(made.facts->layout());
    const std::size_t number = made.parts++;
    const bool isFact = number >= std::size(kStory);
    // Filled before it has a parent: labels added to what is shown would be laid out one by one.
    auto* widget = new QWidget;
    auto* inside = new QVBoxLayout(widget);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->setSpacing(kGrid);
    if (isFact)
        m_facts.fill(number - std::size(kStory), *inside, *made.data, m_palette);
    else
        kStory[number](*this, *inside, *made.data);
    if (inside->count() > 0) {
        (isFact ? facts : story)->addWidget(widget);
        widget->show(); // now, not when the layout gets to it: what is made is there
        for (AdviceRows* rows : widget->findChildren<AdviceRows*>())
            showAdvice(*rows);
    } else {
        delete widget;
    }
    if (made.parts < std::size(kStory) + FactColumn::kParts)
        return;
    story->addStretch();
    facts->addStretch();
    arrange(made);
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

void SummaryPage::fillCurves(QVBoxLayout& part, const SummaryData& device)
{
    if (CurveOverview* picture = addCurves(part, m_document, device, m_palette)) {
        connect(picture, &CurveOverview::hoverText, this, &SummaryPage::hoverText);
        connect(picture, &CurveOverview::eventChosen, m_jumps, &SummaryJumps::instant);
    }
}

CurveOverview* SummaryPage::curves(const QWidget* content) const
{
    return content ? content->findChild<CurveOverview*>() : nullptr;
}

/// As the document has them now. The figures beside them are the same, or follow within the second where the
/// trace grows.
void SummaryPage::showCurves()
{
    for (const SummaryContent* content : { &m_shown, &m_next })
        if (CurveOverview* picture = curves(content->widget)) {
            picture->setWaitingFor(waitingFor(m_document));
            picture->setAxis(m_document.viewState().axis());
            const auto events = m_document.device();
            if (content == &m_shown && events && events->trace->device() == content->data->summary->device
                && (picture->waits() || m_shown.data == m_data || m_data->follows(*m_shown.data)))
                picture->setDevice(events);
        }
}

void SummaryPage::fillAdvice(QVBoxLayout& part, const SummaryData& device)
{
    // A refused request has advice of its own above, of a replay that is exact.
    auto* rows = new AdviceRows(device.summary->outOfMemory.empty() ? tr("Do this") : tr("Or do this"));
    connect(rows, &AdviceRows::chosen, this, &SummaryPage::whatIfAsked);
    part.addWidget(rows); // filled once the part has its place: shown alone it would be a window
}

void SummaryPage::showAdvice(AdviceRows& rows) const
{
    rows.setAdvice(m_advice->advice(), m_palette[Palette::Role::Accent].name());
    if (QWidget* part = rows.parentWidget()) // else it would leave a gap
        part->setVisible(!m_advice->advice().empty());
}

void SummaryPage::adviceChanged()
{
    for (const QWidget* content : { m_shown.widget, m_next.widget })
        if (content != nullptr)
            for (AdviceRows* rows : content->findChildren<AdviceRows*>())
                showAdvice(*rows);
    Q_EMIT busyChanged();
}

/// Once it is seen: a few replays.
void SummaryPage::refreshAdvice()
{
    if (!inBackground())
        m_advice->refresh();
}

void SummaryPage::fillLedger(QVBoxLayout& part, const SummaryData& device)
{
    if (device.recording->refusal || device.summary->totals.requestedBytesPeak == 0)
        return;
    auto* panel = new LedgerPanel(m_document, *m_ledger, m_palette);
    connect(panel, &LedgerPanel::instantChosen, m_jumps, &SummaryJumps::instant);
    connect(
        panel, &LedgerPanel::categoryChosen, this, [this](model::Category category, model::EventIndex event) {
            m_jumps->group(model::Grouping::Category, std::string(model::categoryWord(category)), event);
        });
    connect(
        panel, &LedgerPanel::moduleChosen, this, [this](const std::string& path, model::EventIndex event) {
            m_jumps->group(
                model::Grouping::Module, path.empty() ? std::string(model::kNoModuleLabel) : path, event);
        });
    connect(panel, &LedgerPanel::lineChosen, this, [this](const std::string& line, model::EventIndex event) {
        m_jumps->line({ line, event });
    });
    connect(panel, &LedgerPanel::rulesAsked, this, &SummaryPage::editRules);
    part.addWidget(panel);
}

void SummaryPage::editRules()
{
    if (m_document.device())
        (new RulesDialog(m_document, m_palette, this))->open();
}

/// Once it is seen: whoever works on another page need not wait for it.
void SummaryPage::refreshLedger()
{
    if (!inBackground())
        m_ledger->refresh();
}

const LedgerPanel* SummaryPage::ledgerInUse() const
{
    const auto* panel = m_shown.widget ? m_shown.widget->findChild<LedgerPanel*>() : nullptr;
    const QWidget* keyboard = window()->focusWidget();
    return panel && keyboard && panel->isAncestorOf(keyboard) && m_ledger->data() ? panel : nullptr;
}

void SummaryPage::showContent(const SummaryContent& content)
{
    const CurveOverview* before = curves(m_shown.widget);
    if (CurveOverview* next = curves(content.widget); before && next && content.data->follows(*m_shown.data))
        next->goOnFrom(*before);
    if (m_shown.widget && content.data && m_shown.data && content.data->follows(*m_shown.data))
        if (const auto* ledger = m_shown.widget->findChild<LedgerPanel*>())
            if (auto* next = content.widget->findChild<LedgerPanel*>())
                next->goOnFrom(*ledger);
    m_shown = content;
    m_scroll->setWidget(content.widget);
    content.widget->setAutoFillBackground(false); // the scroll area switches it on
}

void SummaryPage::arrange(const SummaryContent& content) const
{
    content.arrange(width(), m_scroll->verticalScrollBar()->sizeHint().width(), font());
}

void SummaryPage::resizeEvent(QResizeEvent*)
{
    arrange(m_shown);
    arrange(m_next);
}

QString SummaryPage::commandLine() const
{
    if (const LedgerPanel* ledger = ledgerInUse())
        return ledger->commandLine();
    const bool replayed = m_data && m_data->replay && m_data->replay->exact();
    return QStringLiteral("strata summary %1 --device %2%3")
        .arg(text::shellQuoted(m_document.path()))
        .arg(m_document.viewState().device())
        .arg(replayed ? QStringLiteral(" --replay") : QString());
}

QString SummaryPage::copyText() const
{
    if (!m_data)
        return {};
    if (const LedgerPanel* ledger = ledgerInUse())
        return ledger->copyText();
    QString all = verdictPlain(m_data->summary->verdict) + QLatin1Char('\n');
    if (const auto& needs = m_data->summary->needs)
        all += verdictPlain(needs->text()) + QLatin1Char('\n');
    if (m_shown.leaks && !m_shown.leaks->text().isEmpty())
        all += QTextDocumentFragment::fromHtml(m_shown.leaks->text()).toPlainText() + QLatin1Char('\n');
    std::size_t row = 0;
    for (const model::GroupSum& sum : m_data->summary->peak.groups) {
        if (row++ == PeakParts::kPeakRows)
            break;
        all += QStringLiteral("%1\t%2\t%3\n")
                   .arg(text::utf8(m_data->byLine->label(sum.group)), text::bytes(sum.bytes),
                       text::count(sum.blocks));
    }
    return all;
}

bool SummaryPage::writeCsv(QIODevice& out) const
{
    if (const LedgerPanel* ledger = ledgerInUse())
        return ledger->writeCsv(out);
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
