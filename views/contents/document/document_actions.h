// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QPointer>

#include "views/contents/document/document_content.h"
#include "views/contents/document/session_saver.h"

#include <utility>

namespace strata::views {

class DocumentBar;
class Finder;

/// What documents do of the window's actions, and when they can: always for the active one. The bar may
/// go before it; all else that it is given outlives it. GUI thread only.
class DocumentActions {
    Q_DECLARE_TR_FUNCTIONS(strata::views::DocumentContent)
public:
    DocumentActions(
        DocumentContent& content, const ContentContext& context, DocumentBar& bar, Finder& finder);

    /// Once; what is in it calls this object.
    [[nodiscard]] ActionMap takeServed() { return std::exchange(m_served, {}); }
    void saveSession() { m_saver.save(pane()); }

private:
    void serveFile();
    void serveLive();
    void serveEdit();
    void serveNotes();
    void serveView();
    void serveGo();
    void serveSearch();
    void saveTable();
    void savePicture();
    void copyTable();
    void selectEvent(model::EventIndex event);
    void selectRange(const EventRange& range);
    [[nodiscard]] DocumentPane& pane() const { return m_content.active(); }
    [[nodiscard]] DocumentView& view() const { return pane().view(); }
    [[nodiscard]] Document& document() const { return pane().document(); }
    [[nodiscard]] ViewState& state() const { return document().viewState(); }
    [[nodiscard]] std::shared_ptr<const DeviceData> device() const { return document().device(); }
    [[nodiscard]] Page& page() const;

    DocumentContent& m_content;
    const ContentContext m_context;
    QPointer<DocumentBar> m_bar;
    Finder& m_finder;
    SessionSaver m_saver;
    ActionMap m_served;
};

} // namespace strata::views
