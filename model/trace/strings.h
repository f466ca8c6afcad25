// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <cstddef>
#include <memory>
#include <string_view>

namespace strata::model {

/// Every distinct text of a recording, once. Texts are bytes as they stood in the file (usually UTF-8); views
/// stay valid as long as the table. One writer; reading a finished table needs no lock.
class StringTable {
public:
    StringTable();
    ~StringTable();
    StringTable(StringTable&&) noexcept;
    StringTable& operator=(StringTable&&) noexcept;

    [[nodiscard]] StringId intern(std::string_view text);
    [[nodiscard]] StringId find(std::string_view text) const; ///< none if it was never interned

    /// The text; empty for the id "none".
    [[nodiscard]] std::string_view operator[](StringId id) const;
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t bytesResident() const;

private:
    struct Data;
    std::unique_ptr<Data> m_data;
};

} // namespace strata::model
