// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/steps_view.h"

#include "model/analysis/summary/recorded_card.h"
#include "model/analysis/training/steps/evidence_words.h"
#include "views/models/document/training_words.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/widgets/empty_notice.h"
#include "views/widgets/flow_layout.h"
#include "views/widgets/legend.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/segmented.h"
#include "views/widgets/training/steps_table.h"

#include <QComboBox>
#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QSvgGenerator>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <utility>

namespace strata::views {

namespace {

constexpr int kNumberWidth = 64, kNarrowestSteps = 160, kLowest = 96; // before scaling

} // namespace

StepsView::StepsView(QWidget* parent)
    : QWidget(parent)
    , m_stepName(new QLabel(tr("&Step")))
    , m_step(new QSpinBox)
    , m_withName(new QLabel(tr("&Compared with")))
    , m_with(new QComboBox)
    , m_other(new QSpinBox)
    , m_modes(new Segmented(tr("Steps as"),
          { { tr("Side by side"), tr("Every step over its own events, all to the same scale") },
              { tr("Two steps"), tr("One step over another: the first of training over a usual one") },
              { tr("Numbers"), tr("As a table") } }))
    , m_legend(new Legend)
    , m_stack(new QStackedWidget)
    , m_multiples(new StepMultiples)
    , m_pair(new StepPair)
    , m_table(new PlainTableView)
    , m_notice(new EmptyNotice)
{
    setAccessibleName(tr("Steps"));
    for (QSpinBox* box : { m_step, m_other }) {
        box->setButtonSymbols(QAbstractSpinBox::NoButtons);
        box->setFixedWidth(scaled(kNumberWidth, font()));
    }
    m_stepName->setProperty("muted", true);
    m_stepName->setBuddy(m_step);
    m_withName->setProperty("muted", true);
    m_withName->setBuddy(m_with);
    m_with->setAccessibleName(tr("Step to compare with"));
    m_step->setAccessibleName(tr("Step"));
    m_other->setAccessibleName(tr("Number of the step to compare with"));
    offerOthers();
    m_with->setCurrentIndex(static_cast<int>(With::Median));
    m_table->setAccessibleName(tr("Steps in numbers"));

    auto* toolRow = new QWidget;
    toolRow->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    auto* tools = new FlowLayout(toolRow); // it does not decide how narrow a window may get
    tools->setContentsMargins(0, 0, 0, 0);
    tools->setSpacings(kGrid, kGrid / 2);
    tools->addWidget(m_modes);
    tools->addWidget(m_stepName);
    tools->addWidget(m_step);
    tools->addWidget(m_withName);
    tools->addWidget(m_with);
    tools->addWidget(m_other);
    m_stack->addWidget(m_multiples);
    m_stack->addWidget(m_pair);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_notice);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(toolRow);
    layout->addWidget(m_legend);
    layout->addWidget(m_stack, 1);
    setMinimumSize(scaled(kNarrowestSteps, font()), scaled(kLowest, font())); // all of it can be scrolled
    setFocusProxy(m_multiples);

    connect(m_modes, &Segmented::changed, this, &StepsView::showMode);
    connect(m_with, &QComboBox::currentIndexChanged, this, &StepsView::showOther);
    connect(m_other, &QSpinBox::valueChanged, this, &StepsView::showOther);
    connect(m_step, &QSpinBox::valueChanged, this, [this](int number) {
        if (const auto row = rowOf(number))
            choose(*row);
    });
    connect(m_multiples, &StepMultiples::rowChosen, this, &StepsView::choose);
    connect(m_multiples, &StepMultiples::hovered, this, &StepsView::hovered);
    connect(m_pair, &StepPair::hovered, this, &StepsView::hovered);
    connect(m_pair, &StepPair::instantChosen, this, &StepsView::instantChosen);
    connect(m_table, &PlainTableView::sourceRowChosen, this, &StepsView::choose);
    showMode();
}

void StepsView::setDevice(std::shared_ptr<const DeviceData> device, bool more)
{
    m_more = more;
    const auto stepsOf = [](const std::shared_ptr<const DeviceData>& of) {
        return of && of->training ? of->training->steps : nullptr;
    };
    const auto steps = stepsOf(device);
    const bool any = steps && !steps->steps.empty();
    const bool goesOn = m_device && device && device->follows(*m_device);
    const bool same = goesOn && steps == stepsOf(m_device); // whatever generation they are shown with
    m_device = std::move(device);
    if (same && any && (m_figures || m_job.running()))
        return;
    if (!goesOn || !any) {
        m_job.cancel();
        if (m_figures)
            showFigures(nullptr);
    }
    if (!any)
        return showNotice();
    m_job.start([device = m_device](const JobContext&) { return stepFigures(device); },
        [this](std::shared_ptr<const StepFigures> figures) { showFigures(std::move(figures)); });
}

void StepsView::showFigures(std::shared_ptr<const StepFigures> figures)
{
    const auto before = std::exchange(m_figures, std::move(figures));
    const bool goesOn = before && m_figures && m_figures->device->follows(*before->device);
    m_multiples->setFigures(m_figures);
    m_pair->setFigures(m_figures);
    auto table = m_figures ? std::make_shared<const StepsTable>(m_figures) : nullptr;
    if (goesOn) {
        m_table->goOn(std::move(table));
    } else {
        m_table->setSource(std::move(table));
        m_chosen.reset();
    }
    if (m_figures) {
        // Steps that the program does not name have numbers below 0, which nobody asks for.
        int first = std::numeric_limits<int>::max(), last = 0;
        for (const auto& row : m_figures->rows)
            if (row.step->shownNumber()) {
                first = std::min(first, static_cast<int>(row.step->number));
                last = std::max(last, static_cast<int>(row.step->number));
            }
        first = std::min(first, last);
        const QSignalBlocker quiet(m_step), quietToo(m_other);
        m_step->setRange(first, last);
        m_other->setRange(first, last);
        offerOthers();
    }
    mark(selectedRow());
    showMode();
    showNotice();
    Q_EMIT shown();
}

/// What a step is compared with, in the order of With. The list may be open: its items stay.
void StepsView::offerOthers()
{
    const QSignalBlocker quiet(m_with);
    const auto offer
        = [this](With which, const QString& name, std::optional<std::size_t> row, const QString& tip) {
              const int at = static_cast<int>(which);
              if (at == m_with->count())
                  m_with->addItem({});
              m_with->setItemText(
                  at, row ? tr("%1 (%2)").arg(name, text::stepNumber(*m_figures->rows[*row].step)) : name);
              m_with->setItemData(at, tip, Qt::ToolTipRole);
          };
    const StepFigures none, &known = m_figures ? *m_figures : none;
    offer(With::Nothing, tr("nothing"), {}, {});
    offer(With::Median, tr("the median"), known.medianSteady,
        tr("Of %1 steps of training after the warm-up the one with the median peak")
            .arg(text::count(known.steady)));
    offer(With::First, tr("the first"), known.firstTraining, tr("The first step of training"));
    offer(With::Highest, tr("the highest"), known.highest, tr("The one with the highest peak"));
    offer(With::Other, tr("step…"), {}, {});
}

/// None: no step has that number.
std::optional<std::size_t> StepsView::rowOf(int number) const
{
    if (!m_figures)
        return std::nullopt;
    const auto& rows = m_figures->rows;
    const auto row
        = std::ranges::find(rows, number, [](const model::StepMemory& each) { return each.step->number; });
    return row == rows.end() ? std::nullopt : std::optional(static_cast<std::size_t>(row - rows.begin()));
}

std::optional<std::size_t> StepsView::otherRow() const
{
    if (!m_figures)
        return std::nullopt;
    switch (static_cast<With>(m_with->currentIndex())) {
    case With::Median:
        return m_figures->medianSteady;
    case With::First:
        return m_figures->firstTraining;
    case With::Highest:
        return m_figures->highest;
    case With::Other:
        return rowOf(m_other->value());
    case With::Nothing:
        break;
    }
    return std::nullopt;
}

QString StepsView::otherName() const
{
    const auto row = otherRow();
    if (!row)
        return {};
    const QString step = text::stepName(*m_figures->rows[*row].step);
    switch (static_cast<With>(m_with->currentIndex())) {
    case With::Median:
        return tr("%1, the median of %2 after the warm-up").arg(step, text::count(m_figures->steady));
    case With::First:
        return tr("%1, the first of training").arg(step);
    case With::Highest:
        return tr("%1, the highest").arg(step);
    default:
        return step;
    }
}

std::optional<std::size_t> StepsView::subject() const
{
    if (!m_figures)
        return std::nullopt;
    return m_chosen ? m_chosen : std::optional(m_figures->firstTraining.value_or(0));
}

void StepsView::compareWith(With which)
{
    m_with->setCurrentIndex(static_cast<int>(which));
}

void StepsView::setMode(Mode mode)
{
    m_modes->choose(mode);
    showMode();
}

StepsView::Mode StepsView::mode() const
{
    return static_cast<Mode>(m_modes->chosen());
}

void StepsView::showMode()
{
    const bool any = m_figures != nullptr, pair = any && mode() == Pair, numbers = mode() == Numbers;
    m_modes->setVisible(any);
    m_stepName->setVisible(pair);
    m_step->setVisible(pair);
    m_withName->setVisible(any && !numbers);
    m_with->setVisible(any && !numbers);
    m_legend->setVisible(any && !numbers);
    QWidget* const shown[] = { m_multiples, m_pair, m_table };
    m_stack->setCurrentWidget(any ? shown[mode()] : m_notice);
    setFocusProxy(numbers ? static_cast<QWidget*>(m_table)
            : pair        ? static_cast<QWidget*>(m_step)
                          : m_multiples);
    showOther();
}

void StepsView::showOther()
{
    m_other->setVisible(
        m_figures && mode() != Numbers && m_with->currentIndex() == static_cast<int>(With::Other));
    if (m_figures) {
        const auto over = otherRow();
        m_multiples->setOther(over);
        const auto step = subject();
        {
            const QSignalBlocker quiet(m_step);
            m_step->setValue(static_cast<int>(m_figures->rows[*step].step->number));
        }
        m_pair->setRows(step, over == step ? std::nullopt : over);
        m_legend->setEntries(stepLegend(m_palette, m_figures->phases,
                                 mode() == Pair && over == step ? QString() : otherName()),
            m_palette);
    }
}

QString StepsView::headText() const
{
    if (!m_figures)
        return {};
    const auto& steps = m_figures->steps();
    const auto trained = std::ranges::count(steps.steps, model::StepKind::Train, &model::TrainingStep::kind);
    const bool probably = trained > 0 && !model::isSure(steps.certainty());
    return (probably ? tr("Probably <b>%1</b> of training, %2") : tr("<b>%1</b> of training, %2"))
        .arg(
            text::counted(trained, tr("1 step"), tr("%1 steps")), text::said(model::evidenceSentence(steps)));
}

void StepsView::showNotice()
{
    EmptyNotice::Text text;
    const QString recordAgain
        = m_device ? text::utf8(model::recordAgain(m_device->trace->recording())) : QString();
    if (!m_device || m_more)
        text.title = tr("Looking for steps…");
    else if (!m_device->training || !m_device->training->steps)
        text = { tr("Nobody looked for steps"),
            m_device->training ? text::said(m_device->training->refusal) : tr("The search was cancelled."),
            {}, {} };
    else if (m_device->trace->eventCount() == 0)
        text = { tr("No steps are known"),
            tr("No events were recorded, and steps are made of them. Record the program from its start:"),
            recordAgain, {}, tr("Or call this in it before the training loop:"), text::recordLine() };
    else
        text = { tr("No steps are known"),
            tr("No range of an optimizer, no named step and no stack tells where a step ends, and nothing "
               "comes and goes in a rhythm. This records what autograd does at each event:"),
            recordAgain, {}, tr("Or name the steps in the program:"), text::stepLines() };
    m_notice->setText(text);
}

void StepsView::setSelection(const std::optional<EventRange>& selection)
{
    m_selection = selection;
    mark(selectedRow());
}

/// Of the step that all of what is selected lies in.
std::optional<std::size_t> StepsView::selectedRow() const
{
    if (!m_figures || !m_selection)
        return std::nullopt;
    const auto row = m_figures->rowAt(std::max<model::EventIndex>(m_selection->first, 0));
    return row && m_selection->last <= m_figures->rows[*row].step->last ? row : std::nullopt;
}

void StepsView::mark(std::optional<std::size_t> row)
{
    if (std::exchange(m_chosen, row) == row)
        return;
    m_multiples->setChosen(row);
    m_table->setCurrentSourceRow(row ? std::optional(static_cast<std::uint32_t>(*row)) : std::nullopt);
    showOther();
}

void StepsView::choose(std::size_t row)
{
    if (!m_figures || row >= m_figures->rows.size())
        return;
    mark(row);
    const model::TrainingStep& step = *m_figures->rows[row].step;
    Q_EMIT rangeChosen({ step.first, step.last });
}

void StepsView::setColours(const Palette& palette)
{
    m_palette = palette;
    m_multiples->setColours(palette);
    m_pair->setColours(palette);
    m_table->setColours(palette);
    showOther();
}

QString StepsView::copyText() const
{
    if (mode() == Numbers)
        return m_table->copyText();
    return m_figures && m_chosen ? m_multiples->describe(*m_chosen).join(QLatin1Char('\n')) : QString();
}

bool StepsView::writeCsv(QIODevice& out) const
{
    return m_table->writeCsv(out);
}

QWidget* StepsView::pictureWidget()
{
    return m_figures ? m_stack->currentWidget() : this;
}

bool StepsView::saveSvg(const QString& path, const QString& title)
{
    if (!m_figures || mode() == Numbers)
        return false;
    QWidget& shown = mode() == Pair ? static_cast<QWidget&>(*m_pair) : *m_multiples->viewport();
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(shown.size());
    svg.setViewBox(shown.rect());
    svg.setTitle(title);
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    painter.setFont(shown.font());
    if (mode() == Pair)
        m_pair->paintOn(painter, true);
    else
        m_multiples->paintOn(painter, true);
    return painter.end();
}

QString StepsView::commandLine(const QString& path, int device)
{
    return QStringLiteral("strata steps %1 --device %2")
        .arg(text::shellQuoted(path), QString::number(device));
}

} // namespace strata::views
