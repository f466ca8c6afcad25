// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/parts/page.h"

class QLabel;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace strata::views {

class NotesModel;

/// What was added to the recording: notes, named ranges, saved filters, each with a way there, another name,
/// and out again.
class NotesPage : public Page {
    Q_OBJECT
public:
    explicit NotesPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("notes"); }
    [[nodiscard]] QString title() const override { return tr("Notes"); }
    [[nodiscard]] QString absence() const override { return {}; }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("notes"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::Nothing; }
    [[nodiscard]] QString commandLine() const override;
    [[nodiscard]] QString copyText() const override; ///< the selected rows
    [[nodiscard]] bool hasCsv() const override;
    [[nodiscard]] bool writeCsv(QIODevice& out) const override;
    [[nodiscard]] QTableView& table() const { return *m_table; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns();
    void buildTable();
    void buildTools(class QBoxLayout& row);
    void refresh();
    void updateTools();
    /// Selects the range, or applies the filter; `show`: on the page Memory.
    void go(int row, bool show);
    void focusBlock(const model::UserItem& item);
    [[nodiscard]] std::vector<int> selectedRows() const;
    void removeSelected();

    NotesModel* m_model;
    QTableView* m_table;
    QLabel* m_verdict;
    QLabel* m_empty;
    QString m_nothing; // what it says of a recording without any
    QStackedWidget* m_stack;
    QList<QToolButton*> m_buttons; // of these
    std::uint64_t m_current = 0; // key of the row that had the focus before the model was filled anew
};

} // namespace strata::views
