// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "views/pages/parts/page.h"
#include "views/style/rich_text.h"

#include <string>

namespace strata::views {

/// Where clicks on the page "Summary" lead: to an instant, a line of code, a category or module, as the
/// page's signals tell. A child of the page. GUI thread only.
class SummaryJumps : public QObject {
public:
    SummaryJumps(Page& page, Document& document);

    void follow(const QString& link); ///< to a line, an event or a page (rich_text.h)
    void instant(model::EventIndex event);
    void line(const text::LineLink& link);
    void group(model::Grouping grouping, const std::string& label, model::EventIndex event);
    void details(const std::string& line); ///< of a line; once there is a device to tell of it
    void filter(const std::string& line, bool named);
    void forgetWanted() { m_wanted.clear(); } ///< another device is shown
    void deviceReady(); ///< called whenever there may be a device

private:
    Page& m_page;
    Document& m_document;
    std::string m_wanted; // a line that was clicked before there was a device to tell of it
};

} // namespace strata::views
