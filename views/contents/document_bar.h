// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document.h"
#include "views/style/palette.h"

class QAction;
class QComboBox;
class QToolButton;

namespace strata::views {

class FilterBar;
class SearchBox;

/// What the window's top bar says of a document: device, axis, active filters, search.
class DocumentBar : public QWidget {
    Q_OBJECT
public:
    explicit DocumentBar(QAction* details, QWidget* parent = nullptr);

    void setDocument(Document* document); ///< nullptr: none
    void setPalette(const Palette& palette);
    [[nodiscard]] SearchBox* searchBox() const { return m_search; }

private:
    void fillDevices();
    void showState();
    QWidget* makeAxisSwitch();

    Document* m_document = nullptr;
    QComboBox* m_devices;
    QToolButton* m_events;
    QToolButton* m_time;
    FilterBar* m_filters;
    SearchBox* m_search;
    QToolButton* m_details;
};

} // namespace strata::views
