// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/session_saver.h"

#include "model/session/user_file.h"
#include "model/tables/save_as.h"
#include "views/contents/document/document_content.h"
#include "views/models/live/live_source.h"
#include "views/shell/recent_files.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

namespace strata::views {

namespace {

const QString kSuffix = QStringLiteral(".strata");

/// Items that the user has made and the session does not hold.
std::vector<model::UserChange> changesBeside(const model::Session& session, const model::UserData& user)
{
    std::vector<model::UserChange> changes;
    for (const model::UserItem& item : user.items)
        if (const model::UserItem* const held = session.recording().user.find(item.key);
            !held || *held != item)
            changes.push_back({ item, false });
    return changes;
}

/// A name for what a process tells: "train.strata" for "train.py, rank 3 of 8" too.
QString sessionName(const QString& of)
{
    const QString name = QFileInfo(of.section(QLatin1Char(','), 0, 0)).completeBaseName();
    return (name.isEmpty() ? QStringLiteral("run") : name) + kSuffix;
}

} // namespace

SessionSaver::SessionSaver(DocumentContent& content, RecentFiles& recent)
    : m_content(content)
    , m_recent(recent)
{
}

void SessionSaver::save(DocumentPane& pane)
{
    const LiveSource* const live = pane.live();
    const auto session = live && live->latest() ? live->latest() : pane.document().session();
    QString path = QFileDialog::getSaveFileName(m_content.window(), tr("Save as a Session"),
        QDir(m_recent.folder()).filePath(sessionName(pane.name())), tr("Strata session (*.strata)"));
    if (path.isEmpty() || !session)
        return;
    if (!path.endsWith(kSuffix))
        path += kSuffix;
    if (QFileInfo(path) == QFileInfo(pane.document().path())) {
        Q_EMIT m_content.noticed({ .kind = Notice::Kind::Warning,
            .what = tr("A recording is not written over itself."),
            .hint = tr("Give another name.") });
        return;
    }
    m_recent.setFolder(QFileInfo(path).absolutePath());
    m_saving.start(
        [session, file = QFile::encodeName(path).toStdString(),
            changes = changesBeside(*session, pane.document().viewState().user())](
            const JobContext&) -> model::Result<void> {
            if (auto saved = model::saveAs(*session, file); !saved || changes.empty())
                return saved;
            if (const auto kept = model::UserFile(file, {}).append(changes); !kept)
                return model::Failure(kept.error());
            return {};
        },
        [this, path](const model::Result<void>& saved) {
            if (saved)
                m_recent.add(path);
            m_content.report(saved, tr("saved %1").arg(path));
        });
}

} // namespace strata::views
