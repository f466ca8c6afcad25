// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeWidget>

#include "model/analysis/training/ledger/module_ledger.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::views {

/// The modules of a program as a tree, with what belongs to each and to those within it as columns; as tall
/// as the rows that are unfolded, with the sum of all below. Enter or a double click chooses a module.
class ModuleTree : public QTreeWidget {
    Q_OBJECT
public:
    ModuleTree(const std::vector<model::ModuleRow>& rows, const QColor& muted, const QColor& bar,
        QWidget* parent = nullptr);

    /// What its user made of it, by the paths of modules.
    struct Kept {
        std::map<std::string, bool> unfolded; ///< of those that hold others
        std::optional<std::string> current;
    };
    [[nodiscard]] Kept kept() const;
    void restore(const Kept& kept); ///< of the same program at another instant

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void moduleChosen(const std::string& path); ///< empty: what belongs to no module

protected:
    void wheelEvent(QWheelEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    void setFigures(QTreeWidgetItem& item, const model::CategorySums& sums) const;

    QColor m_muted;
    QFont m_numbers;
};

/// What of a module's memory is in none of the columns of the tree.
[[nodiscard]] std::int64_t otherBytes(const model::CategorySums& sums);

} // namespace strata::views
