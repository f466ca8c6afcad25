// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <cstddef>
#include <memory>
#include <string_view>

namespace strata::model {

/// Every distinct text of a recording, once. Texts are bytes as they stood in the file (usually UTF-8); views
/// stay valid as long as the table or a copy of it. A copy is a snapshot, as of a Column: it costs little and
/// never changes when the original does. One writer; reading needs no lock.
class StringTable {
public:
    StringTable();
    StringTable(const StringTable& other);
    StringTable& operator=(const StringTable& other) = delete;
    ~StringTable();
    StringTable(StringTable&&) noexcept;
    StringTable& operator=(StringTable&&) noexcept;

    [[nodiscard]] StringId intern(std::string_view text);
    /// None if it was never interned. Looks at every text of a copy that interned none itself.
    [[nodiscard]] StringId find(std::string_view text) const;

    /// The text; empty for the id "none".
    [[nodiscard]] std::string_view operator[](StringId id) const;
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t bytesResident() const;

private:
    struct Data;
    std::unique_ptr<Data> m_data;
};

} // namespace strata::model
