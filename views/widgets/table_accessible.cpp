// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/table_accessible.h"

#include "views/style/texts.h"
#include "views/widgets/table_view.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QStringList>

namespace strata::views {

namespace {

class TableAccessible : public QAccessibleWidget {
public:
    explicit TableAccessible(TableView* view)
        : QAccessibleWidget(view, QAccessible::Table)
        , m_view(view)
    {
    }

    [[nodiscard]] QString text(QAccessible::Text kind) const override
    {
        const QModelIndex current = m_view->currentIndex();
        if (kind == QAccessible::Value && current.isValid())
            return rowText(current);
        if (kind == QAccessible::Description && current.isValid())
            return TableView::tr("row %1 of %2")
                .arg(text::count(current.row() + 1), text::count(m_view->model()->rowCount()));
        return QAccessibleWidget::text(kind);
    }

    /// Cells are painted, they are no objects of their own.
    [[nodiscard]] int childCount() const override { return 0; }
    [[nodiscard]] QAccessibleInterface* child(int) const override { return nullptr; }
    [[nodiscard]] QAccessibleInterface* childAt(int, int) const override { return nullptr; }

private:
    static QString rowText(const QModelIndex& row)
    {
        QStringList cells;
        const QAbstractItemModel& model = *row.model();
        for (int column = 0; column < model.columnCount(); ++column) {
            const QString cell = row.siblingAtColumn(column).data().toString();
            if (!cell.isEmpty())
                cells += model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()
                    + QLatin1Char(' ') + cell;
        }
        return cells.join(QStringLiteral(", "));
    }

    TableView* m_view;
};

QAccessibleInterface* makeTableAccessible(const QString&, QObject* object)
{
    auto* view = qobject_cast<TableView*>(object);
    return view ? new TableAccessible(view) : nullptr;
}

} // namespace

void installTableAccessibility()
{
    static const bool installed = [] {
        QAccessible::installFactory(makeTableAccessible);
        return true;
    }();
    static_cast<void>(installed);
}

void announceCurrentRow(TableView& view)
{
    if (!QAccessible::isActive())
        return;
    const QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&view);
    QAccessibleValueChangeEvent event(&view, interface ? interface->text(QAccessible::Value) : QString());
    QAccessible::updateAccessibility(&event);
}

} // namespace strata::views
