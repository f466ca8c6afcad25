// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/parts/page.h"
#include "views/widgets/empty_notice.h"
#include "views/widgets/training/growth_chart.h"

class QLabel;
class QSplitter;
class QStackedWidget;

namespace strata::views {

class PlainTableView;
class Segmented;
class StepsView;
class TableFooter;

/// What grows from step to step and is never freed: the verdict, how the chosen site grows, all sites ranked,
/// and of the chosen one what to change and what is left of which step. The steps themselves stand behind a
/// switch.
class LeaksPage : public Page {
    Q_OBJECT
public:
    enum Mode { Leaks, Steps };

    explicit LeaksPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("leaks"); }
    [[nodiscard]] QString title() const override { return tr("Leaks"); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("leaks"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::Nothing; }
    [[nodiscard]] QString absence() const override { return eventsAbsence(); }
    [[nodiscard]] QString commandLine() const override;
    void setPalette(const Palette& palette) override;
    [[nodiscard]] bool busy() const override;
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] bool hasCsv() const override;
    [[nodiscard]] bool writeCsv(QIODevice& out) const override;
    [[nodiscard]] QWidget* pictureWidget() override;
    [[nodiscard]] bool hasSvg() const override;
    [[nodiscard]] bool saveSvg(const QString& path) override;

    void setMode(Mode mode);
    void chooseSite(std::size_t row); ///< of LeakReport::sites; told as the user's choice
    [[nodiscard]] std::optional<std::size_t> site() const { return m_site; }
    [[nodiscard]] GrowthChart& chart() const { return *m_chart; }
    [[nodiscard]] PlainTableView& sites() const { return *m_sites; }
    [[nodiscard]] PlainTableView& survivors() const { return *m_survivors; }
    [[nodiscard]] StepsView& steps() const { return *m_steps; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    [[nodiscard]] QString sentenceText() const;
    [[nodiscard]] QString howText() const;
    [[nodiscard]] QString siteText() const;

private:
    [[nodiscard]] QWidget* makeLeaksPart();
    void showDevice();
    void showTexts();
    void showSite();
    void showSelection();
    void chooseFocus();
    [[nodiscard]] GrowthSeries seriesOf(const model::LeakSite* site) const; ///< nullptr: of the whole device
    [[nodiscard]] const model::LeakSite* siteShown() const;

    std::shared_ptr<const TrainingData> m_training; ///< that is shown: with leaks
    std::shared_ptr<const DeviceData> m_device; ///< that it was shown with
    std::optional<std::size_t> m_site;
    QLabel* m_sentence;
    QLabel* m_how;
    Segmented* m_modes;
    QStackedWidget* m_parts; ///< leaks, steps, notice
    QSplitter* m_splitter;
    QLabel* m_chartTitle;
    GrowthChart* m_chart;
    QStackedWidget* m_ranked; ///< the table, or why it is empty
    PlainTableView* m_sites;
    EmptyNotice* m_none;
    QWidget* m_about; ///< of the chosen site
    QLabel* m_siteText;
    PlainTableView* m_survivors;
    StepsView* m_steps;
    EmptyNotice* m_notice;
    TableFooter* m_footer;
};

} // namespace strata::views
