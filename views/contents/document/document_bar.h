// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>

#include "views/models/document/document.h"
#include "views/shell/actions.h"
#include "views/style/palette.h"

class QComboBox;
class QToolButton;

namespace strata::views {

class DocumentView;
class FilterBar;
class Finder;
class SearchBox;

/// What the window's top bar says of a document: device, axis, active filters, search.
class DocumentBar : public QWidget {
    Q_OBJECT
public:
    /// Buttons for the actions; the search is that of `finder`, which outlives the bar.
    DocumentBar(Finder& finder, const Actions& actions, QWidget* parent = nullptr);

    void setView(DocumentView* view); ///< with the document that it shows; nullptr: none
    void setPalette(const Palette& palette);
    [[nodiscard]] SearchBox* searchBox() const { return m_search; }

private:
    void fillDevices();
    void showState();
    void showReach(); // of the filter
    QWidget* makeAxisSwitch();

    QPointer<DocumentView> m_view;
    Document* m_document = nullptr;
    QComboBox* m_devices;
    QWidget* m_axis; ///< the two that follow
    QToolButton* m_events;
    QToolButton* m_time;
    FilterBar* m_filters;
    SearchBox* m_search;
    QToolButton *m_previous, *m_next; // hit of the search
    QToolButton* m_details;
};

} // namespace strata::views
