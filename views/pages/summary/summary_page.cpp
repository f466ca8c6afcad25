// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/replay_data.h"
#include "views/pages/summary/summary_page.h"

#include "views/models/document/ledger_source.h"
#include "views/models/tables/csv.h"
#include "views/models/whatif/advice_source.h"
#include "views/pages/leaks/leak_texts.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/kept_view.h"
#include "views/pages/parts/summary_facts.h"
#include "views/pages/summary/advice_rows.h"
#include "views/pages/summary/ledger_panel.h"
#include "views/pages/summary/share_list.h"
#include "views/pages/summary/work_verdict.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/memory/curve_overview.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QTextDocumentFragment>
#include <QVBoxLayout>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr int kTwoColumns = 760; // from this width on, before scaling
constexpr int kFactsWidth = 352; // of the second one
constexpr int kWidest = 1280;
constexpr int kRestMs = 300;

} // namespace

SummaryPage::SummaryPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_ledger(new LedgerSource(document, this))
    , m_advice(new AdviceSource(document, this))
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
        showLeaks(m_shown);
        showLeaks(m_next);
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
    if (!m_wanted.empty() && m_document.device())
        focusOn(std::exchange(m_wanted, {}));
}

/// What is cheap goes with every generation, the rest when its turn comes.
void SummaryPage::goOn()
{
    if (inBackground())
        return;
    if (m_shown.verdict)
        showVerdict(*m_shown.verdict, m_data->summary->verdict);
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
        if (empty && text::holdsWork(m_document)) {
            QLabel* told = textLabel(tr("%1: it is on the page %2.")
                                         .arg(text::withoutDevices(m_document),
                                             text::pageLinked(tr("Timeline"), QStringLiteral("timeline"))));
            told->setTextFormat(Qt::RichText);
            told->setTextInteractionFlags(Qt::TextBrowserInteraction);
            connect(told, &QLabel::linkActivated, this, [this](const QString& target) {
                if (const auto other = text::pageOfLink(target))
                    Q_EMIT openPage(*other, {});
            });
            page->addWidget(told);
            page->addWidget(workVerdict());
            page->addStretch();
            return made;
        }
        page->addWidget(textLabel(!empty ? tr("Working out the totals…")
                : m_document.isFollowing()
                ? tr("Nothing has been recorded yet.")
                : tr("%1: neither segments nor events. Call %2 before the program allocates.")
                      .arg(text::withoutDevices(m_document), text::recordLine()),
            true));
        page->addStretch();
        return made;
    }

    QLabel* verdict = made.verdict = textLabel(QString());
    verdict->setTextFormat(Qt::RichText);
    verdict->setTextInteractionFlags(Qt::TextBrowserInteraction);
    verdict->setFont(sized(font(), kVerdictPx));
    showVerdict(*verdict, m_data->summary->verdict);
    connect(verdict, &QLabel::linkActivated, this, [this](const QString& target) {
        if (const auto line = text::lineOfLink(target))
            chooseLine(*line);
        else if (const auto event = text::eventOfLink(target))
            showInstant(*event);
    });
    auto* top = new QVBoxLayout;
    top->setSpacing(kGrid / 2);
    top->addWidget(verdict);
    if (m_data->summary->needs)
        top->addWidget(needsLabel(*m_data->summary->needs));
    made.leaks = textLabel(QString());
    made.leaks->setTextFormat(Qt::RichText);
    made.leaks->setTextInteractionFlags(Qt::TextBrowserInteraction);
    connect(made.leaks, &QLabel::linkActivated, this, [this](const QString& target) {
        if (const auto other = text::pageOfLink(target))
            Q_EMIT openPage(*other, {});
    });
    top->addWidget(made.leaks);
    if (text::holdsWork(m_document) && !m_document.isFollowing())
        top->addWidget(workVerdict());
    page->addLayout(top);

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
    showLeaks(made);
    arrange(made);
    return made;
}

/// Of what ran when.
QWidget* SummaryPage::workVerdict()
{
    auto* verdict = new WorkVerdict(m_document.session(), m_palette[Palette::Role::Accent].name());
    connect(verdict, &QLabel::linkActivated, this, [this](const QString& target) {
        if (const auto other = text::pageOfLink(target))
            Q_EMIT openPage(*other, {});
    });
    return verdict;
}

void SummaryPage::showVerdict(QLabel& label, const std::vector<model::Sentence>& verdict) const
{
    label.setText(verdictHtml(verdict, m_palette[Palette::Role::Accent].name()));
    label.setAccessibleName(verdictPlain(verdict));
}

/// Below the verdict, where they are found: what is shown moves by that line.
void SummaryPage::showLeaks(const Content& content) const
{
    const auto device = m_document.device();
    const bool known = content.leaks && content.data && device && device->training && device->training->leaks
        && device->trace->device() == content.data->summary->device;
    if (!content.leaks)
        return;
    const QString line = known ? leaksLine(*device->training) : QString();
    content.leaks->setText(line);
    content.leaks->setVisible(!line.isEmpty());
}

void SummaryPage::addNextPart()
{
    struct Part {
        void (SummaryPage::*fill)(QVBoxLayout&, const SummaryData&);
        bool fact; ///< of the second column
    };
    static constexpr Part kParts[] = {
        { &SummaryPage::fillCurves, false },
        { &SummaryPage::fillDevices, false },
        { &SummaryPage::fillOutOfMemory, false },
        { &SummaryPage::fillAdvice, false },
        { &SummaryPage::fillLedger, false },
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
    if (inside->count() > 0) {
        (part.fact ? facts : story)->addWidget(widget);
        widget->show(); // now, not when the layout gets to it: what is made is there
        for (AdviceRows* rows : widget->findChildren<AdviceRows*>())
            showAdvice(*rows);
    } else {
        delete widget;
    }
    if (made.parts < std::size(kParts))
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

void SummaryPage::showContent(const Content& content)
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

void SummaryPage::arrange(const Content& content) const
{
    if (!content.columns)
        return;
    const double scale = scaleOf(font());
    // Figures do not shrink: what has no room beside them stands below.
    const int around = 4 * kMargin + m_scroll->verticalScrollBar()->sizeHint().width();
    const int least = content.columns->itemAt(0)->minimumSize().width() + content.columns->spacing()
        + qRound(kFactsWidth * scale);
    const bool two = width() >= std::max(qRound(kTwoColumns * scale), least + around);
    content.columns->setDirection(two ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    content.facts->setMinimumWidth(two ? qRound(kFactsWidth * scale) : 0);
    content.facts->setMaximumWidth(two ? qRound(kFactsWidth * scale) : QWIDGETSIZE_MAX);
}

void SummaryPage::resizeEvent(QResizeEvent*)
{
    arrange(m_shown);
    arrange(m_next);
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
        all += verdictPlain(needs->line) + QLatin1Char('\n');
    if (m_shown.leaks && !m_shown.leaks->text().isEmpty())
        all += QTextDocumentFragment::fromHtml(m_shown.leaks->text()).toPlainText() + QLatin1Char('\n');
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
