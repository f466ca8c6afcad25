// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/filter/filter.h"
#include "views/models/document/device_data.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace strata::views {

/// What several filters keep all, of a device that must outlive it; `Matcher` is one of them, prepared for
/// it. Cheap to copy. Any thread.
template <class Matcher> class EveryFilter {
public:
    EveryFilter(const DeviceData& device, const std::vector<model::BlockFilter>& filters)
    {
        auto matchers = std::make_shared<std::vector<Matcher>>();
        for (const model::BlockFilter& filter : filters)
            if (!filter.empty())
                matchers->emplace_back(*device.trace, filter, device.labels());
        m_matchers = std::move(matchers);
    }

    [[nodiscard]] bool keepsAll() const { return m_matchers->empty(); }
    template <class Row> [[nodiscard]] bool operator()(Row row) const
    {
        return std::ranges::all_of(*m_matchers, [row](const Matcher& keeps) { return keeps(row); });
    }

private:
    std::shared_ptr<const std::vector<Matcher>> m_matchers;
};

} // namespace strata::views
