// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractItemModel>

#include "views/models/tables/flame_tree.h"

#include <memory>

namespace strata::views {

/// A call tree for a tree view: frame, total, self, share, blocks; children heaviest first. Builds nothing of
/// its own, so that a tree of a million nodes costs what is expanded. The root stands as the one top row.
class CallTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Frame, Total, Self, Share, Blocks, ColumnCount };
    enum Role {
        ShareRole = Qt::UserRole, ///< double, 0 to 1 of the whole
        NoteRole, ///< place of the frame, unit of a number: in grey after the text
    };

    explicit CallTreeModel(QObject* parent = nullptr);

    void setTree(std::shared_ptr<const FlameTree> tree);
    [[nodiscard]] const std::shared_ptr<const FlameTree>& tree() const { return m_tree; }
    [[nodiscard]] QModelIndex indexOf(FlameTree::Node node, int column = 0) const;
    [[nodiscard]] static FlameTree::Node nodeOf(const QModelIndex& index)
    {
        return static_cast<FlameTree::Node>(index.internalId());
    }

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] bool hasChildren(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::shared_ptr<const FlameTree> m_tree;
};

} // namespace strata::views
