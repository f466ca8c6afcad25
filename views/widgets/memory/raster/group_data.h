// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/document.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace strata::views {

/// What the pictures need of one grouping of a device's blocks. Immutable.
struct GroupData {
    std::shared_ptr<const DeviceData> device; ///< keeps alive what the index points to
    std::shared_ptr<const model::GroupTable> table;
    std::shared_ptr<const model::LayerOrder> order;
    std::vector<int> rank; ///< group -> its colour in the window
    std::shared_ptr<const model::BlocksIndex> blocks; ///< none until the document has its strips
};

/// What the document has for the grouping by line already, computed for the others: O(blocks), so off the GUI
/// thread; nullptr once the token is set, and for a grouping whose groups are not known yet. From `earlier`,
/// which may be nullptr, where that is of an earlier generation under the same grouping: for what is new.
[[nodiscard]] std::shared_ptr<const GroupData> makeGroupData(std::shared_ptr<const DeviceData> device,
    model::Grouping grouping, const std::shared_ptr<const GroupData>& earlier, const std::stop_token& stop);

} // namespace strata::views
