// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/document_notices.h"

#include "views/contents/document/document_pane.h"
#include "views/contents/document/document_view.h"
#include "views/models/live/live_source.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QPointer>

namespace strata::views {

namespace {

class DocumentNotices {
    Q_DECLARE_TR_FUNCTIONS(strata::views::DocumentContent)
};

QList<Notice> liveNotices(DocumentPane& pane, const ActivatePane& activate)
{
    const LiveSource* const live = pane.live();
    if (!live || !live->latest())
        return {};
    QList<Notice> all;
    if (live->status().state == model::LinkState::Broken) {
        const auto& error = live->status().error;
        all.append({ .kind = Notice::Kind::Warning,
            .what = DocumentNotices::tr("%1 cannot be followed any more: %2")
                        .arg(live->name(), text::said(error ? error->what : live->status().why)),
            .hint = error ? text::said(error->hint.said)
                          : DocumentNotices::tr("All that came is here, and can be saved.") });
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
                ? DocumentNotices::tr(
                    "%1 ran out of memory on GPU %2: %3 were asked for, %4 were free on the device.")
                      .arg(live->name(), QString::number(trace.device()), asked, free)
                : DocumentNotices::tr(
                    "%1 ran out of memory on GPU %2, %3 times: at last %4 were asked for, %5 were free on "
                    "the device.")
                      .arg(live->name(), QString::number(trace.device()), text::count(std::ssize(failed)),
                          asked, free),
            .button = DocumentNotices::tr("Show Why") };
        notice.action = [activate, pane = QPointer(&pane), device = trace.device(), event] {
            if (!pane)
                return;
            activate(*pane);
            pane->live()->setFollowing(true);
            pane->view().showPage(QStringLiteral("summary"));
            pane->view().goTo(device, event);
        };
        all.append(notice);
    }
    return all;
}

} // namespace

Notice failureNotice(const DocumentPane& pane)
{
    const model::Error& error = pane.document().error();
    const QString path = pane.place();
    if (LivePlace::isLive(path))
        return { .kind = Notice::Kind::Error,
            .what = DocumentNotices::tr("%1: %2").arg(LivePlace::target(path), text::said(error.what)),
            .hint = text::said(error.hint.said) };
    const QString where = error.where.empty() ? path : text::utf8(error.where);
    return { .kind = Notice::Kind::Error,
        .what = DocumentNotices::tr("%1: %2").arg(QFileInfo(where).fileName(), text::said(error.what)),
        .hint = text::said(error.hint.said),
        .toolTip = where };
}

QList<Notice> noticesOf(DocumentPane& pane, const ActivatePane& activate, const OpenAnew& open)
{
    const Document& shown = pane.document();
    const auto reopen
        = [&open, path = pane.place()](bool force) { return [open, path, force] { open(path, force); }; };
    QList<Notice> all = liveNotices(pane, activate);
    if (shown.state() == Document::State::Failed) {
        Notice notice = failureNotice(pane);
        if (shown.error().kind == model::Error::Kind::Refused && !shown.session()) {
            notice.button = DocumentNotices::tr("Read It Anyway");
            notice.action = reopen(true);
        }
        return { notice };
    }
    if (shown.state() == Document::State::Stopped)
        all.append({ .what = DocumentNotices::tr("Loading was cancelled."),
            .hint = DocumentNotices::tr(
                "What is shown is the summary that the file brings; the other pages need its events."),
            .button = DocumentNotices::tr("Load the Rest"),
            .action = reopen(false) });
    if (!shown.session())
        return all; // an outline is of a whole file
    const model::Recording& recording = shown.session()->recording();
    if (recording.truncation && recording.truncation->interrupted)
        all.append({ .kind = Notice::Kind::Warning,
            .what = DocumentNotices::tr("%1.").arg(text::said(recording.truncation->reason)),
            .hint = DocumentNotices::tr(
                "What was recorded until then is shown. The state at the end is unknown.") });
    else if (recording.truncation)
        all.append({ .kind = Notice::Kind::Warning,
            .what = DocumentNotices::tr("This file is damaged or ends early, at byte %1: %2")
                        .arg(text::count(static_cast<std::int64_t>(recording.truncation->offset)),
                            text::said(recording.truncation->reason)),
            .hint = DocumentNotices::tr(
                "What stands before that is shown. Where both the end state and the state that it "
                "began with are missing, curves begin at zero and are relative.") });
    if (recording.user.unreadFrom)
        all.append({ .kind = Notice::Kind::Warning,
            .what = DocumentNotices::tr("Some notes on this recording cannot be read."),
            .hint
            = DocumentNotices::tr("The recording itself is whole. What is added from now on is kept.") });
    return all;
}

} // namespace strata::views
