// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/values/value.h"
#include "model/trace/recording.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

namespace strata::model {

/// Keys of kinds of dicts that nobody knows, and how often they came: for Recording::unknownKeys. One thread.
class UnknownKeys {
public:
    /// `owner`: the kind of dict, for good.
    void count(const char* owner, Value key);
    void moveTo(Recording& recording);

private:
    boost::unordered_flat_map<std::uint64_t, std::int64_t> m_counts; // owner << 32 | StringId -> how often
    std::vector<const char*> m_owners;
};

} // namespace strata::model
