// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_page.h"
#include "model/whatif/ask/change_kind.h"

#include "model/trace/producer.h"
#include "views/models/whatif/what_if_curves.h"
#include "views/models/whatif/what_if_words.h"
#include "views/pages/whatif/what_if_areas.h"
#include "views/pages/whatif/what_if_confirm_panel.h"
#include "views/pages/whatif/what_if_confirmed_card.h"
#include "views/pages/whatif/what_if_plan_panel.h"
#include "views/pages/whatif/what_if_texts.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/legend.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/table_footer.h"
#include "views/widgets/whatif/run_chart.h"
#include "views/widgets/whatif/what_if_tables.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QSvgGenerator>
#include <QTimer>
#include <QVBoxLayout>

namespace strata::views {

namespace {

constexpr int kChangesWidth = 344, kSmallHeight = 680; // before scaling

/// What is asked, where it is short.
QString onTopText(const model::Scenario& asked)
{
    constexpr std::size_t kNamed = 4;
    return asked.changes.size() <= kNamed ? text::scenario(asked) : WhatIfPage::tr("all that is asked");
}

} // namespace

WhatIfPage::WhatIfPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_sentence(new QLabel)
    , m_evidence(new QLabel)
    , m_said(new KeptHeightLayout)
    , m_stack(new QStackedWidget(this)) // parents first: with a new one, all below a widget is polished anew
    , m_splitter(new QSplitter(Qt::Horizontal, m_stack))
    , m_reset(linkButton(tr("As recorded")))
    , m_copySetting(linkButton(tr("Copy setting")))
    , m_copyCommand(linkButton(tr("Copy command")))
    , m_pictures(new PictureArea)
    , m_chart(new PeakChart)
    , m_run(new RunChart)
    , m_legend(new Legend)
    , m_choice(new Segmented(tr("Shown below"), belowChoices()))
    , m_list(new QComboBox)
    , m_plan(new WhatIfPlanPanel(m_whatIf))
    , m_confirm(new WhatIfConfirmPanel(m_whatIf))
    , m_about(captionLabel({}))
    , m_tables(new QStackedWidget)
    , m_notice(new EmptyNotice)
    , m_footer(new TableFooter)
{
    setAccessibleName(title());
    for (QLabel* label : { m_sentence, m_evidence }) {
        label->setTextFormat(Qt::RichText);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
        connect(label, &QLabel::linkActivated, this, [this](const QString& link) {
            if (const auto event = text::eventOfLink(link)) {
                m_document.viewState().select(EventRange{ *event, *event });
                Q_EMIT focusChanged(Focus::onEvent(*event));
                Q_EMIT openPage(QStringLiteral("memory"), *event);
            }
        });
    }
    m_sentence->setFont(sized(font(), kVerdictPx));
    m_sentence->setAccessibleName(tr("Verdict"));
    m_sentence->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_evidence->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_evidence->setProperty("muted", true);
    m_evidence->setAccessibleName(tr("How sure it is"));

    m_splitter->addWidget(makeChanges());
    m_splitter->addWidget(makeAnswer());
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setSizes({ scaled(kChangesWidth, font()), scaled(2 * kChangesWidth, font()) });
    m_splitter->setObjectName(QStringLiteral("whatif")); // under which the window remembers it
    m_stack->addWidget(m_splitter);
    m_stack->addWidget(m_notice);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin / 2);
    layout->setSpacing(kGrid);
    m_said->setSpacing(kGrid);
    m_said->addWidget(m_sentence);
    m_said->addWidget(m_evidence);
    m_said->addStretch();
    layout->addLayout(m_said);
    layout->addWidget(m_stack, 1);
    m_foot = makeFoot();
    layout->addWidget(m_foot);
    setFocusProxy(&m_cards.front()->onSwitch());

    m_footer->watch(&m_whatIf.predicting(), tr("Predicting"));
    m_footer->watch(&m_whatIf.readingJob(), tr("Reading another recording"));
    m_footer->watch(&m_whatIf.tryingJob(), tr("Trying single changes"));
    m_footer->watch(&m_plan->planner().job(), tr("Planning"));
    for (const BackgroundJob* job : { &m_whatIf.predicting(), &m_whatIf.readingJob(), &m_whatIf.tryingJob(),
             &m_plan->planner().job(), &m_plan->planner().looking(), &m_drawing })
        follow(*job);
    connect(&m_whatIf, &WhatIf::answerChanged, this, &WhatIfPage::showAnswer);
    connect(&m_whatIf, &WhatIf::alternativesChanged, this, &WhatIfPage::showAlternatives);
    connect(&m_whatIf, &WhatIf::itemsChanged, this, &WhatIfPage::refreshCards);
    connect(&m_whatIf, &WhatIf::workingChanged, this, [this] {
        refreshCards();
        m_plan->refresh();
        m_confirm->refresh();
        showTexts();
        Q_EMIT busyChanged();
    });
    connect(m_plan, &WhatIfPlanPanel::taken, this, &WhatIfPage::setScenario);
    connect(m_plan, &WhatIfPlanPanel::announced, m_footer, &TableFooter::announce);
    connect(m_confirm, &WhatIfConfirmPanel::changed, this, &WhatIfPage::showAnswer);
    connect(m_confirm, &WhatIfConfirmPanel::runningChanged, this, [this] {
        showTexts();
        Q_EMIT busyChanged();
    });
    for (WhatIfCard* each : m_cards)
        if (const auto* confirmed = dynamic_cast<WhatIfConfirmedCard*>(each))
            connect(confirmed, &WhatIfConfirmedCard::confirmAsked, this, [this] { setBelow(Confirm); });
    connect(m_notice, &EmptyNotice::buttonPressed, &document, &Document::replayAgain);
    connect(&document.viewState(), &ViewState::deviceChanged, this, &WhatIfPage::showDevice);
    for (const auto signal : { &Document::outlineReady, &Document::stateChanged })
        connect(&document, signal, this, &WhatIfPage::showDevice);
    connect(&document, &Document::deviceReady, this, &WhatIfPage::showDevice);
    connect(&document, &Document::progressChanged, this, [this] {
        refreshCards();
        showTexts();
    });
    addPageAction(tr("Next Table Below"), { Qt::Key_B },
        [this] { setBelow(static_cast<Below>((m_tables->currentIndex() + 1) % m_tables->count())); });
    addPageAction(tr("Everything as Recorded"), { Qt::Key_D }, [this] { setScenario({}); });
    addPageAction(tr("Copy the Setting"), { Qt::Key_C }, [this] { copySetting(); });
    showDevice();
}

PlainTableView& WhatIfPage::table(Below below) const
{
    if (below == Plan)
        return m_plan->table();
    return static_cast<PlainTableView&>(*m_tables->widget(below));
}

void WhatIfPage::setBelow(Below below)
{
    m_choice->choose(below);
    m_list->setCurrentIndex(below);
    m_tables->setCurrentIndex(below);
    showAbout();
}

void WhatIfPage::showAbout()
{
    const int below = m_tables->currentIndex();
    const auto& answer = m_whatIf.answer();
    const bool isRefused = answer && !answer->prediction;
    QString about;
    if (below == Cards && isRefused && m_confirm->confirmationOf(*answer) == nullptr)
        about = tr("Without an answer it is not known which cards it fits on.");
    else if (below == Blocks && isRefused)
        about = tr("Without an answer it is not known what becomes of blocks.");
    else if (below == Blocks && answer && answer->prediction->uses.empty())
        about = tr("Nothing changes: the program asks for the same blocks.");
    else if (below == Alternatives && m_whatIf.alternativesOn())
        about
            = tr("Each of these on top of %1.").arg(onTopText(m_whatIf.alternativesOn()->question.scenario));
    else if (below == Alternatives && isRefused && !m_whatIf.scenario().changesNothing())
        about = tr("What is asked has no estimate: each of these alone, instead of it.");
    m_about->setText(about);
    // In a small window its heading says it.
    const bool isSmall = height() < scaled(kSmallHeight, font());
    m_about->setVisible(!about.isEmpty() && !(isSmall && below == Alternatives));
}

QString WhatIfPage::aboutText() const
{
    return m_about->text();
}

void WhatIfPage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    m_chart->setColours(palette);
    m_run->setColours(palette);
    m_legend->setEntries(m_run->legend(), palette);
    for (const Below below : { Alternatives, Peaks, Cards, Blocks, Plan })
        table(below).setColours(palette);
    showTexts();
}

bool WhatIfPage::busy() const
{
    return m_whatIf.working() || m_whatIf.reading() || m_whatIf.trying() || m_drawing.running()
        || m_plan->planner().job().running() || m_plan->planner().looking().running() || m_confirm->running()
        || m_document.replaying() || m_document.analysing();
}

void WhatIfPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (m_late)
        showDevice();
}

/// In a small window the figures of the other peaks are those of the table.
void WhatIfPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    const bool isSmall = height() < scaled(kSmallHeight, font());
    m_chart->setReservedAlone(isSmall);
    showAbout();
    const int lines = 2 * QFontMetrics(m_sentence->font()).lineSpacing() + m_said->spacing()
        + QFontMetrics(m_evidence->font()).lineSpacing();
    m_said->setLeast(isSmall ? 0 : lines);
}

void WhatIfPage::showDevice()
{
    m_late = inBackground();
    if (m_late)
        return;
    const bool asks = whatIfAbsence(m_document).title.isEmpty();
    m_said->forget();
    m_whatIf.setDevice(asks ? m_document.device() : nullptr, m_document.path());
    refreshCards();
    m_plan->refresh();
    m_confirm->refresh();
    showAnswer();
    showAlternatives();
}

void WhatIfPage::refreshCards()
{
    for (WhatIfCard* card : m_cards)
        card->refresh();
}

void WhatIfPage::collect()
{
    const auto isTold = [](const model::Scenario& asked) { // by an estimate
        return model::firstOf(asked.changes, &model::ChangeKind::isToldByRunningAlone) == nullptr;
    };
    model::Scenario scenario;
    for (const WhatIfCard* card : m_cards)
        card->addTo(scenario);
    const auto takesCalls = [](const model::Scenario& asked) {
        return model::firstOf(asked.changes, &model::ChangeKind::isToldByCallsAlone) != nullptr;
    };
    const bool goesToConfirm = isTold(m_whatIf.scenario()) && !isTold(scenario);
    const bool goesToCalls = !takesCalls(m_whatIf.scenario()) && takesCalls(scenario);
    m_whatIf.setScenario(std::move(scenario));
    if (goesToConfirm)
        setBelow(Confirm);
    if (goesToCalls)
        m_confirm->setWay(WhatIfConfirmPanel::Calls);
    refreshCards(); // what others ask for goes by what is asked
    m_plan->refresh();
    m_confirm->refresh();
    showTexts();
}

void WhatIfPage::setScenario(const model::Scenario& scenario)
{
    for (WhatIfCard* card : m_cards)
        card->show(scenario);
    collect();
    if (const auto asked = std::ranges::find_if(m_cards, &WhatIfCard::isOn); asked != m_cards.end())
        QTimer::singleShot(0, *asked, [this, card = *asked] { m_area->ensureWidgetVisible(card, 0, kGrid); });
}

void WhatIfPage::takeAlternative(std::uint32_t row)
{
    const auto source = std::dynamic_pointer_cast<const AlternativesTable>(table(Alternatives).source());
    if (source && row < source->rowCount())
        setScenario(source->alternative(row).all);
}

void WhatIfPage::showAnswer()
{
    const auto& answer = m_whatIf.answer();
    if (!answer) {
        m_chart->setPicture(std::nullopt);
        drawCurves();
        for (const Below below : { Peaks, Cards, Blocks })
            table(below).setSource(nullptr);
        return showTexts();
    }
    const WhatIfRun& recorded = answer->question.recordings.front().run;
    PeakPicture picture{ .recorded = answer->recorded,
        .predicted = {},
        .least = {},
        .most = {},
        .capacityBytes = answer->question.scenario.capacityBytes,
        .recordedCapacityBytes = recorded.report ? recorded.report->capacityBytes : std::nullopt,
        .ranOn = recordedCardOf(answer->question),
        .hasCards = model::acceleratorOf(recorded.trace->recording()) == model::Accelerator::Cuda,
        .isAsked = !answer->question.scenario.changesNothing() };
    if (answer->prediction) {
        picture.predicted = answer->prediction->predicted;
        picture.least = answer->prediction->least;
        picture.most = answer->prediction->most;
        picture.isAsked |= !picture.predicted; // of a recording that is a prediction with bounds alone
    }
    const Confirmation* const confirmed = m_confirm->confirmationOf(*answer);
    if (confirmed != nullptr) {
        picture.predicted = picture.least = picture.most = confirmed->changed;
        picture.isConfirmed = true;
    }
    m_chart->setPicture(picture);
    drawCurves();
    table(Peaks).setSource(std::make_shared<const PeaksTable>(picture));
    const auto cards = [&]() -> std::shared_ptr<const FittingCardsTable> { // by what the verdict goes by
        const model::Card* const ranOn = recordedCardOf(answer->question);
        if (confirmed != nullptr)
            return std::make_shared<const FittingCardsTable>(
                confirmed->changed.reservedBytesPeak, false, ranOn);
        if (!answer->prediction)
            return nullptr;
        return std::make_shared<const FittingCardsTable>(
            answer->prediction->roomBytes(), answer->prediction->atLeastBytes.has_value(), ranOn);
    };
    table(Cards).setSource(cards());
    table(Blocks).setSource(
        answer->prediction ? std::make_shared<const RulesTable>(answer->prediction->uses) : nullptr);
    showTexts();
    Q_EMIT busyChanged();
}

/// What is requested at once, what is reserved once a replay has told it.
void WhatIfPage::drawCurves()
{
    const std::shared_ptr<const WhatIfAnswer> answer = m_whatIf.answer();
    const auto show = [this, answer](const std::shared_ptr<const WhatIfCurves>& curves) {
        const model::Scenario* scenario = answer ? &answer->question.scenario : nullptr;
        m_run->setCurves(curves, scenario != nullptr && !scenario->changesNothing(),
            scenario != nullptr ? scenario->capacityBytes : std::nullopt);
        m_legend->setEntries(m_run->legend(), m_palette);
    };
    const bool isEmpty = answer && answer->question.recordings.front().run.trace->eventCount() == 0;
    m_run->setAbsence(isEmpty ? tr("No events were recorded: there is no curve.") : QString());
    if (!answer || isEmpty) {
        m_drawing.cancel();
        return show(nullptr);
    }
    m_drawing.start([answer, show](const JobContext& context) {
        const model::Progress progress = context.forModel();
        const auto first = curvesOf(*answer, false, progress);
        if (!first)
            return;
        context.deliver([show, first] { show(first); });
        if (answer->isFirstLook() || !first->isPredicted)
            return;
        if (const auto all = curvesOf(*answer, true, progress))
            context.deliver([show, all] { show(all); });
    });
}

void WhatIfPage::showAlternatives()
{
    const auto& all = m_whatIf.alternatives();
    table(Alternatives)
        .setSource(all.empty()
                ? nullptr
                : std::make_shared<const AlternativesTable>(all, m_whatIf.alternativesOn() != nullptr));
    showTexts();
}

void WhatIfPage::showTexts()
{
    const EmptyNotice::Text text = whatIfAbsence(m_document);
    m_notice->setText(text);
    m_stack->setCurrentWidget(text.title.isEmpty() ? static_cast<QWidget*>(m_splitter) : m_notice);
    const auto& answer = m_whatIf.answer();
    const bool any = text.title.isEmpty() && answer;
    m_sentence->setVisible(any);
    m_foot->setVisible(text.title.isEmpty());
    const Confirmation* const confirmed = any ? m_confirm->confirmationOf(*answer) : nullptr;
    const QString evidence = confirmed ? confirmedText(*confirmed)
        : any                          ? whatIfEvidence(*answer)
                                       : QString();
    m_evidence->setText(evidence);
    m_evidence->setVisible(!evidence.isEmpty());
    if (any)
        m_sentence->setText(confirmed ? confirmedVerdict(*answer, *confirmed) : whatIfVerdict(*answer));
    showAbout();
    m_copySetting->setEnabled(m_whatIf.scenario().settings.has_value());
    const model::Scenario& now = m_whatIf.scenario();
    m_reset->setEnabled(!now.changes.empty() || now.settings || now.capacityBytes);
    m_copyCommand->setEnabled(m_whatIf.question().has_value());
    const bool waits = any && m_whatIf.ready() != WhatIf::Ready::All && m_document.analysing();
    m_footer->setText(m_confirm->running() ? tr("A confirmation runs: it ends with this window")
            : waits ? tr("The steps of the training are looked for: until then, batches wait")
                    : QString());
}

void WhatIfPage::copySetting()
{
    if (!m_whatIf.scenario().settings)
        return;
    const QString variable = text::settingsVariable(*m_whatIf.scenario().settings,
        model::settingsVariable(model::acceleratorOf(m_document.session()->recording())));
    QApplication::clipboard()->setText(variable);
    m_footer->announce(tr("copied %1").arg(variable));
}

void WhatIfPage::copyCommand()
{
    const QString command = commandLine();
    if (command.isEmpty())
        return;
    QApplication::clipboard()->setText(command);
    m_footer->announce(tr("copied the command"));
}

QString WhatIfPage::sentenceText() const
{
    return m_sentence->text();
}

QString WhatIfPage::evidenceText() const
{
    return m_evidence->text();
}

QString WhatIfPage::commandLine() const
{
    if (m_tables->currentIndex() == Plan)
        if (const QString plan = m_plan->commandLine(); !plan.isEmpty())
            return plan;
    if (const QString confirmed = m_confirm->confirmedBy(); !confirmed.isEmpty())
        return confirmed;
    const auto question = m_whatIf.question();
    return question ? question->commandLine() : QString();
}

QString WhatIfPage::copyText() const
{
    if (m_tables->currentIndex() == Confirm)
        return m_confirm->lineText();
    return table(static_cast<Below>(m_tables->currentIndex())).copyText();
}

bool WhatIfPage::hasCsv() const
{
    return m_tables->currentIndex() != Confirm
        && table(static_cast<Below>(m_tables->currentIndex())).source() != nullptr;
}

bool WhatIfPage::writeCsv(QIODevice& out) const
{
    return hasCsv() && table(static_cast<Below>(m_tables->currentIndex())).writeCsv(out);
}

QWidget* WhatIfPage::pictureWidget()
{
    return hasSvg() ? m_pictures : this;
}

bool WhatIfPage::saveSvg(const QString& path)
{
    if (!hasSvg())
        return false;
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(m_pictures->size());
    svg.setViewBox(m_pictures->rect());
    svg.setResolution(m_pictures->logicalDpiX());
    svg.setTitle(title());
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    painter.setFont(m_chart->font());
    painter.fillRect(m_pictures->rect(), m_palette[Palette::Role::Surface]);
    const auto at = [&](const auto& part) {
        painter.save();
        painter.translate(part.pos());
        part.paintOn(painter);
        painter.restore();
    };
    at(*m_chart);
    at(*m_run);
    at(*m_legend);
    return painter.end();
}

} // namespace strata::views
