// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include "views/models/document/document.h"

namespace strata::views {

/// The notes, named ranges, saved filters and categories of the user's own of a document as rows, in the
/// order in which they were made. Their texts can be edited; every change goes through ViewState::setUser(),
/// so that it is kept and can be undone.
class NotesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { TextColumn, KindColumn, WhereColumn, ChangedColumn, ColumnCount };

    explicit NotesModel(Document& document, QObject* parent = nullptr);

    [[nodiscard]] const model::UserItem& item(int row) const;
    [[nodiscard]] int rowOf(std::uint64_t key) const; ///< -1 if there is none
    void remove(const std::vector<std::uint64_t>& keys);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

private:
    void refresh();
    [[nodiscard]] QString whereText(const model::UserItem& item) const;

    Document& m_document;
    std::vector<model::UserItem> m_items;
};

/// "Note", "Range", "Filter", "Rules".
[[nodiscard]] QString userItemKind(model::UserItem::Kind kind);

} // namespace strata::views
