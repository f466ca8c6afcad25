// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

/// A text as PYTORCH_CUDA_ALLOC_CONF has it, taken apart: keys and their values, in its order. Nothing here
/// says whether PyTorch takes them (AllocatorSettings::parse()).
using SettingsPairs = std::vector<std::pair<std::string, std::string>>;

/// Of "a:1,b:[256:1,512:2]" a and b; what has no colon is left out, and so are blanks. O(text).
[[nodiscard]] SettingsPairs settingsPairs(std::string_view text);
/// The value of a key, the last one where it stands several times; none: it is not there.
[[nodiscard]] std::optional<std::string> settingOf(std::string_view text, std::string_view key);
/// `text` with other values for some keys, in their places, new ones behind; an empty value takes the key
/// out.
[[nodiscard]] std::string withSettings(std::string_view text, const SettingsPairs& changes);

} // namespace strata::model
