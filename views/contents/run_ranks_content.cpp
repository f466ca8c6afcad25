// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/run_ranks_content.h"

#include "views/pages/timeline/run_ranks_page.h"
#include "views/shell/recent_files.h"
#include "views/widgets/empty_notice.h"
#include "views/widgets/timeline/rank_grid.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QVBoxLayout>

namespace strata::views {

ContentKind RunRanksContent::kind()
{
    return { .id = QLatin1String(kId),
        .menuText = tr("Compare Ran&ks…"),
        .buttonText = tr("Ranks"),
        .about = tr("Compare the traces of the ranks of a run: which one do the others wait for, and why"),
        .iconName = QStringLiteral("ranks"),
        .key = QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R),
        .make = [](const ContentContext& context) { return new RunRanksContent(context.recent); } };
}

RunRanksContent::RunRanksContent(RecentFiles& recent, QWidget* parent)
    : WindowContent(parent)
    , m_recent(recent)
    , m_page(new RunRanksPage)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_page);
    connect(m_page, &RunRanksPage::filesWanted, this, &RunRanksContent::choose);
    connect(m_page, &RunRanksPage::mergeWanted, this, &RunRanksContent::merge);
    connect(m_page, &RunRanksPage::fileWanted, this,
        [this](const QString& path) { Q_EMIT fileWanted(path, false); });
    connect(m_page, &RunRanksPage::backRequested, this, &RunRanksContent::leaveWanted);
    connect(m_page, &RunRanksPage::changed, this, &RunRanksContent::changed);
    connect(m_page, &RunRanksPage::hoverText, this, &RunRanksContent::hoverText);
}

void RunRanksContent::choose()
{
    const QStringList paths = QFileDialog::getOpenFileNames(this, tr("Traces of the Ranks of a Run"),
        m_recent.folder(), tr("Traces and recordings (*.gz *.json *.strata);;All files (*)"));
    if (paths.isEmpty())
        return;
    m_recent.setFolder(QFileInfo(paths.front()).absolutePath());
    open(paths);
}

void RunRanksContent::merge()
{
    const QString path = QFileDialog::getSaveFileName(this, tr("All Ranks as One Trace"),
        m_recent.folder() + QStringLiteral("/ranks.json"), tr("Chrome traces (*.json)"));
    if (!path.isEmpty())
        m_page->saveMerged(path);
}

void RunRanksContent::open(const QStringList& paths)
{
    m_page->open(paths);
}

bool RunRanksContent::reading() const
{
    return m_page->reading();
}

QString RunRanksContent::refusal() const
{
    return m_page->ranks() ? QString() : m_page->notice().text().reason;
}

void RunRanksContent::setPalette(const Palette& palette)
{
    m_page->setPalette(palette);
}

QString RunRanksContent::copyText() const
{
    return m_page->copyText();
}

QString RunRanksContent::commandLine() const
{
    return m_page->commandLine();
}

void RunRanksContent::enter(const QString& behind)
{
    m_page->setBackTo(behind);
}

void RunRanksContent::takeKeyboard()
{
    m_page->grid().setFocus();
}

} // namespace strata::views
