// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/dry_run_content.h"

#include "views/pages/dryrun/dry_run_page.h"

#include <QStandardPaths>
#include <QVBoxLayout>

namespace strata::views {

namespace {

QString recordingsFolder()
{
    return QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation)
        + QStringLiteral("/dryruns");
}

} // namespace

ContentKind DryRunContent::kind()
{
    return { .id = QLatin1String(kId),
        .menuText = tr("&Dry Run a Program…"),
        .buttonText = tr("Dry run"),
        .about = tr("What a program would need, and on which card it fits, without a GPU"),
        .iconName = QStringLiteral("dryrun"),
        .key = QKeySequence(Qt::CTRL | Qt::Key_R),
        .make = [](const ContentContext& context) { return new DryRunContent(context); } };
}

DryRunContent::DryRunContent(const ContentContext& context, QWidget* parent)
    : WindowContent(parent)
    , m_page(new DryRunPage(context.settings, commandLineProgram(), recordingsFolder()))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_page);
    connect(m_page, &DryRunPage::openRecording, this,
        [this](const QString& path) { Q_EMIT fileWanted(path, false); });
    connect(m_page, &DryRunPage::backRequested, this, &DryRunContent::leaveWanted);
    connect(m_page, &DryRunPage::copied, this,
        [this](const QString& what) { Q_EMIT flash(tr("copied: %1").arg(what)); });
    connect(m_page, &DryRunPage::commandChanged, this, &DryRunContent::changed);
    connect(m_page, &DryRunPage::runningChanged, this, [this] {
        Q_EMIT rearranged();
        if (m_page->outcome() && !isVisible())
            sayEnded();
    });
}

QString DryRunContent::buttonText() const
{
    return m_page->running() ? tr("Dry run (running)") : QString();
}

void DryRunContent::setPalette(const Palette& palette)
{
    m_page->setPalette(palette);
}

QList<Actions::Section> DryRunContent::sections() const
{
    return { { title(), m_page->actions() } };
}

QString DryRunContent::copyText() const
{
    return m_page->copyText();
}

QString DryRunContent::commandLine() const
{
    return m_page->commandLine();
}

void DryRunContent::enter(const QString& behind)
{
    m_page->setBackTo(behind);
}

void DryRunContent::takeKeyboard()
{
    m_page->focusForm();
}

/// A run that ended while something else was shown.
void DryRunContent::sayEnded()
{
    const DryRunOutcome& outcome = *m_page->outcome();
    const DryRunVerdict verdict = verdictOf(outcome);
    const DryRunWords words = wordsOf(outcome);
    const bool good = verdict == DryRunVerdict::Fits || verdict == DryRunVerdict::Cancelled;
    Q_EMIT noticed({ .kind = good ? Notice::Kind::Info : Notice::Kind::Warning,
        .what = tr("The dry run ended. %1").arg(words.plainVerdict()),
        .hint = words.more,
        .button = tr("Show"),
        .action = [this] { Q_EMIT showWanted(); } });
}

} // namespace strata::views
