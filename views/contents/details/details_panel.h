// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "views/base/background_job.h"
#include "views/contents/details/details.h"
#include "views/models/document/document.h"
#include "views/pages/parts/page.h"
#include "views/style/palette.h"

class QScrollArea;
class QVBoxLayout;

namespace strata::views {

/// The content of the details dock: whatever was clicked last, in the order of Details. GUI thread.
class DetailsPanel : public QWidget {
    Q_OBJECT
public:
    explicit DetailsPanel(Document& document, QWidget* parent = nullptr);

    void setFocusShown(const Focus& focus);
    void setPalette(const Palette& palette);
    [[nodiscard]] const Focus& focusShown() const { return m_focus; }
    [[nodiscard]] const Details& details() const { return m_details; }

Q_SIGNALS:
    void eventChosen(strata::model::EventIndex event);
    void openPage(const QString& id, std::optional<strata::model::EventIndex> event); ///< as Page::openPage
    void openFrame(const QString& file, qint64 line);

private:
    void refresh(); ///< details() at once; what is shown of it after the frame that is due
    void goOn();
    void rebuild();
    void addHead(QVBoxLayout& layout);
    void addRows(QVBoxLayout& layout, const QString& heading, const std::vector<DetailsRow>& rows);
    void addStack(QVBoxLayout& layout);
    [[nodiscard]] QString foldText(int hidden) const;
    void addActions(QVBoxLayout& layout);
    [[nodiscard]] model::EventIndex instant(const DeviceData& device) const;

    Document& m_document;
    Palette m_palette = Palette::light();
    Focus m_focus;
    Details m_details;
    std::shared_ptr<const DeviceData> m_shown; // what m_details and blocks of m_focus are of
    bool m_folded = true;
    BackgroundJob m_refreshing{ Earlier::Finish }; // of a newer generation
    QTimer m_rebuildLater; // laying out labels takes as long as a frame
    QVBoxLayout* m_layout;
    QScrollArea* m_content = nullptr;
    Focus m_built; // what m_content shows
};

} // namespace strata::views
