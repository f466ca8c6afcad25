// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/parts/page.h"
#include "views/widgets/allocator/fragmentation_chart.h"
#include "views/widgets/allocator/map_picture.h"
#include "views/widgets/empty_notice.h"

class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace strata::views {

class PlainTableView;
class PartLegend;
class TableFooter;

/// Why memory is reserved and not used: what reserved memory was made of over time, other settings and what
/// they would come to, and the live blocks that pin segments at the selected instant.
class FragmentationPage : public Page {
    Q_OBJECT
public:
    explicit FragmentationPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("fragmentation"); }
    [[nodiscard]] QString title() const override { return tr("Fragmentation"); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("fragmentation"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::Nothing; }
    [[nodiscard]] QString absence() const override { return segmentsAbsence(); }
    [[nodiscard]] QString commandLine() const override;
    void setPalette(const Palette& palette) override;
    [[nodiscard]] bool busy() const override;
    [[nodiscard]] QString copyText() const override; ///< of the table that has the keyboard
    [[nodiscard]] bool hasCsv() const override;
    [[nodiscard]] bool writeCsv(QIODevice& out) const override; ///< of the table that has the keyboard
    [[nodiscard]] QWidget* pictureWidget() override;
    [[nodiscard]] bool hasSvg() const override { return m_samples != nullptr; }
    [[nodiscard]] bool saveSvg(const QString& path) override;

    [[nodiscard]] FragmentationChart& chart() const { return *m_chart; }
    [[nodiscard]] PlainTableView& settingsTable() const { return *m_settings; }
    [[nodiscard]] PlainTableView& pinnedTable() const { return *m_pinned; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    [[nodiscard]] QString sentenceText() const;

protected:
    void showEvent(QShowEvent* event) override;

private:
    [[nodiscard]] QWidget* makeSettingsPart();
    [[nodiscard]] QWidget* makePinnedPart();
    void showDevice();
    void request();
    void show(std::shared_ptr<const MapPicture> picture);
    void showSettings();
    void showTexts();
    void copySettings();
    [[nodiscard]] const PlainTableView& activeTable() const;

    BackgroundJob m_making{ Earlier::Finish, BackgroundJob::Thread::Own };
    BackgroundJob m_sampling{ Earlier::Finish, BackgroundJob::Thread::Own };
    std::shared_ptr<const MapPicture> m_picture;
    std::shared_ptr<const FragmentationSamples> m_samples;
    std::shared_ptr<const DeviceData> m_sampled; // whose samples were asked for last
    bool m_late = false; // something changed while the page was in the background

    QLabel* m_sentence;
    QLabel* m_thrash;
    PartLegend* m_legend;
    QStackedWidget* m_stack;
    QSplitter* m_splitter;
    FragmentationChart* m_chart;
    QLabel* m_settingsState;
    QPushButton* m_copy;
    PlainTableView* m_settings;
    QLabel* m_pinnedTitle;
    PlainTableView* m_pinned;
    EmptyNotice* m_notice;
    TableFooter* m_footer;
};

} // namespace strata::views
