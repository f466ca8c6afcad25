// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/document_notes.h"

#include "model/session/user_file.h"
#include "views/models/document/document.h"

#include <QFile>

#include <chrono>
#include <utility>

namespace strata::views {

DocumentNotes::DocumentNotes(Document& document)
    : QObject(&document)
    , m_document(document)
{
}

void DocumentNotes::read(const model::UserData& user)
{
    m_kept = std::make_shared<const model::UserData>(user);
}

/// What was written here comes back so, too, and is no news.
void DocumentNotes::take(const model::UserData& told)
{
    model::UserData all = *m_kept, later;
    all.merge(told);
    for (const model::UserItem& item : all.items) {
        const model::UserItem* const kept = m_kept->find(item.key);
        model::UserItem same = item;
        same.changedNs = kept ? kept->changedNs : 0;
        if (!kept || same != *kept)
            later.set(item);
    }
    for (const model::UserItem& item : m_kept->items)
        if (!all.find(item.key))
            later.remove(item.key, item.changedNs);
    all = *m_kept;
    all.merge(later);
    m_kept = std::make_shared<const model::UserData>(std::move(all));
    m_document.viewState().takeUser(later);
}

void DocumentNotes::keep()
{
    const model::UserData& now = m_document.viewState().user();
    if (!m_document.session() || !m_kept || m_document.path().isEmpty() || now == *m_kept)
        return;
    const auto nowNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch())
                           .count();
    std::vector<model::UserChange> changes;
    for (const model::UserItem& item : now.items) {
        const model::UserItem* const kept = m_kept->find(item.key);
        if (kept && *kept == item)
            continue;
        changes.push_back({ item, false });
        changes.back().item.changedNs = nowNs; // an older state comes back by undo: it counts from now on
    }
    for (const model::UserItem& item : m_kept->items)
        if (!now.find(item.key)) {
            changes.push_back({ item, true });
            changes.back().item.changedNs = nowNs;
        }
    const auto before = std::exchange(m_kept, m_document.viewState().value().user);
    m_writing.start(
        [file = QFile::encodeName(m_document.path()).toStdString(), changes](const JobContext&) {
            return model::UserFile(file, model::UserFile::usualFolder()).append(changes);
        },
        [this, before](const model::Result<std::filesystem::path>& written) {
            if (written)
                return Q_EMIT m_document.userKept(QFile::decodeName(written->c_str()));
            m_kept = before; // the next change writes it again
            Q_EMIT m_document.userNotKept(written.error());
        });
}

} // namespace strata::views
