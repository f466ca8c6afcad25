// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <QList>
#include <QListView>
#include <QString>

#include "views/style/palette.h"

#include <functional>
#include <optional>
#include <vector>

namespace strata::views {

/// Something that can be found: a line of code, a page, an action. All texts are as they are shown.
struct SearchItem {
    QString icon; ///< file in resources/icons, without ".svg"
    QString label;
    QString detail; ///< beside it, in grey
    int matchAt = 0, matchLength = 0; ///< what of the label is emphasised
    bool matchInDetail = false; ///< ... of the detail instead
    QString figure, share; ///< at the right: bytes; a shortcut where there are none
    bool enabled = true;
    QString toolTip;
    QString command; ///< the `strata` command that prints the figure; or empty
    std::optional<std::size_t> hit; ///< of what the model found: its number there
    std::function<void()> go; ///< Enter
    std::function<void()> narrow; ///< Ctrl+Enter: filters by it; or empty
};

struct SearchSection {
    QString title;
    QList<SearchItem> items{};
    std::size_t leftOut = 0; ///< more were found than there are items
    bool matchesWell = false; ///< one of them is or begins with what was typed
};

/// Sections with their headings as rows: a few items of each, and a row that unfolds the rest.
class SearchRows : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { KindRole = Qt::UserRole };
    enum class Kind { Heading, Item, More };

    using QAbstractListModel::QAbstractListModel;

    void setSections(std::vector<SearchSection> sections); ///< folded again
    void unfold(int row); ///< of Kind::More

    [[nodiscard]] Kind kindOf(int row) const { return m_rows[static_cast<std::size_t>(row)].kind; }
    [[nodiscard]] const SearchItem* itemAt(int row) const; ///< nullptr: it is none
    [[nodiscard]] QString headingOf(int row) const; ///< of what is no item: its text
    [[nodiscard]] std::size_t found() const; ///< items, folded ones included

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    struct Row {
        Kind kind = Kind::Heading;
        std::size_t section = 0;
        qsizetype item = 0;
    };
    void fill();

    std::vector<SearchSection> m_sections;
    std::vector<bool> m_unfolded; // by section
    std::vector<Row> m_rows;
};

/// Paints SearchRows. The keyboard stays where the text is typed: whoever has it moves the current row.
class SearchList : public QListView {
    Q_OBJECT
public:
    explicit SearchList(QWidget* parent = nullptr);

    [[nodiscard]] SearchRows& rows() const { return *m_rows; }
    void setPalette(const Palette& palette);
    /// What is current moves by so many rows that can be chosen; from one end to the other if it is one row.
    void move(int by);
    void movePage(int pages);
    void showFirst(); ///< makes the first row that can be chosen the current one
    [[nodiscard]] int contentHeight() const;
    [[nodiscard]] int rowHeight() const;

protected:
    void mouseMoveEvent(QMouseEvent* event) override; // what is under the mouse becomes current

private:
    [[nodiscard]] bool canChoose(int row) const;

    SearchRows* m_rows;
    class Painter;
    Painter* m_painter;
};

} // namespace strata::views
