// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_page.h"

#include "views/pages/parts/document_texts.h"
#include "views/pages/timeline/timeline_texts.h"
#include "views/style/icons.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/legend.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/segmented.h"
#include "views/widgets/timeline/lane_words.h"
#include "views/widgets/timeline/mark_words.h"
#include "views/widgets/timeline/roofline_chart.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <utility>

namespace strata::views {

namespace {

constexpr int kGrowMs = 500; ///< between two pictures of what goes on
constexpr int kFindWidth = 160, kNarrowestLanes = 160, kLowestLanes = 240; // before scaling
constexpr int kRows = 4,
              kChartRows = 11; // that the lower part is high at least, without the chart and with it

} // namespace

TimelinePage::TimelinePage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_sentence(new QLabel)
    , m_how(new QLabel)
    , m_find(new QLineEdit)
    , m_found(new QLabel)
    , m_parts(new QStackedWidget)
    , m_splitter(new QSplitter(Qt::Vertical))
    , m_lanes(new LanesView)
    , m_legend(new Legend)
    , m_addedLine(new AddedMemoryLine(m_adder))
    , m_kinds(new Segmented(tr("Table"),
          { { tr("Idle"), tr("Why the GPU was idle") },
              { tr("Operators"), tr("By their time on the CPU and the GPU") },
              { tr("Named"), tr("What the program names with record_function, by its own time") },
              { tr("Kernels"), tr("By their time") }, { tr("Copies"), tr("Copies and sets, by their time") },
              { tr("Calls"), tr("Of the runtime and the driver, by their time") },
              { tr("Roofline"), tr("What operators make of the GPU, and what limits them") },
              { tr("Collectives"), tr("Communication between GPUs, by its time") },
              { tr("Syncs"), tr("Calls that wait for the GPU, by their time") },
              { tr("Data"), tr("Waiting for the DataLoader") },
              { tr("Steps"), tr("What each took, beside their median; Enter measures one") } }))
    , m_by(new Segmented(tr("Rows of operators"),
          { { tr("By name"), tr("All calls of an operator in one row") },
              { tr("By shapes"), tr("Calls with other shapes of inputs in rows of their own") } }))
    , m_range(new QLabel)
    , m_roofSaid(new QLabel)
    , m_roofline(new RooflineChart)
    , m_lack(new EmptyNotice)
    , m_table(new PlainTableView)
    , m_notice(new EmptyNotice)
{
    setAccessibleName(title());
    auto* upper = new QWidget;
    auto* picture = new QVBoxLayout(upper);
    picture->setContentsMargins(0, 0, 0, 0);
    picture->setSpacing(kGrid / 2);
    picture->addWidget(m_addedLine);
    picture->addLayout(makeAdding());
    picture->addWidget(m_lanes, 1);
    m_splitter->addWidget(upper);
    m_splitter->addWidget(makeLower());
    m_splitter->setSizes({ 420, 230 });
    m_splitter->setStretchFactor(0, 2);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setObjectName(QStringLiteral("timeline")); // under which the window remembers it
    m_parts->addWidget(m_splitter);
    m_parts->addWidget(m_notice);
    m_parts->setMinimumSize(scaled(kNarrowestLanes, font()), scaled(kLowestLanes, font()));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    layout->setSpacing(kGrid);
    layout->addWidget(makeHead());
    layout->addWidget(m_parts, 1);
    setFocusPolicy(Qt::StrongFocus);

    m_growing.setSingleShot(true);
    m_growing.setInterval(kGrowMs);
    connect(&m_growing, &QTimer::timeout, this, &TimelinePage::makeLanes);
    follow(m_making);
    follow(m_summing);
    connect(m_roofline, &RooflineChart::hovered, this, &Page::hoverText);
    connect(m_roofline, &RooflineChart::rowOpened, this, [this](quint32 row) {
        m_table->setCurrentSourceRow(row);
        openRow(row);
    });
    connect(m_table, &PlainTableView::sourceRowChosen, this, [this](quint32 row) {
        if (m_shown && !m_shown->workOf(row).empty())
            m_roofline->setCurrent(row);
    });
    connect(m_find, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_lanes->find(text);
        showTexts();
    });
    connect(m_find, &QLineEdit::returnPressed, this, [this] { walkFound(true); });
    connect(m_lanes, &LanesView::hovered, this, &Page::hoverText);
    connect(m_lanes, &LanesView::historyChanged, this, &Page::historyChanged);
    connect(m_lanes, &LanesView::chosen, this, [this](quint32 span) {
        Q_EMIT focusChanged(Focus::onWork(text::workDetails(*m_lanes->data(), span)));
    });
    connect(m_lanes, &LanesView::markChosen, this, [this](quint32 mark) {
        const MarkTrack& marks = m_lanes->data()->marks();
        Q_EMIT focusChanged(Focus::onWork(text::markDetails(marks[mark], marks.timeOf(mark))));
    });
    connect(m_lanes, &LanesView::orderChanged, this,
        [this] { m_document.viewState().setTrackOrder(m_lanes->order()); });
    const auto arrange = [this] { m_lanes->setOrder(m_document.viewState().trackOrder()); };
    connect(&document.viewState(), &ViewState::userChanged, this, arrange);
    arrange();
    connect(m_lanes, &LanesView::measuredChanged, this, &TimelinePage::request);
    connect(m_kinds, &Segmented::changed, this,
        [this](int kind) { showTable(static_cast<WorkTable::Kind>(kind)); });
    connect(m_by, &Segmented::changed, this, &TimelinePage::request);
    connect(m_table, &PlainTableView::sourceRowOpened, this, &TimelinePage::openRow);
    connect(&document, &Document::stateChanged, this, &TimelinePage::showSession);
    connect(&document, &Document::progressChanged, this, &TimelinePage::showTexts);
    addPageAction(tr("Find by name"), { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F) },
        [this] { m_find->setFocus(Qt::ShortcutFocusReason); });
    addPageAction(tr("Next found"), { Qt::Key_BracketRight }, [this] { walkFound(true); });
    addPageAction(tr("Previous found"), { Qt::Key_BracketLeft }, [this] { walkFound(false); });
    addPageAction(
        tr("Save as Chrome Trace…"), { Qt::CTRL | Qt::ALT | Qt::Key_S }, [this] { askWhereToSave(); });
    connect(&m_saving, &BackgroundJob::failed, this, &Page::failed);
    addTrackActions();
    addJumpActions();
    showSession();
}

/// Of the lane of the piece that is chosen.
void TimelinePage::addTrackActions()
{
    const auto add = [this](const QString& text, const QKeySequence& key, auto&& act) {
        addPageAction(
            text, { key },
            [this, act] {
                if (const auto track = m_lanes->currentTrack())
                    act(*m_lanes, *track);
            },
            m_lanes);
    };
    add(tr("Move lane up"), Qt::CTRL | Qt::Key_Up,
        [](LanesView& lanes, std::size_t track) { lanes.moveTrack(track, -1); });
    add(tr("Move lane down"), Qt::CTRL | Qt::Key_Down,
        [](LanesView& lanes, std::size_t track) { lanes.moveTrack(track, 1); });
    add(tr("Pin lane to top, or unpin it"), Qt::CTRL | Qt::SHIFT | Qt::Key_Up,
        [](LanesView& lanes, std::size_t track) { lanes.setPinned(track, !lanes.isPinned(track)); });
    addPageAction(
        tr("Reset Order of Lanes"), { Qt::CTRL | Qt::SHIFT | Qt::Key_O }, [this] { m_lanes->resetOrder(); });
}

QWidget* TimelinePage::makeHead()
{
    m_sentence->setTextFormat(Qt::RichText);
    m_sentence->setWordWrap(true);
    m_sentence->setFont(sized(font(), kVerdictPx));
    m_sentence->setAccessibleName(tr("Verdict"));
    m_how->setWordWrap(true);
    m_how->setFont(sized(font(), kAxisPx));
    m_how->setProperty("muted", true);
    m_find->setPlaceholderText(tr("Find by name"));
    m_find->setAccessibleName(tr("Find by name"));
    m_find->setClearButtonEnabled(true);
    m_find->setFixedWidth(scaled(kFindWidth, font()));
    m_found->setProperty("muted", true);
    m_found->setFont(sized(font(), kAxisPx));
    m_found->setAlignment(Qt::AlignRight);
    auto* verdict = new QVBoxLayout;
    verdict->setSpacing(kGrid / 2);
    verdict->addWidget(m_sentence);
    verdict->addWidget(m_how);
    verdict->addStretch();
    auto* search = new QVBoxLayout;
    search->setSpacing(2);
    search->addWidget(m_find);
    search->addWidget(m_found);
    search->addStretch();
    auto* head = new QWidget;
    auto* layout = new QHBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kMargin);
    layout->addLayout(verdict, 1);
    layout->addLayout(search);
    return head;
}

QWidget* TimelinePage::makeLower()
{
    m_range->setProperty("muted", true);
    m_range->setFont(sized(font(), kAxisPx));
    m_table->setAccessibleName(tr("In numbers"));
    m_roofSaid->setTextFormat(Qt::RichText);
    m_roofSaid->setWordWrap(true);
    m_roofSaid->setAccessibleName(tr("What operators make of the GPU"));
    auto* beside = new QSplitter(Qt::Horizontal);
    beside->addWidget(m_roofline);
    beside->addWidget(m_lack);
    beside->addWidget(m_table);
    beside->setStretchFactor(2, 1);
    beside->setSizes({ 380, 380, 640 });
    beside->setChildrenCollapsible(false);
    beside->setObjectName(QStringLiteral("roofline")); // under which the window remembers it
    m_kinds->setProperty("many", true);
    m_by->setProperty("compact", true);
    m_by->hide();
    auto* of = new QHBoxLayout; // what is shown below
    of->setSpacing(kMargin);
    of->addWidget(m_by, 0, Qt::AlignLeft);
    of->addWidget(m_range, 1);
    auto* lower = new QWidget;
    auto* layout = new QVBoxLayout(lower);
    layout->setContentsMargins(0, kGrid / 2, 0, 0);
    layout->setSpacing(kGrid / 2);
    layout->addWidget(m_kinds, 0, Qt::AlignLeft);
    layout->addLayout(of);
    layout->addWidget(m_roofSaid);
    layout->addWidget(beside, 1);
    lower->setMinimumHeight(scaled(kRows * kRowHeight, font()));
    return lower;
}

QString TimelinePage::absence() const
{
    return m_document.recording() && !text::holdsWork(m_document) ? text::noWorkReason() : QString();
}

QString TimelinePage::commandLine() const
{
    if (m_document.path().isEmpty())
        return {};
    QString line = QStringLiteral("strata timeline %1").arg(text::shellQuoted(m_document.path()));
    if (m_adder.added())
        line += QLatin1Char(' ') + text::shellQuoted(m_adder.added()->path);
    if (by() == model::OperatorsBy::NameAndShapes)
        line += QStringLiteral(" --shapes");
    if (const auto range = m_lanes->measured())
        line += QStringLiteral(" --from t:%1 --to t:%2")
                    .arg(range->begin / 1e9, 0, 'f', 9)
                    .arg(range->end / 1e9, 0, 'f', 9);
    return line;
}

void TimelinePage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    m_lanes->setColours(palette);
    m_table->setColours(palette);
    m_roofline->setColours(palette);
    m_addedLine->setColours(palette);
    m_add->setIcon(icon(QStringLiteral("open"), palette));
    m_legend->setEntries(
        m_lanes->data() ? workLegend(palette, *m_lanes->data()) : std::vector<Legend::Entry>(), palette);
}

void TimelinePage::resetView()
{
    m_lanes->showAll();
    m_lanes->measure(std::nullopt);
    if (m_find->text().isEmpty())
        m_lanes->mark({});
    showTexts();
}

bool TimelinePage::busy() const
{
    return m_making.running() || m_summing.running();
}

void TimelinePage::showSession()
{
    const auto session = m_document.session();
    if (session == m_session)
        return showTexts();
    m_session = session;
    // What goes on is shown as it was until there is more of it.
    if (m_document.isFollowing() && m_lanes->data() && session)
        return m_growing.isActive() || m_making.running() ? void() : m_growing.start();
    m_adder.setTrace(text::holdsWork(m_document) && !m_document.isFollowing() ? session : nullptr);
    m_growing.stop();
    m_making.cancel();
    m_summing.cancel();
    m_figures = nullptr;
    m_shown = nullptr;
    m_table->setSource(nullptr);
    showRoofline();
    m_lanes->setData(nullptr);
    makeLanes();
    showTexts();
}

void TimelinePage::makeLanes()
{
    const auto session = m_session;
    if (!session || !text::holdsWork(m_document))
        return;
    m_making.start(
        [session, added = m_adder.added()](const JobContext&) { return LanesData::of(session, added); },
        [this, session](std::shared_ptr<const LanesData> made) {
            m_lanes->grow(std::move(made));
            setPalette(colours());
            m_lanes->find(m_find->text());
            request();
            if (session != m_session)
                m_growing.start();
        });
}

std::optional<model::TimeSpan> TimelinePage::measured() const
{
    const auto measured = m_lanes->measured();
    if (!measured)
        return std::nullopt;
    const std::int64_t startNs = m_lanes->data()->tracks().startNs();
    return model::TimeSpan{ startNs + static_cast<std::int64_t>(measured->begin),
        startNs + static_cast<std::int64_t>(measured->end) };
}

void TimelinePage::request()
{
    const auto shown = m_lanes->data();
    if (!shown)
        return;
    m_summing.start([shown, range = measured(), by = by()](
                        const JobContext&) { return WorkFigures::of(shown, range, by); },
        [this](WorkFigures figures) { showFigures(std::move(figures)); });
}

model::OperatorsBy TimelinePage::by() const
{
    return m_by->chosen() == 1 ? model::OperatorsBy::NameAndShapes : model::OperatorsBy::Name;
}

void TimelinePage::setOperatorsBy(model::OperatorsBy by)
{
    m_by->choose(by == model::OperatorsBy::NameAndShapes ? 1 : 0);
    request();
}

void TimelinePage::showFigures(WorkFigures figures)
{
    const bool tellsShapes = figures.lanes->tellsShapes();
    m_by->setChoiceEnabled(
        1, tellsShapes, tr("The trace tells no shapes of inputs: record with record_shapes=True"));
    if (!tellsShapes)
        m_by->choose(0);
    m_figures = std::make_shared<const WorkFigures>(std::move(figures));
    m_addedLine->showPeaks(*m_figures);
    showTable(static_cast<WorkTable::Kind>(m_kinds->chosen()));
    showTexts();
}

void TimelinePage::showTable(WorkTable::Kind kind)
{
    m_kinds->choose(static_cast<int>(kind));
    m_by->setVisible(kind == WorkTable::Kind::Operators);
    m_shown = m_figures ? WorkTable::of(kind, m_figures) : nullptr;
    m_table->setSource(m_shown);
    showRoofline();
}

void TimelinePage::showRoofline()
{
    const bool isShown = m_kinds->chosen() == static_cast<int>(WorkTable::Kind::Roofline) && m_figures;
    const auto lack = isShown ? noRoofline(*m_figures) : std::nullopt;
    if (lack)
        m_lack->setText(*lack);
    m_roofline->setFigures(isShown && !lack ? m_figures : nullptr);
    m_lack->setVisible(lack.has_value());
    m_roofline->setVisible(isShown && m_roofline->pointCount() > 0);
    m_splitter->widget(1)->setMinimumHeight(
        scaled((m_roofline->pointCount() > 0 ? kChartRows : kRows) * kRowHeight, font()));
    m_table->setVisible(!lack || m_figures->report.roofline.knownCalls > 0);
    m_roofSaid->setText(isShown && !lack ? timelineRoofline(*m_figures) : QString());
    m_roofSaid->setVisible(!m_roofSaid->text().isEmpty());
    if (!isShown && std::exchange(m_marksRow, false) && m_find->text().isEmpty())
        m_lanes->mark({});
}

void TimelinePage::showTexts()
{
    const bool isThere = m_lanes->data() != nullptr;
    const EmptyNotice::Text why = isThere ? EmptyNotice::Text{} : timelineNotice(m_document);
    if (!isThere)
        m_notice->setText(why);
    showAdding();
    setFocusProxy(isThere ? m_lanes : nullptr);
    m_parts->setCurrentWidget(isThere ? static_cast<QWidget*>(m_splitter) : m_notice);
    m_sentence->setText(m_figures ? timelineVerdict(*m_figures) : isThere ? tr("Adding it up…") : QString());
    m_how->setText(m_figures ? timelineSteps(*m_figures) : QString());
    m_sentence->setVisible(isThere);
    m_how->setVisible(isThere && !m_how->text().isEmpty());
    m_find->setVisible(isThere);
    m_range->setText(m_figures ? timelineRange(*m_figures) : QString());
    m_range->setVisible(!m_range->text().isEmpty());
    const QString wanted = m_find->text();
    m_found->setText(!isThere || (wanted.isEmpty() && m_lanes->foundCount() == 0) ? QString()
            : m_lanes->foundCount() == 0
            ? tr("nothing has that in its name")
            : tr("%1 found; ] and [ walk").arg(text::count(m_lanes->foundCount())));
}

/// Something else is in the details: nothing here is chosen then.
void TimelinePage::showFocus(const Focus& focus)
{
    m_focus = focus;
    if (focus.kind != Focus::Kind::Work)
        m_lanes->setCurrent(std::nullopt);
}

void TimelinePage::walkFound(bool forward)
{
    if (!m_lanes->data())
        return;
    if (const auto next = m_lanes->nextFound(forward)) {
        goToPiece(*next);
    }
}

void TimelinePage::find(const QString& text)
{
    m_find->setText(text);
}

/// What a row is the sum of stands out, and the first of it is shown.
void TimelinePage::walkWork(std::span<const std::uint32_t> pieces)
{
    m_find->clear();
    m_marksRow = true;
    m_lanes->mark(pieces);
    m_lanes->setCurrent(std::nullopt);
    showTexts();
    walkFound(true);
}

/// To where the longest wait begins, or to what bears the name.
void TimelinePage::openRow(quint32 row)
{
    if (!m_shown || !m_lanes->data())
        return;
    if (const auto pieces = m_shown->workOf(row); !pieces.empty()) {
        m_roofline->setCurrent(row);
        return walkWork(pieces);
    }
    if (const auto name = m_shown->nameOf(row)) {
        find(text::utf8(m_lanes->data()->strings()[*name]));
        return walkFound(true);
    }
    if (const auto ns = m_shown->exampleNs(row)) {
        const auto at = static_cast<double>(*ns - m_lanes->data()->tracks().startNs());
        const auto length = static_cast<double>(m_shown->longestNs(row));
        m_lanes->showSpan({ at - length, at + 2 * length });
        m_lanes->measure(Span{ at, at + length });
    }
}

QString TimelinePage::copyText() const
{
    return m_table->copyText();
}

bool TimelinePage::hasCsv() const
{
    return m_shown != nullptr;
}

bool TimelinePage::writeCsv(QIODevice& out) const
{
    return m_table->writeCsv(out);
}

QWidget* TimelinePage::pictureWidget()
{
    return m_lanes;
}

QString TimelinePage::sentenceText() const
{
    return m_sentence->text();
}

QString TimelinePage::rooflineText() const
{
    return m_roofSaid->text();
}

QString TimelinePage::foundText() const
{
    return m_found->text();
}

} // namespace strata::views
