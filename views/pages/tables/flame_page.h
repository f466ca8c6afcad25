// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/background_job.h"
#include "views/models/tables/flame_tree.h"
#include "views/pages/parts/page.h"
#include "views/pages/tables/flame_choices.h"
#include "views/pages/tables/flame_picture.h"
#include "views/pages/tables/flame_search.h"
#include "views/widgets/empty_notice.h"

#include <memory>
#include <optional>

class QLabel;
class QSplitter;
class QStackedWidget;

namespace strata::views {

class CallTreeView;
class FlameBreadcrumb;
class FlameGraph;
class FlameWords;
class TableFooter;

/// Who holds the memory, by call stack: of the selected instant or range (without one: at the last
/// out-of-memory, else at the peak), as a flame graph and, beside it, as a call tree with figures; below what
/// the blocks are for or the modules that they belong to, if that is asked for. The trees
/// are computed off the GUI thread; the old picture stays until the new one is there.
class FlamePage : public Page {
    Q_OBJECT
public:
    explicit FlamePage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("flame"); }
    [[nodiscard]] QString title() const override { return tr("Flame graph"); }
    [[nodiscard]] QString absence() const override { return stacksAbsence(); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("flame"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::All; }
    void setPalette(const Palette& palette) override;
    void resetView() override;
    [[nodiscard]] bool busy() const override
    {
        return m_computing.running() || (m_choices.roots() && m_document.analysing());
    }
    [[nodiscard]] bool canGoBack() const override;
    [[nodiscard]] bool canGoForward() const override;
    void goBack() override;
    void goForward() override;
    [[nodiscard]] QString
    commandLine() const override; ///< for bytes at an instant, which `strata at` adds up
    [[nodiscard]] QString copyText() const override; ///< the current frame with its figures
    [[nodiscard]] bool hasCsv() const override;
    [[nodiscard]] bool writeCsv(QIODevice& out) const override; ///< a line a node, parents first
    [[nodiscard]] QWidget* pictureWidget() override;
    [[nodiscard]] bool hasSvg() const override { return hasCsv(); }
    [[nodiscard]] bool saveSvg(const QString& path) override;

    void showDevice(std::shared_ptr<const DeviceData> device); ///< what the document's signals lead to
    void setCost(model::TreeCost cost) { m_choices.setCost(cost); }
    void setOrder(model::TreeOrder order) { m_choices.setOrder(order); }
    void setByLine(bool byLine) { m_choices.setByLine(byLine); }
    void setRoots(std::optional<model::Grouping> roots) { m_choices.setRoots(roots); }
    void setUserFramesOnly(bool only) { m_choices.setUserFramesOnly(only); }
    void search(const QString& text) { m_search.field().setText(text); }

    [[nodiscard]] FlameGraph& graph() const { return *m_graph; }
    [[nodiscard]] CallTreeView& treeView() const { return *m_tree; }
    [[nodiscard]] FlameBreadcrumb& breadcrumb() const { return *m_breadcrumb; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    [[nodiscard]] QString sentenceText() const;
    [[nodiscard]] QString searchResult() const { return m_search.found().text(); }

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeControls();
    void makeActions();
    void connectDocument();
    [[nodiscard]] FlameQuestion wanted() const;
    void compute();
    void offerRoots(); ///< those that are known; the others are grey and say why
    void show(const FlameQuestion& asked, FlamePicture made);
    void showNotice();
    void refreshSentence();
    [[nodiscard]] FlameWords words() const; ///< of what is shown
    void frameChosen(FlameTree::Node node);
    void showMenu(FlameTree::Node node, const QPoint& at);
    void copyFolded();

    std::shared_ptr<const DeviceData> m_device, m_shownDevice; // the newest; that of the tree
    std::shared_ptr<const FlameTree> m_shownTree;
    std::optional<FlameQuestion> m_asked, m_made;
    bool m_late = false; // something changed while the page was in the background
    bool m_again = false; // a newer generation came while a tree was made
    BackgroundJob m_computing, m_copying;

    QLabel* m_sentence;
    FlameChoices m_choices;
    FlameBreadcrumb* m_breadcrumb;
    QWidget* m_controls;
    QStackedWidget* m_stack;
    QSplitter* m_splitter;
    FlameGraph* m_graph;
    FlameSearch m_search;
    CallTreeView* m_tree;
    EmptyNotice* m_notice;
    TableFooter* m_footer;
};

} // namespace strata::views
