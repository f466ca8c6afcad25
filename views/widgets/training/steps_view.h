// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/base/background_job.h"
#include "views/models/document/view_state.h"
#include "views/widgets/training/step_multiples.h"
#include "views/widgets/training/step_pair.h"

#include <optional>

class QComboBox;
class QIODevice;
class QLabel;
class QSpinBox;
class QStackedWidget;

namespace strata::views {

class EmptyNotice;
class Legend;
class PlainTableView;
class Segmented;

/// The steps of a training, for every page that shows them: side by side as small multiples, one compared
/// with another, or in numbers, as `strata steps` prints them. What is chosen here is selected in the window.
/// GUI thread only.
class StepsView : public QWidget {
    Q_OBJECT
public:
    enum Mode { SideBySide, Pair, Numbers };
    /// What a step is compared with: the median is that of training after the warm-up, by its peak. Of what
    /// there is not, with nothing.
    enum class With { Nothing, Median, First, Highest, Other };

    explicit StepsView(QWidget* parent = nullptr);

    /// nullptr, or of no training yet: it says what it waits for; `more` says that there is something to
    /// wait for.
    void setDevice(std::shared_ptr<const DeviceData> device, bool more);
    /// What the window has selected: the step that it lies in is marked.
    void setSelection(const std::optional<EventRange>& selection);
    void setColours(const Palette& palette);
    void setMode(Mode mode);
    [[nodiscard]] Mode mode() const;
    void compareWith(With which);

    [[nodiscard]] const std::shared_ptr<const StepFigures>& figures() const { return m_figures; }
    [[nodiscard]] StepMultiples& multiples() const { return *m_multiples; }
    [[nodiscard]] StepPair& pair() const { return *m_pair; }
    [[nodiscard]] PlainTableView& table() const { return *m_table; }
    [[nodiscard]] QSpinBox& stepBox() const { return *m_step; }
    [[nodiscard]] QComboBox& withBox() const { return *m_with; }
    [[nodiscard]] QSpinBox& otherBox() const { return *m_other; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    /// How many steps, and what told them: rich text, for the page to show.
    [[nodiscard]] QString headText() const;
    [[nodiscard]] BackgroundJob& job() { return m_job; }

    [[nodiscard]] QString copyText() const; ///< of the table; else what is said of the chosen step
    [[nodiscard]] bool writeCsv(QIODevice& out) const;
    [[nodiscard]] QWidget* pictureWidget();
    [[nodiscard]] bool saveSvg(const QString& path, const QString& title);
    [[nodiscard]] static QString commandLine(const QString& path, int device); ///< with the path quoted

Q_SIGNALS:
    void rangeChosen(const strata::model::EventRange& range); ///< of a step, by the user
    void instantChosen(strata::model::EventIndex event); ///< likewise
    void hovered(const QString& text);
    void shown(); ///< other steps, or why there are none

private:
    void showFigures(std::shared_ptr<const StepFigures> figures);
    void offerOthers();
    void mark(std::optional<std::size_t> row);
    [[nodiscard]] std::optional<std::size_t> selectedRow() const;
    void showMode();
    void showOther();
    void showNotice();
    void choose(std::size_t row);
    [[nodiscard]] std::optional<std::size_t> rowOf(int number) const;
    [[nodiscard]] std::optional<std::size_t> otherRow() const;
    [[nodiscard]] std::optional<std::size_t> subject() const; ///< of the pair
    [[nodiscard]] QString otherName() const; ///< empty: there is none

    std::shared_ptr<const DeviceData> m_device;
    bool m_more = false;
    std::shared_ptr<const StepFigures> m_figures;
    std::optional<EventRange> m_selection;
    std::optional<std::size_t> m_chosen;
    Palette m_palette = Palette::light();
    QLabel* m_stepName;
    QSpinBox* m_step;
    QLabel* m_withName;
    QComboBox* m_with;
    QSpinBox* m_other;
    Segmented* m_modes;
    Legend* m_legend;
    QStackedWidget* m_stack;
    StepMultiples* m_multiples;
    StepPair* m_pair;
    PlainTableView* m_table;
    EmptyNotice* m_notice;
    BackgroundJob m_job;
};

} // namespace strata::views
