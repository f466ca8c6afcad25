// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "model/trace/filter/filter_conditions.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace strata::views {

class Segmented;

/// The row of controls above a table: a switch between what is selected and the whole trace, and a box that
/// filters this page, in the language of filters.
class TableFilterBar : public QWidget {
    Q_OBJECT
public:
    explicit TableFilterBar(QWidget* parent = nullptr);

    /// Whether the switch can say "selection": there is one that restricts the table.
    void setSelectionAvailable(bool available);
    [[nodiscard]] bool selectionWanted() const { return m_selectionWanted; }
    void toggleSelection();

    [[nodiscard]] const model::FilterConditions& filter() const { return m_filter; }
    void setText(const QString& text); ///< as if typed, at once
    [[nodiscard]] QString text() const;
    void clear();
    void focusFilter();

Q_SIGNALS:
    void scopeChanged();
    void filterChanged();
    /// The filter should hold on every page instead of here.
    void everywhereRequested();
    void leaveRequested(); ///< Enter or Down: on to the table

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void parse();
    void chooseScope(bool selection);
    void showScope();

    Segmented* m_scope;
    QLineEdit* m_edit;
    QToolButton* m_everywhere;
    QLabel* m_problem;
    QTimer m_typing;
    model::FilterConditions m_filter;
    bool m_selectionWanted = true;
    bool m_selectionAvailable = false;
};

} // namespace strata::views
