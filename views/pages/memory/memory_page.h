// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>

#include "views/pages/parts/page.h"
#include "views/style/rich_text.h"
#include "views/widgets/memory/group_table_model.h"
#include "views/widgets/memory/memory_canvas.h"

#include <functional>

class QButtonGroup;
class QComboBox;
class QFrame;
class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTableView;

namespace strata::views {

class Legend;
class Segmented;
class StepsView;
class TableHeader;

/// Memory over time: a sentence, the picture of the trace, and the groups at the selected instant in numbers.
class MemoryPage : public Page {
    Q_OBJECT
public:
    explicit MemoryPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("memory"); }
    [[nodiscard]] QString title() const override { return tr("Memory"); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("memory"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::GroupsAndBlocks; }
    [[nodiscard]] QString commandLine() const override;
    void setPalette(const Palette& palette) override;
    void resetView() override { m_canvas->viewport().showAll(); }
    void goTo(model::EventIndex event) override { m_canvas->viewport().reveal(event); }
    void showFocus(const Focus& focus) override;
    [[nodiscard]] bool busy() const override;

    [[nodiscard]] bool canGoBack() const override { return m_canvas->viewport().canGoBack(); }
    [[nodiscard]] bool canGoForward() const override { return m_canvas->viewport().canGoForward(); }
    void goBack() override { m_canvas->viewport().goBack(); }
    void goForward() override { m_canvas->viewport().goForward(); }

    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] bool hasCsv() const override { return true; }
    [[nodiscard]] bool writeCsv(QIODevice& out) const override; ///< of what stands below the picture
    [[nodiscard]] QWidget* pictureWidget() override { return m_canvas; }
    [[nodiscard]] bool hasSvg() const override { return true; }
    [[nodiscard]] bool saveSvg(const QString& path) override;

    void setMode(PictureMode mode);
    enum class Below { Groups, Steps };
    void showBelow(Below part); ///< the picture
    [[nodiscard]] StepsView& steps() const { return *m_steps; }
    [[nodiscard]] MemoryCanvas* canvas() const { return m_canvas; }
    [[nodiscard]] GroupTableModel* groupTable() const { return m_table; }
    [[nodiscard]] QTableView* groupView() const { return m_view; }
    [[nodiscard]] const Legend& legend() const { return *m_legend; }

    /// The instant that the table shows: the selected one, or the peak of the selected range, or of all.
    [[nodiscard]] model::EventIndex tableEvent() const;

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildTools();
    void buildTable();
    void buildActions();

    void showDevice();
    void offerGroupings(); ///< those that are known; the others are grey and say why
    void showLegend();
    void goOn();
    void showVerdict(const DeviceData& device);
    void fitVerdict();
    void filterMoved();
    void showHint(); ///< why there is no picture or no curve, and what records one
    void requestSubject();
    void dropSubject();
    void showSubject(const PictureSubject& subject);
    void selectionMoved();
    void showSelection();
    void requestTable();
    struct TableMade {
        model::LiveGroups live; ///< at the instant
        std::optional<model::LiveGroups> peak; ///< of all blocks; none: known, or of lines of code
    };
    void showTable(const std::shared_ptr<const GroupData>& groups, TableMade made);
    void updateTableTitle();
    [[nodiscard]] QWidget* buildLower();
    [[nodiscard]] bool showsSteps() const;
    void pickedThing(const Hit& hit);
    void rowSelected();
    void chooseLine(const text::LineLink& link);
    void chooseGroup(const text::GroupLink& link);
    void markFocus();
    void highlightFocus();
    void markRow();
    [[nodiscard]] std::optional<std::uint32_t> focusedGroup() const;
    void filterByGroup(std::uint32_t group);
    void select(std::optional<EventRange> range);
    void stepEvents(model::EventIndex by);
    void stepToAlloc(int direction);
    void stepNote(int direction);
    void focusBlockOf(const model::UserItem& note, Focus& focus) const;

    MemoryCanvas* m_canvas;
    GroupTableModel* m_table;
    QTableView* m_view;
    TableHeader* m_header;
    QLabel* m_verdict;
    QStringList m_sentences; ///< of all of the verdict
    QPushButton* m_more; ///< shows all of the verdict
    bool m_unfolded = false; ///< it does
    QFrame* m_hint;
    QLabel* m_hintText;
    QWidget* m_tools;
    QButtonGroup* m_modes;
    QComboBox* m_groupings;
    Legend* m_legend; ///< where the order of the layers is fixed
    QLabel* m_tableTitle;
    Segmented* m_belowModes;
    QStackedWidget* m_below; ///< groups, steps
    StepsView* m_steps;
    QSplitter* m_splitter;
    PictureSubject m_subject;
    std::shared_ptr<const GroupData> m_peakOf; ///< whose groups the verdict tells of; none: lines of code
    model::LiveGroups m_peak;
    Focus m_focus; ///< what the details show
    std::shared_ptr<const GroupData> m_shownIn; ///< what the table shows is of these
    bool m_again = false; ///< a newer generation came while groups were made
    bool m_lateSubject = false, m_lateSelection = false; ///< changed while the page was in the background
    bool m_quiet = false; ///< the row is being selected by us, not by the user
    BackgroundJob m_subjectJob{ Earlier::Stop, BackgroundJob::Thread::Own };
    BackgroundJob m_tableJob{ Earlier::Stop, BackgroundJob::Thread::Own };
};

} // namespace strata::views
