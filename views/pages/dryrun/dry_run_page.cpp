// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/dryrun/dry_run_page.h"

#include "views/models/programs/shell_words.h"
#include "views/pages/dryrun/dry_run_form.h"
#include "views/pages/dryrun/dry_run_output.h"
#include "views/pages/dryrun/dry_run_result_view.h"
#include "views/style/icons.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QAccessible>
#include <QAction>
#include <QClipboard>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr int kFormWidth = 400; // before scaling: the form beside a scroll bar
constexpr int kTextWidth = 600;
constexpr int kWidest = 1280;
constexpr int kSecondMs = 500;
constexpr int kMarkPx = 20;
constexpr qsizetype kPathShown = 56; // characters

/// Small, runs wherever there is PyTorch, and asks for 12 GiB.
const QString kExample = QStringLiteral("python3 -c \"import torch; torch.ones(3 << 30, device='cuda')\"");

QScrollArea* scrolling(QWidget* content)
{
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->viewport()->setAutoFillBackground(false);
    if (content) {
        scroll->setWidget(content);
        content->setAutoFillBackground(false); // the scroll area switches it on
    }
    return scroll;
}

/// A name for the recording of a command: that of its script, else of its program.
QString nameOf(const DryRunRequest& request)
{
    QString name;
    for (const QString& word : splitCommand(request.command).words) {
        if (name.isEmpty() || word.endsWith(QLatin1String(".py")))
            name = QFileInfo(word).completeBaseName();
        if (word.endsWith(QLatin1String(".py")))
            break;
    }
    static const QRegularExpression odd(QStringLiteral("[^A-Za-z0-9_.-]"));
    return name.remove(odd).left(40);
}

} // namespace

DryRunPage::DryRunPage(
    QSettings& settings, const QString& program, const QString& recordings, QWidget* parent)
    : QWidget(parent)
    , m_recordings(recordings)
    , m_recent(settings)
    , m_job(program)
    , m_back(new QPushButton)
    , m_form(new DryRunForm(m_recent))
    , m_stack(new QStackedWidget)
    , m_mark(new QLabel)
    , m_verdict(textLabel({}))
    , m_more(textLabel({}, true))
    , m_path(textLabel({}, true))
    , m_open(new QPushButton(tr("Open in the Views")))
    , m_scroll(scrolling(nullptr))
    , m_outputButton(new QPushButton(tr("Output")))
    , m_output(new DryRunOutput)
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Dry run"));
    makeActions();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(makeLeft());
    row->addWidget(makeRight(), 1);

    connect(m_form, &DryRunForm::runRequested, this, &DryRunPage::run);
    connect(m_form, &DryRunForm::cancelRequested, this, &DryRunPage::cancel);
    connect(m_form, &DryRunForm::copyRequested, this, &DryRunPage::copyCommand);
    connect(m_form, &DryRunForm::changed, this, [this] {
        if (!running())
            m_form->setPrimary(true);
        Q_EMIT commandChanged();
    });
    connect(&m_job, &DryRunJob::outputWritten, this, [this] { m_output->append(m_job.output()); });
    connect(&m_job, &DryRunJob::progressed, this, &DryRunPage::showProgress);
    connect(&m_job, &DryRunJob::ended, this, &DryRunPage::showEnded);
    m_second.setInterval(kSecondMs);
    connect(&m_second, &QTimer::timeout, this, &DryRunPage::showProgress);
    if (const QList<DryRunRequest> recent = m_recent.all(); !recent.isEmpty())
        m_form->setRequest(recent.front());
    setBackTo({});
    updateActions();
}

DryRunPage::~DryRunPage() = default;

void DryRunPage::makeActions()
{
    const auto make = [this](const QString& text, const QKeySequence& key, auto what) {
        auto* action = new QAction(text, this);
        action->setShortcut(key);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, what);
        addAction(action);
        return action;
    };
    m_runAction = make(tr("Run the Command"), QKeySequence(Qt::CTRL | Qt::Key_Return), &DryRunPage::run);
    m_cancelAction = make(tr("Cancel the Run"), QKeySequence(Qt::CTRL | Qt::Key_Period), &DryRunPage::cancel);
    m_openAction = make(tr("Open the Recording in the Views"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O),
        &DryRunPage::openResult);
    m_outputAction = make(tr("Show or Hide the Output"), QKeySequence(Qt::CTRL | Qt::Key_E),
        [this] { showOutput(!m_outputButton->isChecked()); });
    m_backAction = make(tr("Back to the File"), QKeySequence(Qt::Key_Escape), &DryRunPage::backRequested);
}

QWidget* DryRunPage::makeLeft()
{
    m_back->setProperty("link", true);
    m_back->setCursor(Qt::PointingHandCursor);
    m_back->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    connect(m_back, &QPushButton::clicked, this, &DryRunPage::backRequested);
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(2 * kMargin, 2 * kGrid, 2 * kMargin, 2 * kMargin);
    column->setSpacing(kMargin);
    auto* top = new QHBoxLayout;
    top->addWidget(headingLabel(tr("Dry run"), kVerdictPx), 1);
    top->addWidget(m_back);
    column->addLayout(top);
    column->addWidget(m_form);
    column->addStretch(1);
    QScrollArea* scroll = scrolling(content);
    auto* left = new QWidget;
    left->setObjectName(QStringLiteral("formSide")); // as the style sheet knows it
    left->setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QVBoxLayout(left);
    layout->setContentsMargins(0, 0, 1, 0);
    layout->addWidget(scroll);
    left->setFixedWidth(scaled(kFormWidth, font()));
    return left;
}

QWidget* DryRunPage::makeRight()
{
    m_empty = makeEmpty();
    m_runPart = makeRun();
    m_stack->addWidget(scrolling(m_empty));
    m_stack->addWidget(m_runPart);
    return m_stack;
}

QWidget* DryRunPage::makeEmpty()
{
    auto* outer = new QWidget;
    auto* row = new QHBoxLayout(outer);
    row->setContentsMargins(4 * kGrid, 6 * kGrid, 4 * kGrid, 4 * kGrid);
    auto* column = new QVBoxLayout;
    column->setSpacing(kMargin);
    column->addWidget(headingLabel(tr("Will it fit? Ask before you rent the GPU."), kVerdictPx));
    column->addWidget(textLabel(tr(
        "A dry run runs your own program, unchanged, on a simulated card: PyTorch and its memory allocator "
        "are the real ones, only the GPU is not, so what the program needs is exact to the byte.")));
    column->addSpacing(kGrid);
    column->addWidget(textLabel(tr("An example, which asks for 12 GiB:"), true));
    auto* box = new QWidget;
    box->setObjectName(QStringLiteral("code"));
    box->setAttribute(Qt::WA_StyledBackground);
    auto* inside = new QHBoxLayout(box);
    inside->setContentsMargins(kMargin, kGrid, kGrid, kGrid);
    auto* code = new QLabel(kExample);
    code->setFont(codeFont(sized(font(), kAxisPx + 1)));
    code->setTextFormat(Qt::PlainText);
    code->setWordWrap(true);
    code->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    code->setAccessibleName(tr("A command to try"));
    inside->addWidget(code, 1);
    auto* use = new QPushButton(tr("Use This"));
    use->setToolTip(tr("Writes it into the form, for the card that is chosen there"));
    connect(use, &QPushButton::clicked, this, [this] {
        DryRunRequest request;
        request.command = kExample;
        request.device = m_form->request().device;
        m_form->setRequest(request);
        m_form->focusCommand();
    });
    inside->addWidget(use, 0, Qt::AlignVCenter);
    column->addWidget(box);
    column->addSpacing(kGrid);
    column->addWidget(
        textLabel(tr("It computes nothing: values are zeros and there are no times. Give the Python of the "
                     "environment that has your PyTorch (the CUDA build; no GPU and no driver are needed), "
                     "and a few steps to stop after."),
            true));
    column->addStretch();
    auto* held = new QWidget;
    held->setLayout(column);
    column->setContentsMargins(0, 0, 0, 0);
    held->setMaximumWidth(scaled(kTextWidth, font()));
    row->addStretch(1);
    row->addWidget(held, 100);
    row->addStretch(1);
    return outer;
}

QWidget* DryRunPage::makeRun()
{
    m_mark->setFixedSize(kMarkPx, kMarkPx);
    m_verdict->setFont(sized(font(), kVerdictPx));
    m_verdict->setTextFormat(Qt::RichText);
    m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    for (QLabel* text : { m_more, m_path }) {
        text->setTextFormat(Qt::PlainText);
        text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    m_open->setProperty("primary", true);
    m_open->setToolTip(tr("Shows the recording of the run in all views (Ctrl+Shift+O)"));
    connect(m_open, &QPushButton::clicked, this, &DryRunPage::openResult);
    m_outputButton->setCheckable(true);
    m_outputButton->setProperty("fold", true); // as the style sheet knows it
    m_outputButton->setToolTip(
        tr("What the program wrote, the last %1 lines (Ctrl+E)").arg(DryRunOutput::kMostLines));
    connect(m_outputButton, &QPushButton::toggled, this, &DryRunPage::showOutput);

    auto* verdict = new QHBoxLayout;
    verdict->setSpacing(kGrid);
    verdict->addWidget(m_mark, 0, Qt::AlignTop);
    auto* words = new QVBoxLayout;
    words->setSpacing(kGrid / 2);
    words->addWidget(m_verdict);
    words->addWidget(m_more);
    verdict->addLayout(words, 1);
    auto* next = new QHBoxLayout;
    next->setSpacing(kMargin);
    next->addWidget(m_open);
    m_path->setWordWrap(false);
    m_path->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // it has no say in the page's width
    next->addWidget(m_path, 1);

    auto* body = new QWidget;
    body->setMaximumWidth(scaled(kWidest, font()));
    m_runLayout = new QVBoxLayout(body);
    m_runLayout->setContentsMargins(2 * kMargin, 2 * kGrid, 2 * kMargin, kMargin);
    m_runLayout->setSpacing(kMargin);
    m_runLayout->addLayout(verdict);
    m_runLayout->addLayout(next);
    m_runLayout->addSpacing(kGrid / 2);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded); // of a table that is wider than the window
    m_runLayout->addWidget(m_scroll, 3);
    m_runLayout->addWidget(m_outputButton, 0, Qt::AlignLeft);
    m_runLayout->addWidget(m_output, 2);
    auto* part = new QWidget;
    auto* row = new QHBoxLayout(part);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(body, 100);
    row->addStretch(1);
    return part;
}

void DryRunPage::setPalette(const Palette& palette)
{
    m_palette = palette;
    m_form->setPalette(palette);
    m_output->setPalette(palette);
    m_back->setIcon(icon(QStringLiteral("back"), palette[Role::Accent]));
    showOutput(m_outputButton->isChecked());
    if (m_outcome)
        showResult();
}

void DryRunPage::setBackTo(const QString& fileName)
{
    m_back->setText(fileName.isEmpty() ? tr("Start") : tr("Back to the file"));
    m_back->setToolTip(
        fileName.isEmpty() ? tr("Back to the start page (Esc)") : tr("Back to %1 (Esc)").arg(fileName));
    m_backAction->setText(fileName.isEmpty() ? tr("Back to the Start Page") : tr("Back to the File"));
}

void DryRunPage::focusForm()
{
    m_form->focusCommand();
}

QString DryRunPage::commandLine() const
{
    return m_form->request().commandLine();
}

void DryRunPage::copyCommand()
{
    const QString line = commandLine();
    if (line.isEmpty())
        return;
    QGuiApplication::clipboard()->setText(line);
    Q_EMIT copied(line);
}

QString DryRunPage::copyText() const
{
    if (m_result)
        return m_result->asText();
    return m_outcome ? wordsOf(*m_outcome).plainVerdict() + QLatin1Char('\n') : QString();
}

/// The recording's place; makes room among the window's own.
QString DryRunPage::recordingPath(const DryRunRequest& request) const
{
    if (!request.output.isEmpty()) {
        const QString output = request.output.startsWith(QLatin1String("~/"))
            ? QDir::homePath() + request.output.mid(1)
            : request.output;
        return QDir(request.workingFolder()).absoluteFilePath(output);
    }
    QDir folder(m_recordings);
    if (!folder.mkpath(QStringLiteral(".")))
        return {};
    const QFileInfoList old = folder.entryInfoList(
        { QStringLiteral("*.strata"), QStringLiteral("*.pickle") }, QDir::Files, QDir::Time); // newest first
    for (qsizetype i = kMostRecordings - 1; i < old.size(); ++i)
        QFile::remove(old[i].filePath());
    const QString stamp = QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    return folder.absoluteFilePath(QStringLiteral("%1-%2.strata").arg(nameOf(request), stamp));
}

void DryRunPage::run()
{
    if (running())
        return;
    const DryRunRequest request = m_form->request();
    DryRunOutcome refused;
    refused.request = request;
    if (!m_job.start(request, recordingPath(request), refused.problem)) {
        m_output->begin();
        return showEnded(refused);
    }
    m_recent.add(request);
    m_outcome.reset();
    delete m_scroll->takeWidget();
    m_result = nullptr;
    m_output->begin();
    m_stack->setCurrentIndex(1);
    m_mark->setVisible(false);
    m_open->setVisible(false);
    m_path->setVisible(false);
    m_scroll->setVisible(false);
    m_more->setVisible(true);
    m_form->setRunning(true);
    m_second.start();
    showProgress();
    showOutput(true);
    updateActions();
    Q_EMIT runningChanged();
}

void DryRunPage::runOnEachCard()
{
    if (running() || !m_outcome)
        return;
    DryRunRequest request = m_outcome->request; // the form may say something else by now
    request.onEachCard = true;
    m_form->setRequest(request);
    run();
}

void DryRunPage::cancel()
{
    m_job.cancel();
}

void DryRunPage::openResult()
{
    if (m_outcome && !m_outcome->recording.isEmpty())
        Q_EMIT openRecording(m_outcome->recording);
}

void DryRunPage::showProgress()
{
    if (!running())
        return;
    const QString device = m_job.request().device.toHtmlEscaped();
    const QString elapsed = elapsedText(m_job.elapsedMs());
    m_verdict->setText(m_job.cancelling()
            ? tr("<b>Cancelling.</b> The program is asked to end, and killed if it does not. %1").arg(elapsed)
            : m_job.request().onEachCard
            ? tr("<b>Running</b> on a simulated %1, then on other cards: %2").arg(device, elapsed)
            : tr("<b>Running</b> on a simulated %1: %2").arg(device, elapsed));
    m_more->setText(m_job.progress().isEmpty() ? tr("looking for PyTorch") : m_job.progress());
}

void DryRunPage::showEnded(const DryRunOutcome& outcome)
{
    m_second.stop();
    m_outcome = outcome;
    m_stack->setCurrentIndex(1);
    m_form->setRunning(false);
    m_form->setPrimary(outcome.recording.isEmpty()); // one primary action at a time
    showResult();
    const DryRunVerdict verdict = verdictOf(outcome);
    showOutput(verdict != DryRunVerdict::Fits && verdict != DryRunVerdict::DoesNotFit);
    updateActions();
    QAccessibleEvent alert(m_verdict, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
    Q_EMIT runningChanged();
}

/// Verdict and figures of m_outcome.
void DryRunPage::showResult()
{
    const DryRunWords words = wordsOf(*m_outcome);
    m_verdict->setText(words.verdict);
    m_verdict->setAccessibleName(words.plainVerdict());
    m_more->setText(words.more);
    m_more->setVisible(!words.more.isEmpty());
    const DryRunVerdict verdict = verdictOf(*m_outcome);
    const bool good = verdict == DryRunVerdict::Fits;
    const bool bad = verdict == DryRunVerdict::DoesNotFit || verdict == DryRunVerdict::Failed
        || verdict == DryRunVerdict::NotStarted;
    m_mark->setPixmap(iconPixmap(good ? QStringLiteral("check")
            : bad                     ? QStringLiteral("error")
                                      : QStringLiteral("info"),
        m_palette[good ? Role::Good
                : bad  ? Role::Bad
                       : Role::TextMuted],
        kMarkPx, devicePixelRatioF()));
    m_mark->setVisible(true);
    const bool recording = !m_outcome->recording.isEmpty();
    m_open->setVisible(recording);
    m_path->setVisible(recording);
    m_path->setText(text::shortened(text::homeShort(m_outcome->recording), kPathShown, text::Keep::End));
    m_path->setToolTip(m_outcome->recording);

    const bool figures
        = m_outcome->result && (m_outcome->result->isFit() || m_outcome->result->run.touched());
    const int scrolled = m_scroll->verticalScrollBar()->value();
    delete m_scroll->takeWidget();
    m_result = figures ? new DryRunResultView(*m_outcome, m_palette) : nullptr;
    if (m_result) {
        m_scroll->setWidget(m_result);
        // The button that asks for it is gone as the run begins.
        connect(m_result, &DryRunResultView::eachCardRequested, this, &DryRunPage::runOnEachCard,
            Qt::QueuedConnection);
        m_result->setAutoFillBackground(false);
        m_scroll->verticalScrollBar()->setValue(scrolled);
    }
    m_scroll->setVisible(figures);
}

void DryRunPage::showOutput(bool shown)
{
    const QSignalBlocker blocker(m_outputButton);
    m_outputButton->setChecked(shown);
    m_outputButton->setIcon(
        icon(shown ? QStringLiteral("down") : QStringLiteral("forward"), m_palette[Role::Text]));
    m_output->setVisible(shown);
    // Without figures and output, what is there stays at the top.
    m_runLayout->setAlignment(shown || m_result ? Qt::Alignment() : Qt::AlignTop);
}

void DryRunPage::updateActions()
{
    m_runAction->setEnabled(!running());
    m_cancelAction->setEnabled(running());
    m_openAction->setEnabled(m_outcome && !m_outcome->recording.isEmpty());
    m_outputAction->setEnabled(m_stack->currentIndex() == 1);
}

} // namespace strata::views
