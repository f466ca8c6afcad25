// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "model/tables/search.h"
#include "views/contents/search/search_list.h"
#include "views/models/document/device_data.h"

#include <memory>
#include <vector>

namespace strata::views {

/// What a text found in a device, and how its hits are shown. They have nothing to do yet: that is set by who
/// shows them (SearchItem::go). Made on a worker, shown on the GUI thread.
struct FoundHits {
    Q_DECLARE_TR_FUNCTIONS(strata::views::Finder)
public:
    QString text;
    QString path; ///< of the file that it is of
    std::shared_ptr<const DeviceData> device;
    model::SearchHits hits;

    [[nodiscard]] SearchItem item(std::size_t number) const;
    /// By kinds of hits; one section for each, empty or not.
    [[nodiscard]] std::vector<SearchSection> sections() const;
};

/// The match begins with what was typed, or is it; not what merely has it.
[[nodiscard]] bool matchesWell(model::NameMatch match);

} // namespace strata::views
