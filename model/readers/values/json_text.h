// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/values/value.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace strata::model {

class Heap;

/// Appends `value` as JSON. Lists and dicts that are deeper than 32 levels, and whatever comes after `limit`
/// characters, stand as "...": values may refer to each other in circles. Never recurses. Returns whether
/// reading it back gives `value`: nothing was left out, and all keys are texts.
bool appendJson(const Heap& heap, Value value, std::size_t limit, std::string& out);

/// `text` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
void appendJsonString(std::string_view text, std::string& out);

} // namespace strata::model
