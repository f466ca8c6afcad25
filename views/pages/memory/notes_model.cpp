// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/memory/notes_model.h"

#include "model/analysis/summary/summary.h"
#include "model/analysis/training/roles/category_rules.h"
#include "model/base/wrap.h"
#include "model/session/filter_text.h"
#include "model/tables/notes_answer.h"
#include "views/pages/parts/filter_text.h"
#include "views/style/texts.h"

#include <QDateTime>
#include <QLocale>

#include <algorithm>

namespace strata::views {

QString userItemKind(model::UserItem::Kind kind)
{
    switch (kind) {
    case model::UserItem::Kind::Note:
        return NotesModel::tr("Note");
    case model::UserItem::Kind::Range:
        return NotesModel::tr("Range");
    case model::UserItem::Kind::Filter:
        return NotesModel::tr("Filter");
    case model::UserItem::Kind::Rules:
    case model::UserItem::Kind::View: // which is not listed
        break;
    }
    return NotesModel::tr("Rules");
}

NotesModel::NotesModel(Document& document, QObject* parent)
    : QAbstractTableModel(parent)
    , m_document(document)
{
    connect(&document, &Document::outlineReady, this, &NotesModel::refresh);
    connect(&document, &Document::stateChanged, this, &NotesModel::refresh);
    connect(&document.viewState(), &ViewState::userChanged, this, &NotesModel::refresh);
    connect(&document, &Document::grown, this, [this] { // which may have what notes are about
        if (!m_items.empty())
            Q_EMIT dataChanged(index(0, WhereColumn), index(rowCount() - 1, WhereColumn));
    });
    refresh();
}

void NotesModel::refresh()
{
    beginResetModel();
    m_items = m_document.session() ? m_document.viewState().user().listed() : std::vector<model::UserItem>();
    endResetModel();
}

const model::UserItem& NotesModel::item(int row) const
{
    return m_items[static_cast<std::size_t>(row)];
}

int NotesModel::rowOf(std::uint64_t key) const
{
    const auto found = std::ranges::find(m_items, key, &model::UserItem::key);
    return found == m_items.end() ? -1 : static_cast<int>(found - m_items.begin());
}

void NotesModel::remove(const std::vector<std::uint64_t>& keys)
{
    model::UserData user = m_document.viewState().user();
    for (const std::uint64_t key : keys)
        user.remove(key);
    m_document.viewState().setUser(std::move(user));
}

int NotesModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_items.size());
}

int NotesModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString NotesModel::whereText(const model::UserItem& item) const
{
    const model::Session& session = *m_document.session();
    if (!model::isInRecording(item, session))
        return tr("not in this recording");
    if (item.kind == model::UserItem::Kind::Filter) {
        QStringList chips;
        const auto filter = model::filterFromText(session.recording(), item.conditions);
        for (const FilterChip& chip : filterChips(*filter, session.recording()))
            chips.append(chip.text);
        return chips.join(QStringLiteral(", "));
    }
    if (item.kind == model::UserItem::Kind::Rules)
        return text::counted(
            std::ssize(model::CategoryRules::read(item.conditions)->rules()), tr("1 rule"), tr("%1 rules"));
    const model::DeviceTrace& trace = *session.find(item.device);
    QString where;
    if (item.first != item.last)
        where = tr("events %1 – %2").arg(text::count(item.first), text::count(item.last));
    else
        where = item.first < 0 ? tr("before the first event") : tr("event %1").arg(text::count(item.first));
    if (const auto time = model::timeOf(trace, item.first))
        where = tr("%1 at %2").arg(where, text::duration(model::wrapSub(*time, *model::timeOf(trace, 0))));
    if (item.address != 0)
        where = tr("block at %1, %2").arg(text::address(item.address), where);
    return session.devices().size() > 1 ? tr("GPU %1: %2").arg(item.device).arg(where) : where;
}

QVariant NotesModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const model::UserItem& row = item(index.row());
    if (role == Qt::ToolTipRole)
        return text::utf8(row.text);
    if (role != Qt::DisplayRole && role != Qt::EditRole)
        return {};
    switch (index.column()) {
    case TextColumn:
        return row.kind == model::UserItem::Kind::Rules ? tr("Categories of your own") : text::utf8(row.text);
    case KindColumn:
        return userItemKind(row.kind);
    case WhereColumn:
        return whereText(row);
    default:
        return QLocale().toString(
            QDateTime::fromMSecsSinceEpoch(row.changedNs / 1'000'000), QLocale::ShortFormat);
    }
}

QVariant NotesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case TextColumn:
        return tr("Text or name");
    case KindColumn:
        return tr("Kind");
    case WhereColumn:
        return tr("Where, or which rows");
    default:
        return tr("Changed");
    }
}

Qt::ItemFlags NotesModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    const bool isNamed = index.isValid() && item(index.row()).kind != model::UserItem::Kind::Rules;
    return isNamed && index.column() == TextColumn ? flags | Qt::ItemIsEditable : flags;
}

bool NotesModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    const QString text = value.toString().trimmed();
    if (role != Qt::EditRole || !checkIndex(index, CheckIndexOption::IndexIsValid)
        || index.column() != TextColumn || text.isEmpty()
        || item(index.row()).kind == model::UserItem::Kind::Rules)
        return false;
    model::UserItem changed = item(index.row());
    changed.text = text.toStdString();
    changed.changedNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    model::UserData user = m_document.viewState().user();
    user.set(std::move(changed));
    m_document.viewState().setUser(std::move(user));
    return true;
}

} // namespace strata::views
