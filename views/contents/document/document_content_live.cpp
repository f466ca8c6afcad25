// SPDX-License-Identifier: GPL-3.0-or-later
// What documents of processes that are watched have besides: following, saving, what the process meets.
#include "views/contents/document/document_content.h"

#include "model/session/user_file.h"
#include "model/tables/save_as.h"
#include "views/contents/document/document_view.h"
#include "views/models/live/live_source.h"
#include "views/shell/recent_files.h"
#include "views/style/texts.h"

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

void DocumentContent::serveLive()
{
    const Actions& a = m_context.actions;
    serve(
        a.follow, [this] { m_active->live()->setFollowing(m_context.actions.follow->isChecked()); },
        [this] { return m_active && m_active->live(); },
        [this] { return m_active && m_active->live() && m_active->live()->isFollowing(); });
    serve(
        a.saveSession, [this] { saveSession(); }, [this] { return m_active && document().session(); });
}

void DocumentContent::connectLive(DocumentPane& pane)
{
    LiveSource* const live = pane.live();
    if (!live)
        return;
    connect(live, &LiveSource::followingChanged, this, &DocumentContent::changed);
    connect(live, &LiveSource::outOfMemory, this, &DocumentContent::announceGrown);
    connect(&pane, &DocumentPane::renamed, this, &DocumentContent::rearranged);
    connect(&pane, &DocumentPane::saveWanted, this, [this, &pane] {
        setActive(pane);
        saveSession();
    });
}

QList<Notice> DocumentContent::liveNotices(DocumentPane& pane)
{
    const LiveSource* const live = pane.live();
    if (!live || !live->latest())
        return {};
    QList<Notice> all;
    if (live->status().state == model::LinkState::Broken) {
        const auto& error = live->status().error;
        all.append({ .kind = Notice::Kind::Warning,
            .what = tr("%1 cannot be followed any more: %2")
                        .arg(live->name(), text::said(error ? error->what : live->status().why)),
            .hint = error ? text::said(error->hint.said) : tr("All that came is here, and can be saved.") });
    }
    for (const model::DeviceTrace& trace : live->latest()->devices()) {
        const auto& failed = trace.outOfMemories();
        if (failed.empty())
            continue;
        const auto event = static_cast<model::EventIndex>(failed.back());
        const auto row = static_cast<std::size_t>(event);
        const QString asked = text::bytes(trace.events().bytes[row]);
        const QString free = text::bytes(static_cast<std::int64_t>(trace.events().address[row]));
        Notice notice{ .kind = Notice::Kind::Error,
            .what = failed.size() == 1
                ? tr("%1 ran out of memory on GPU %2: %3 were asked for, %4 were free on the device.")
                      .arg(live->name(), QString::number(trace.device()), asked, free)
                : tr("%1 ran out of memory on GPU %2, %3 times: at last %4 were asked for, %5 were free on "
                     "the device.")
                      .arg(live->name(), QString::number(trace.device()), text::count(std::ssize(failed)),
                          asked, free),
            .button = tr("Show Why") };
        notice.action = [this, pane = QPointer(&pane), device = trace.device(), event] {
            if (!pane)
                return;
            setActive(*pane);
            pane->live()->setFollowing(true);
            pane->view().showPage(QStringLiteral("summary"));
            pane->view().goTo(device, event);
        };
        all.append(notice);
    }
    return all;
}

void DocumentContent::saveSession()
{
    const LiveSource* const live = m_active->live();
    const auto session = live && live->latest() ? live->latest() : document().session();
    QString path = QFileDialog::getSaveFileName(window(), tr("Save as a Session"),
        QDir(m_context.recent.folder()).filePath(sessionName(m_active->name())),
        tr("Strata session (*.strata)"));
    if (path.isEmpty() || !session)
        return;
    if (!path.endsWith(kSuffix))
        path += kSuffix;
    if (QFileInfo(path) == QFileInfo(document().path())) {
        Q_EMIT noticed({ .kind = Notice::Kind::Warning,
            .what = tr("A recording is not written over itself."),
            .hint = tr("Give another name.") });
        return;
    }
    m_context.recent.setFolder(QFileInfo(path).absolutePath());
    m_saving.start(
        [session, file = QFile::encodeName(path).toStdString(),
            changes = changesBeside(*session, state().user())](const JobContext&) -> model::Result<void> {
            if (auto saved = model::saveAs(*session, file); !saved || changes.empty())
                return saved;
            if (const auto kept = model::UserFile(file, {}).append(changes); !kept)
                return model::Failure(kept.error());
            return {};
        },
        [this, path](const model::Result<void>& saved) {
            if (saved)
                m_context.recent.add(path);
            report(saved, tr("saved %1").arg(path));
        });
}

} // namespace strata::views
