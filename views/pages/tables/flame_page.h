// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/background_job.h"
#include "views/models/tables/flame_tree.h"
#include "views/pages/parts/page.h"
#include "views/widgets/empty_notice.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>

class QLabel;
class QLineEdit;
class QSplitter;
class QStackedWidget;

namespace strata::views {

class CallTreeView;
class FlameBreadcrumb;
class FlameGraph;
class Segmented;
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
        return m_computing.running() || (m_roots && m_document.analysing());
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
    void setCost(model::TreeCost cost);
    void setOrder(model::TreeOrder order);
    void setByLine(bool byLine);
    /// Category or Module: its groups lie between root and stacks; none: they do not.
    void setRoots(std::optional<model::Grouping> roots);
    void setUserFramesOnly(bool userFramesOnly);
    void search(const QString& text);

    [[nodiscard]] FlameGraph& graph() const { return *m_graph; }
    [[nodiscard]] CallTreeView& treeView() const { return *m_tree; }
    [[nodiscard]] FlameBreadcrumb& breadcrumb() const { return *m_breadcrumb; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    [[nodiscard]] QString sentenceText() const;
    [[nodiscard]] QString searchResult() const;

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Shown { // what the picture on screen was made from
        model::TreeQuery query;
        std::optional<model::Grouping> roots;
        model::BlockFilter filter;
        const model::DeviceTrace* trace = nullptr; // of the device that is asked for; not read
        model::DeviceLabels labels; // where roots or filter are about them
        [[nodiscard]] bool operator==(const Shown& other) const;
    };

    QWidget* makeControls();
    void makeActions();
    void connectDocument();
    [[nodiscard]] Shown wanted() const;
    void compute();
    struct Made {
        std::shared_ptr<const DeviceData> device;
        std::shared_ptr<const FlameTree> tree;
        std::map<FlameTree::Node, int> ranks; // of lines or categories, where the picture is by those
    };
    [[nodiscard]] static Made make(
        std::shared_ptr<const DeviceData> device, const Shown& shown, const JobContext& context);
    [[nodiscard]] static std::map<FlameTree::Node, int> ranksOf(
        const FlameTree& tree, const DeviceData& device, const model::GroupTable& groups);
    void choose(bool byLine, std::optional<model::Grouping> roots);
    void offerRoots(); ///< those that are known; the others are grey and say why
    void show(const Shown& shown, Made made);
    void showNotice();
    void refreshSentence();
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] QString aliveText() const;
    [[nodiscard]] QString rangeText() const;
    void frameChosen(FlameTree::Node node);
    [[nodiscard]] std::optional<model::GroupKey> lineGroupOf(FlameTree::Node node) const;
    [[nodiscard]] std::optional<Focus> groupFocusOf(FlameTree::Node node) const; ///< of a category or module
    void showMenu(FlameTree::Node node, const QPoint& at);
    void startSearch();
    void copyFolded();

    std::shared_ptr<const DeviceData> m_device, m_shownDevice; // the newest; that of the tree
    std::shared_ptr<const FlameTree> m_shownTree;
    std::optional<Shown> m_asked, m_made;
    bool m_late = false; // something changed while the page was in the background
    bool m_again = false; // a newer generation came while a tree was made
    model::TreeQuery m_options; // what the controls say; its range is set by wanted()
    std::optional<model::Grouping> m_roots; // likewise
    BackgroundJob m_computing, m_searching, m_copying;

    QLabel* m_sentence;
    Segmented* m_cost;
    Segmented* m_frames;
    Segmented* m_grouping;
    Segmented* m_order;
    FlameBreadcrumb* m_breadcrumb;
    QLineEdit* m_search;
    QLabel* m_found;
    QWidget* m_controls;
    QStackedWidget* m_stack;
    QSplitter* m_splitter;
    FlameGraph* m_graph;
    CallTreeView* m_tree;
    EmptyNotice* m_notice;
    TableFooter* m_footer;
};

} // namespace strata::views
