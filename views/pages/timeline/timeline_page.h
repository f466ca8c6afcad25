// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/parts/page.h"
#include "views/pages/timeline/added_memory_line.h"
#include "views/widgets/empty_notice.h"
#include "views/widgets/timeline/lanes_view.h"
#include "views/widgets/timeline/work_tables_source.h"

#include <QTimer>

class QLabel;
class QLayout;
class QLineEdit;
class QMenu;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace strata::views {

class Legend;
class PlainTableView;
class RooflineChart;
class Segmented;

/// What ran when: whether the GPU is fed fast enough and why it was idle, the work of streams and threads
/// over time with memory below, and why it waited, operators, kernels and copies in numbers, and what
/// operators make of the GPU, of all of it or of the stretch that was measured.
class TimelinePage : public Page {
    Q_OBJECT
public:
    explicit TimelinePage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("timeline"); }
    [[nodiscard]] QString title() const override { return tr("Timeline"); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("timeline"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::Nothing; }
    [[nodiscard]] QString absence() const override;
    [[nodiscard]] QString commandLine() const override;
    void setPalette(const Palette& palette) override;
    void resetView() override;
    [[nodiscard]] bool busy() const override;
    [[nodiscard]] bool canGoBack() const override { return m_lanes->canGoBack(); }
    [[nodiscard]] bool canGoForward() const override { return m_lanes->canGoForward(); }
    void goBack() override { m_lanes->goBack(); }
    void goForward() override { m_lanes->goForward(); }
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] bool hasCsv() const override;
    [[nodiscard]] bool writeCsv(QIODevice& out) const override;
    [[nodiscard]] QWidget* pictureWidget() override;

    void goTo(model::EventIndex event) override;
    void showFocus(const Focus& focus) override;
    /// Of the block that is in the details: what its device did while it lived.
    void showLifeOfBlock();
    void showTable(WorkTable::Kind kind);
    void find(const QString& text); ///< as if it had been typed
    /// What was measured, else all, as a Chrome trace: what commandLine() writes with -o. In the background;
    /// failed() or hoverText() tells.
    void saveTrace(const QString& path);
    void setOperatorsBy(model::OperatorsBy by); ///< as if it had been chosen
    [[nodiscard]] Segmented& operatorsBy() const { return *m_by; } ///< seen beside operators
    [[nodiscard]] LanesView& lanes() const { return *m_lanes; }
    [[nodiscard]] PlainTableView& table() const { return *m_table; }
    [[nodiscard]] RooflineChart& roofline() const { return *m_roofline; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    [[nodiscard]] EmptyNotice& rooflineNotice() const { return *m_lack; } ///< why there is no chart
    [[nodiscard]] QString rooflineText() const; ///< what is said above it
    [[nodiscard]] QString sentenceText() const;
    [[nodiscard]] QString foundText() const;
    [[nodiscard]] MemoryAdder& memoryAdder() { return m_adder; }
    [[nodiscard]] AddedMemoryLine& addedLine() const { return *m_addedLine; }

protected:
    void dragEnterEvent(QDragEnterEvent* event) override; ///< of a file that may be added to the timeline
    void dropEvent(QDropEvent* event) override;

private:
    [[nodiscard]] QWidget* makeHead();
    [[nodiscard]] QWidget* makeLower();
    void addTrackActions();
    void addJumpActions();
    void addJumps(QMenu& menu, std::uint32_t piece);
    void goToPiece(std::uint32_t piece);
    void goToModule(std::uint32_t piece);
    void goToLine(std::uint32_t piece);
    void showBlocksDuring(std::uint32_t piece);
    void showBlocksAtLaunch(std::uint32_t piece, std::uint32_t launch);
    void selectBlocks(std::uint32_t piece, const model::EventRange& range);
    [[nodiscard]] std::optional<model::Clock> clockOf(std::uint32_t piece) const;
    void showSession();
    void makeLanes();
    [[nodiscard]] std::optional<model::TimeSpan> measured() const; ///< on the trace's clock
    void request(); ///< figures of what is measured, else of all
    void showFigures(WorkFigures figures);
    [[nodiscard]] model::OperatorsBy by() const; ///< what was chosen
    void showTexts();
    void walkFound(bool forward);
    void openRow(quint32 row);
    void showRoofline(); ///< or what it lacks, beside the table
    void walkWork(std::span<const std::uint32_t> pieces);
    [[nodiscard]] QLayout* makeAdding(); ///< the legend, with what adds a file beside it
    [[nodiscard]] bool canAdd() const; ///< a snapshot or a session of the same run
    void askWhatToAdd();
    void askWhereToSave();
    void showAdding(); ///< what can be done of it now

    bool m_marksRow = false; // what stands out on the lanes is a row of the table
    QTimer m_growing; // until the next picture of a recording that goes on
    BackgroundJob m_making{ Earlier::Finish, BackgroundJob::Thread::Own };
    BackgroundJob m_summing{ Earlier::Finish, BackgroundJob::Thread::Own };
    BackgroundJob m_saving{ Earlier::Finish, BackgroundJob::Thread::Beside };
    std::shared_ptr<const model::Session> m_session; // whose lanes are shown, or made
    std::shared_ptr<const WorkFigures> m_figures;
    std::shared_ptr<const WorkTable> m_shown;
    MemoryAdder m_adder;
    Focus m_focus; // that is in the details, of another page

    QLabel* m_sentence;
    QLabel* m_how;
    QLineEdit* m_find;
    QLabel* m_found;
    QStackedWidget* m_parts; ///< pictures and tables, or the notice
    QSplitter* m_splitter;
    LanesView* m_lanes;
    Legend* m_legend;
    AddedMemoryLine* m_addedLine;
    QAction *m_add, *m_remove;
    Segmented *m_kinds, *m_by;
    QLabel* m_range;
    QLabel* m_roofSaid;
    RooflineChart* m_roofline; ///< beside the table, where that is of the roofline
    EmptyNotice* m_lack; ///< in its place
    PlainTableView* m_table;
    EmptyNotice* m_notice;
};

} // namespace strata::views
