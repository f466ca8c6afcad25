// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/attach_content.h"

#include "views/models/programs/dry_run_job.h"
#include "views/pages/attach/attach_page.h"

#include <QMessageBox>
#include <QPushButton>
#include <QVBoxLayout>

namespace strata::views {

ContentKind AttachContent::kind()
{
    return { .id = QLatin1String(kId),
        .menuText = tr("&Attach to a Process…"),
        .buttonText = tr("Attach"),
        .about = tr("Watch the memory of a training process while it runs"),
        .iconName = QStringLiteral("attach"),
        .key = QKeySequence(Qt::CTRL | Qt::Key_L),
        .make = [](const ContentContext&) { return new AttachContent(commandLineProgram()); } };
}

AttachContent::AttachContent(const QString& program, QWidget* parent)
    : WindowContent(parent)
    , m_page(new AttachPage)
    , m_inject(program)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_page);
    connect(m_page, &AttachPage::placeWanted, this,
        [this](const QString& place) { Q_EMIT fileWanted(place, false); });
    connect(m_page, &AttachPage::injectWanted, this, [this](qint64 process) { m_inject.ask(process); });
    connect(&m_inject, &InjectJob::planned, this, &AttachContent::confirm);
    connect(&m_inject, &InjectJob::begun, this,
        [this](qint64 process) { Q_EMIT fileWanted(QStringLiteral("live:%1").arg(process), false); });
    connect(&m_inject, &InjectJob::refused, this, [this](const QString& what, const QString& hint) {
        Q_EMIT noticed({ .kind = Notice::Kind::Warning, .what = what, .hint = hint });
    });
    connect(&m_inject, &InjectJob::runningChanged, this, &AttachContent::statusChanged);
    connect(m_page, &AttachPage::backRequested, this, &AttachContent::leaveWanted);
    connect(m_page, &AttachPage::changed, this, &AttachContent::changed);
}

/// A recorder goes into somebody's program: never without a yes.
void AttachContent::confirm(qint64 process, const QStringList& sentences)
{
    QMessageBox box(QMessageBox::NoIcon, tr("Record process %1").arg(process),
        tr("Record process %1 from now on?").arg(process), QMessageBox::Cancel, window());
    box.setInformativeText(sentences.join(QStringLiteral("\n\n")));
    const QPushButton* const yes = box.addButton(tr("Record From Now On"), QMessageBox::AcceptRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    if (box.clickedButton() == yes)
        m_inject.begin(process);
}

QString AttachContent::statusText() const
{
    return m_inject.running() ? tr("bringing the recorder in") : QString();
}

void AttachContent::setPalette(const Palette& palette)
{
    m_page->setPalette(palette);
}

QString AttachContent::copyText() const
{
    return m_page->copyText();
}

QString AttachContent::commandLine() const
{
    return m_page->commandLine();
}

void AttachContent::enter(const QString& behind)
{
    m_page->setBackTo(behind);
}

void AttachContent::takeKeyboard()
{
    m_page->focusList();
}

} // namespace strata::views
