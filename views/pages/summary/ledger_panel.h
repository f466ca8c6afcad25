// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document/ledger_source.h"
#include "views/pages/summary/module_tree.h"
#include "views/style/palette.h"

#include <map>
#include <optional>
#include <string>

class QIODevice;
class QLabel;
class QVBoxLayout;

namespace strata::views {

/// What the memory of a device is for, at one instant: what is surprising about it, then a row for each
/// category from large to small down to all that is reserved, or the tree of modules; then the short-lived
/// memory that makes the peak. Shows what its source has, and while that has nothing says why.
class LedgerPanel : public QWidget {
    Q_OBJECT
public:
    LedgerPanel(Document& document, LedgerSource& source, const Palette& palette, QWidget* parent = nullptr);

    /// What its user made of `other`, of the same program: current rows, unfolded modules.
    void goOnFrom(const LedgerPanel& other);

    [[nodiscard]] QString commandLine() const; ///< the `strata ledger` that prints the same
    [[nodiscard]] QString copyText() const; ///< all rows, with tabs between their cells
    /// All rows, under the names that --json has.
    [[nodiscard]] bool writeCsv(QIODevice& out) const;

Q_SIGNALS:
    void instantChosen(strata::model::EventIndex event);
    void categoryChosen(strata::model::Category category, strata::model::EventIndex event);
    void moduleChosen(const std::string& path, strata::model::EventIndex event);
    void lineChosen(const std::string& line, strata::model::EventIndex event);
    void rulesAsked(); ///< the user wants to see or change categories of his own

private:
    struct Kept {
        std::map<QString, std::string> current; ///< rows of lists by their names
        std::optional<ModuleTree::Kept> modules;
    };

    void show();
    [[nodiscard]] Kept kept() const; ///< with that of parts that are not shown now
    void restore(const Kept& kept);
    void showWaiting();
    void addHeading(QVBoxLayout& layout);
    void addWaiting(QVBoxLayout& layout);
    void addAmount(QVBoxLayout& layout, const LedgerData& shown);
    void addSurprises(QVBoxLayout& layout, const LedgerData& shown);
    void addCategories(QVBoxLayout& layout, const LedgerData& shown);
    void addModules(QVBoxLayout& layout, const LedgerData& shown);
    void addSources(QVBoxLayout& layout, const LedgerData& shown);
    void addSpikes(QVBoxLayout& layout, const LedgerData& shown);
    void addUnused(QVBoxLayout& layout, const LedgerData& shown);

    Document& m_document;
    LedgerSource& m_source;
    const Palette m_palette;
    QWidget* m_inside = nullptr; // all of it: made anew with every change
    QLabel* m_waiting = nullptr; // of it; nullptr: there is something to be shown
    Kept m_kept; // of what was there before
};

} // namespace strata::views
