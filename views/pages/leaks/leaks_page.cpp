// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/leaks/leaks_page.h"

#include "model/analysis/training/leaks/leak_sites.h"
#include "views/pages/leaks/leak_texts.h"
#include "views/pages/tables/table_page.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/segmented.h"
#include "views/widgets/table_footer.h"
#include "views/widgets/training/leaks_table.h"
#include "views/widgets/training/steps_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QSvgGenerator>
#include <QVBoxLayout>

#include <algorithm>
#include <tuple>
#include <utility>

namespace strata::views {

namespace {

constexpr int kNarrowestTable = 160, kLowestTable = 240; // before scaling
constexpr std::size_t kMostPoints = 2'000; // of the whole device, as LeakSite::growth

/// The same site of another report of the session: what is remembered of it.
std::optional<std::size_t> sameSite(const model::LeakReport& report, const model::LeakSite& site)
{
    const auto same = std::ranges::find_if(report.sites, [&](const model::LeakSite& other) {
        // What grows in none of its blocks is of the whole device: its kind tells it.
        if (site.growth.empty() || other.growth.empty())
            return site.growth.empty() && other.growth.empty() && other.kind == site.kind;
        const auto place = [](const model::LeakSite& of) {
            return of.place
                ? std::optional(std::tuple(of.place->ordinal, of.place->requestedBytes, of.place->stream))
                : std::nullopt;
        };
        return other.stack == site.stack && place(other) == place(site);
    });
    return same == report.sites.end() ? std::nullopt
                                      : std::optional(static_cast<std::size_t>(same - report.sites.begin()));
}

} // namespace

LeaksPage::LeaksPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_sentence(new QLabel)
    , m_how(new QLabel)
    , m_modes(new Segmented(tr("Shown"),
          { { tr("Leaks"), tr("What grows from step to step (L)") },
              { tr("Steps"), tr("The steps themselves, side by side (S)") } }))
    , m_parts(new QStackedWidget)
    , m_splitter(new QSplitter(Qt::Vertical))
    , m_chartTitle(new QLabel)
    , m_chart(new GrowthChart)
    , m_ranked(new QStackedWidget)
    , m_sites(new PlainTableView)
    , m_none(new EmptyNotice)
    , m_about(new QWidget)
    , m_siteText(new QLabel)
    , m_survivors(new PlainTableView)
    , m_steps(new StepsView)
    , m_notice(new EmptyNotice)
    , m_footer(new TableFooter)
{
    setAccessibleName(title());
    m_sentence->setTextFormat(Qt::RichText);
    m_sentence->setWordWrap(true);
    m_sentence->setFont(sized(font(), kVerdictPx));
    m_sentence->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    m_sentence->setAccessibleName(tr("Verdict"));
    m_how->setWordWrap(true);
    m_how->setFont(sized(font(), kAxisPx));
    m_how->setProperty("muted", true);
    m_parts->addWidget(makeLeaksPart());
    m_parts->addWidget(m_steps);
    m_parts->addWidget(m_notice);
    m_parts->setMinimumSize(scaled(kNarrowestTable, font()), scaled(kLowestTable, font()));
    auto* head = new QHBoxLayout;
    head->setSpacing(kMargin);
    auto* verdict = new QVBoxLayout;
    verdict->setSpacing(kGrid / 2);
    verdict->addWidget(m_sentence);
    verdict->addWidget(m_how);
    verdict->addStretch();
    head->addLayout(verdict, 1);
    head->addWidget(m_modes, 0, Qt::AlignTop);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin / 2);
    layout->setSpacing(kGrid);
    layout->addLayout(head);
    layout->addWidget(m_parts, 1);
    layout->addWidget(m_footer);
    setFocusProxy(m_sites);

    follow(m_steps->job());
    ViewState& state = document.viewState();
    connect(m_sentence, &QLabel::linkActivated, this, [this](const QString& link) {
        if (const auto row = siteOfLink(link))
            chooseSite(*row);
    });
    connect(m_modes, &Segmented::changed, this, [this](int mode) { setMode(static_cast<Mode>(mode)); });
    connect(m_chart, &GrowthChart::hovered, this, &Page::hoverText);
    connect(m_chart, &GrowthChart::instantChosen, this, [this](model::EventIndex event) {
        m_document.viewState().select(EventRange{ event, event });
    });
    connect(m_sites, &PlainTableView::sourceRowChosen, this, &LeaksPage::chooseSite);
    connect(m_sites, &PlainTableView::sourceRowOpened, this, [this](quint32) {
        if (const model::LeakSite* const site = siteShown(); site && !site->growth.empty())
            Q_EMIT openPage(QStringLiteral("memory"), site->growth.back().event);
    });
    connect(m_notice, &EmptyNotice::buttonPressed, &document, &Document::analyseAgain);
    connect(m_steps, &StepsView::hovered, this, &Page::hoverText);
    connect(m_steps, &StepsView::rangeChosen, this,
        [this](const EventRange& range) { m_document.viewState().select(range); });
    connect(m_steps, &StepsView::instantChosen, this, [this](model::EventIndex event) {
        m_document.viewState().select(EventRange{ event, event });
        Q_EMIT focusChanged(Focus::onEvent(event));
    });
    connect(&state, &ViewState::selectionChanged, this, &LeaksPage::showSelection);
    connect(&state, &ViewState::deviceChanged, this, &LeaksPage::showDevice);
    connect(&document, &Document::deviceReady, this, &LeaksPage::showDevice);
    connect(&document, &Document::outlineReady, this, &LeaksPage::showDevice);
    connect(&document, &Document::stateChanged, this, &LeaksPage::showDevice);
    connect(&document, &Document::progressChanged, this, [this] {
        m_steps->setDevice(m_document.device(), m_document.analysing());
        showTexts();
        Q_EMIT busyChanged();
    });
    addPageAction(tr("Leaks"), { Qt::Key_L }, [this] { setMode(Leaks); });
    addPageAction(tr("Steps"), { Qt::Key_S }, [this] { setMode(Steps); });
    showDevice();
}

QWidget* LeaksPage::makeLeaksPart()
{
    auto* picture = new QWidget;
    auto* upper = new QVBoxLayout(picture);
    upper->setContentsMargins(0, 0, 0, kGrid / 2);
    upper->setSpacing(0);
    m_chartTitle->setTextFormat(Qt::RichText);
    m_chartTitle->setProperty("muted", true);
    upper->addWidget(m_chartTitle);
    upper->addWidget(m_chart, 1);
    m_sites->setAccessibleName(tr("What grows, ranked"));
    m_ranked->addWidget(m_sites);
    m_ranked->addWidget(m_none);

    m_siteText->setTextFormat(Qt::RichText);
    m_siteText->setWordWrap(true);
    m_siteText->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_siteText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_siteText->setAccessibleName(tr("The chosen site"));
    auto* reading = new QScrollArea;
    reading->setWidgetResizable(true);
    reading->setFrameShape(QFrame::NoFrame);
    reading->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    reading->setFocusPolicy(Qt::NoFocus);
    reading->setWidget(m_siteText);
    for (QWidget* ground : { reading->viewport(), static_cast<QWidget*>(m_siteText) })
        ground->setAutoFillBackground(false);
    m_survivors->setAccessibleName(tr("What is alive after the last step, by the step of its birth"));
    auto* right = new QWidget;
    auto* beside = new QVBoxLayout(right);
    beside->setContentsMargins(0, 0, 0, 0);
    beside->setSpacing(4);
    QLabel* heading = headingLabel(tr("Alive after the last step"));
    heading->setWordWrap(false);
    beside->addWidget(heading);
    beside->addWidget(m_survivors, 1);
    auto* lower = new QHBoxLayout(m_about);
    lower->setContentsMargins(0, kGrid, 0, 0);
    lower->setSpacing(2 * kMargin);
    lower->addWidget(reading, 1);
    lower->addWidget(right, 1);

    m_splitter->addWidget(picture);
    m_splitter->addWidget(m_ranked);
    m_splitter->addWidget(m_about);
    m_splitter->setSizes({ 200, 150, 170 });
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    m_splitter->setStretchFactor(2, 2);
    m_splitter->setChildrenCollapsible(false);
    // What is hidden or can be scrolled does not decide how low a window may get.
    for (QWidget* part : { static_cast<QWidget*>(m_ranked), m_about })
        part->setMinimumHeight(scaled(2 * kRowHeight, font()));
    m_splitter->setObjectName(QStringLiteral("leaks")); // under which the window remembers it
    return m_splitter;
}

void LeaksPage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    m_chart->setColours(palette);
    m_sites->setColours(palette);
    m_survivors->setColours(palette);
    m_steps->setColours(palette);
    showSite();
}

bool LeaksPage::busy() const
{
    return m_steps->job().running() || m_document.analysing();
}

void LeaksPage::setMode(Mode mode)
{
    m_modes->choose(mode);
    setFocusProxy(mode == Steps ? static_cast<QWidget*>(m_steps) : m_sites);
    showTexts();
}

void LeaksPage::showDevice()
{
    const auto device = m_document.device();
    const auto training = device ? device->training : nullptr;
    m_steps->setDevice(device, m_document.analysing());
    const auto before = std::exchange(m_training, training && training->leaks ? training : nullptr);
    const bool goesOn = before && m_device && device && device->follows(*m_device);
    m_device = device;
    if (!m_training) {
        m_site.reset();
        m_sites->setSource(nullptr);
        showSite();
    } else if (!before || before->leaks != m_training->leaks) {
        const auto kept
            = goesOn && m_site ? sameSite(*m_training->leaks, before->leaks->sites[*m_site]) : std::nullopt;
        m_sites->setSource(std::make_shared<const LeaksTable>(m_training));
        m_site = kept                          ? kept
            : m_training->leaks->sites.empty() ? std::nullopt
                                               : std::optional<std::size_t>(0);
        m_sites->setCurrentSourceRow(
            m_site ? std::optional(static_cast<std::uint32_t>(*m_site)) : std::nullopt);
        showSite();
    }
    showSelection();
    showTexts();
    Q_EMIT busyChanged();
}

const model::LeakSite* LeaksPage::siteShown() const
{
    return m_training && m_site ? &m_training->leaks->sites[*m_site] : nullptr;
}

GrowthSeries LeaksPage::seriesOf(const model::LeakSite* site) const
{
    GrowthSeries series;
    const model::LeakBoundaries ends
        = model::leakBoundaries(m_training->leaks->rounds ? *m_training->leaks->rounds : *m_training->steps);
    if (ends.count() == 0)
        return series;
    series.firstStep = ends.steps.front()->number;
    series.lastStep = ends.steps.back()->number;
    if (ends.warmup > 0)
        series.warmupLast = ends.steps[std::min(ends.warmup, ends.count()) - 1]->number;
    if (site) {
        for (const model::LeakGrowth& at : site->growth)
            series.points.push_back({ at.step, at.event, at.allocatedBytes, at.blocks });
        return series;
    }
    // Up to the last one, as LeakSite::growth.
    const std::size_t every = (ends.events.size() + kMostPoints - 1) / kMostPoints;
    for (std::size_t i = (ends.events.size() - 1) % every; i < ends.events.size(); i += every)
        series.points.push_back(
            { ends.steps[i]->number, ends.events[i], m_device->timeline->requested().at(ends.events[i]) });
    return series;
}

void LeaksPage::showSite()
{
    const model::LeakSite* const site = siteShown();
    m_about->setVisible(site != nullptr);
    m_survivors->setSource(site ? std::make_shared<const SurvivorsTable>(m_training, *m_site) : nullptr);
    if (!m_training || tooFewSteps(*m_training->leaks)) {
        m_chart->setSeries({});
        return;
    }
    // What grows in none of its blocks is seen in all that is requested.
    const bool own = site && !site->growth.empty();
    m_chart->setSeries(seriesOf(own ? site : nullptr));
    m_chartTitle->setText(own ? tr("Allocated at the ends of steps by <b>%1</b>")
                                    .arg(leakPlaceText(*m_training, *site).toHtmlEscaped())
                              : tr("Requested at the ends of steps, of the whole device"));
    m_siteText->setText(site ? leakSiteText(*m_training, *site, m_palette) : QString());
}

void LeaksPage::chooseSite(std::size_t row)
{
    if (!m_training || row >= m_training->leaks->sites.size())
        return;
    setMode(Leaks);
    m_site = row;
    m_sites->setCurrentSourceRow(static_cast<std::uint32_t>(row));
    showSite();
    chooseFocus();
}

/// The details show the stack of the site; where no block has it, one of its blocks, or where it was last
/// seen.
void LeaksPage::chooseFocus()
{
    const model::LeakSite* const site = siteShown();
    if (!site)
        return;
    const model::EventIndex event = site->growth.empty() ? -1 : site->growth.back().event;
    if (site->stack.valid() && m_device->bySite) {
        const model::GroupTable& sites = *m_device->bySite;
        // The stack of a segment may be of no block.
        if (const std::uint32_t group = sites.groupOfStack(site->stack); group < sites.count())
            return Q_EMIT focusChanged(Focus::onGroup(model::Grouping::Site, sites.keyOf(group), event));
    }
    if (!site->examples.empty())
        Q_EMIT focusChanged(
            Focus::onBlock(m_device->trace->sameBlock(*m_training->trace, site->examples.back()), event));
    else if (const auto& points = m_chart->series().points; !points.empty())
        Q_EMIT focusChanged(Focus::onEvent(points.back().event));
}

void LeaksPage::showSelection()
{
    const auto& selection = m_document.viewState().selection();
    m_chart->setInstant(selection && selection->isInstant() ? std::optional(selection->first) : std::nullopt);
    m_steps->setSelection(selection);
}

void LeaksPage::showTexts()
{
    EmptyNotice::Text text;
    const auto device = m_document.device();
    const bool steps = m_modes->chosen() == Steps;
    const TrainingData* const training = device ? device->training.get() : nullptr;
    const bool missing = steps ? !training || !training->steps : !m_training;
    if (!device)
        text = noticeWithoutDevice(m_document);
    else if (missing && training && !training->refusal.what.empty())
        text = { tr("Leaks could not be looked for"), text::said(training->refusal), {}, tr("Look Again") };
    else if (missing && !m_document.analysing() && !device->blocksIndex)
        text = { tr("Nobody looked for leaks"), tr("Indexing was cancelled. Open the file again."), {}, {} };
    else if (missing && !m_document.analysing())
        text = { tr("Nobody looked for leaks"), tr("The search was cancelled."), {}, tr("Look Again") };
    else if (missing && !steps)
        text = { tr("Looking for leaks…"),
            tr("First for the steps of the training, then for what grows from one to the next."), {}, {} };
    else if (m_training && !steps && m_training->leaks->sites.empty() && m_chart->series().points.empty())
        text = noLeaksNotice(*m_training);
    m_notice->setText(text);
    m_parts->setCurrentWidget(!text.title.isEmpty() ? m_notice
            : steps                                 ? static_cast<QWidget*>(m_steps)
                                                    : m_splitter);
    m_modes->setVisible(device != nullptr);
    m_sentence->setVisible(device && m_training);
    const QString how = device && m_training ? leaksFoundHow(*m_training) : QString();
    m_how->setText(how);
    m_how->setVisible(!how.isEmpty());
    m_footer->setVisible(device && m_training && !steps);
    if (!device || !m_training)
        return;
    m_sentence->setText(leaksVerdict(*m_training));
    m_footer->setText(m_training->refusal.what.empty()
            ? leaksFooter(*m_training)
            : tr("Not looked at again: %1").arg(text::said(m_training->refusal)));
    const bool any = !m_training->leaks->sites.empty();
    if (!any)
        m_none->setText(noLeaksNotice(*m_training));
    m_ranked->setCurrentWidget(any ? static_cast<QWidget*>(m_sites) : m_none);
}

QString LeaksPage::sentenceText() const
{
    return m_sentence->text();
}

QString LeaksPage::howText() const
{
    return m_how->text();
}

QString LeaksPage::siteText() const
{
    return m_siteText->text();
}

QString LeaksPage::copyText() const
{
    if (m_modes->chosen() == Steps)
        return m_steps->copyText();
    return (m_survivors->hasFocus() ? m_survivors : m_sites)->copyText();
}

bool LeaksPage::hasCsv() const
{
    if (m_modes->chosen() == Steps)
        return m_steps->figures() != nullptr;
    return m_sites->source() && m_sites->source()->rowCount() > 0;
}

bool LeaksPage::writeCsv(QIODevice& out) const
{
    if (m_modes->chosen() == Steps)
        return m_steps->writeCsv(out);
    return (m_survivors->hasFocus() ? m_survivors : m_sites)->writeCsv(out);
}

QWidget* LeaksPage::pictureWidget()
{
    if (m_modes->chosen() == Steps)
        return m_steps->pictureWidget();
    return hasSvg() ? static_cast<QWidget*>(m_chart) : this;
}

bool LeaksPage::hasSvg() const
{
    return m_modes->chosen() == Steps ? m_steps->figures() && m_steps->mode() != StepsView::Numbers
                                      : !m_chart->series().points.empty();
}

bool LeaksPage::saveSvg(const QString& path)
{
    if (!hasSvg())
        return false;
    if (m_modes->chosen() == Steps)
        return m_steps->saveSvg(path, title());
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(m_chart->size());
    svg.setViewBox(m_chart->rect());
    svg.setTitle(title());
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    m_chart->paintOn(painter);
    return painter.end();
}

QString LeaksPage::commandLine() const
{
    const auto device = m_document.device();
    if (!device)
        return {};
    if (m_modes->chosen() == Steps)
        return StepsView::commandLine(m_document.path(), device->trace->device());
    return QStringLiteral("strata leaks %1 --device %2")
        .arg(text::shellQuoted(m_document.path()), QString::number(device->trace->device()));
}

} // namespace strata::views
