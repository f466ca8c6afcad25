// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace strata::model {

/// Modules by their class ("Block", or "models.gpt.Block", of which the last part counts), or by their path
/// ("path:blocks.*", as matchesGlob()).
class ModuleChoice {
public:
    explicit ModuleChoice(std::string_view text);

    [[nodiscard]] bool isByPath() const { return m_byPath; }
    [[nodiscard]] bool matches(std::string_view path, std::string_view type) const;

private:
    bool m_byPath = false;
    std::string m_pattern;
};

/// `*` stands for any text, `?` for one character, `[0-5]` for one of these, `[!0-5]` for one of none of
/// these, as Python's fnmatch has it. O(pattern x text).
[[nodiscard]] bool matchesGlob(std::string_view pattern, std::string_view text);

} // namespace strata::model
