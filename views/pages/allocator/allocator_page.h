// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>

#include "views/pages/parts/page.h"
#include "views/widgets/allocator/address_map.h"
#include "views/widgets/empty_notice.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace strata::views {

class PartLegend;
class PlainTableView;
class Segmented;
class TableFooter;

/// What the allocator holds at the selected instant, by address: a sentence, the map, and its segments in
/// numbers. Without a selection it is the last out-of-memory, else the peak. Maps are made off the GUI
/// thread; the old one stays until the new one is there.
class AllocatorPage : public Page {
    Q_OBJECT
public:
    explicit AllocatorPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("allocator"); }
    [[nodiscard]] QString title() const override { return tr("Allocator state"); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("allocator"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::Nothing; }
    [[nodiscard]] QString absence() const override { return segmentsAbsence(); }
    [[nodiscard]] QString commandLine() const override;
    void setPalette(const Palette& palette) override;
    void resetView() override { m_map->showAll(); }
    void showFocus(const Focus& focus) override;
    [[nodiscard]] bool busy() const override;
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] bool hasCsv() const override;
    [[nodiscard]] bool writeCsv(QIODevice& out) const override;
    [[nodiscard]] QWidget* pictureWidget() override;
    [[nodiscard]] bool hasSvg() const override { return hasCsv(); }
    [[nodiscard]] bool saveSvg(const QString& path) override;

    void setNormalised(bool on);
    /// Goes to a block or segment by its address, as written: true if it is reserved at the instant.
    bool findAddress(const QString& text);
    void play(bool on); ///< steps on through the trace, some twenty times a second
    [[nodiscard]] bool playing() const { return m_player.isActive(); }

    [[nodiscard]] AddressMap& map() const { return *m_map; }
    [[nodiscard]] PlainTableView& table() const { return *m_table; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    [[nodiscard]] QString sentenceText() const;

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* makeControls();
    void makeActions();
    void showDevice();
    void request();
    void show(std::shared_ptr<const MapPicture> picture);
    void showNotice();
    [[nodiscard]] QString sentence() const;
    void chosen(const MapHit& hit);
    void playOn();

    BackgroundJob m_making{ Earlier::Finish, BackgroundJob::Thread::Own };
    std::shared_ptr<const MapPicture> m_picture;
    bool m_late = false; // something changed while the page was in the background
    Focus m_focus; // what the details show
    QTimer m_player;
    std::optional<model::EventIndex> m_goal; // that play() asked for last

    QLabel* m_sentence;
    QWidget* m_controls;
    Segmented* m_scale;
    QPushButton* m_play;
    QLineEdit* m_search;
    QLabel* m_found;
    PartLegend* m_legend;
    QStackedWidget* m_stack;
    QSplitter* m_splitter;
    AddressMap* m_map;
    PlainTableView* m_table;
    EmptyNotice* m_notice;
    TableFooter* m_footer;
};

} // namespace strata::views
