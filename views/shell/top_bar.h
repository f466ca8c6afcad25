// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document.h"
#include "views/models/palette.h"

#include <vector>

class QAction;
class QComboBox;
class QToolButton;

namespace strata::views {

class FilterBar;
class SearchBox;

/// The bar at the top: open, dry run, device, axis, active filters, search. All but the first two show only
/// while a document does.
class TopBar : public QWidget {
    Q_OBJECT
public:
    TopBar(QAction* open, QAction* dryRun, QAction* details, QWidget* parent = nullptr);

    void setDocument(Document* document); ///< nullptr: none
    void setPalette(const Palette& palette);
    [[nodiscard]] SearchBox* searchBox() const { return m_search; }

private:
    void fillDevices();
    void showState();
    QWidget* makeAxisSwitch();

    Document* m_document = nullptr;
    QToolButton* m_open;
    QToolButton* m_dryRun;
    QComboBox* m_devices;
    QToolButton* m_events;
    QToolButton* m_time;
    FilterBar* m_filters;
    SearchBox* m_search;
    QToolButton* m_details;
    std::vector<QWidget*> m_documentParts;
};

} // namespace strata::views
