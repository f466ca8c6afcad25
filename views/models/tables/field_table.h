// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/field_value.h"
#include "views/models/tables/plain_table.h"
#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

#include <cstdint>
#include <optional>
#include <string>

namespace strata::views {

/// A table whose rows are structs with Fields. A column is named by the key of its field, which gives its
/// value. Bytes and numbers are shown by the field's unit; a table overrides cell() for the rest.
template <model::HasFields Row> class FieldTable : public PlainTable {
public:
    [[nodiscard]] TableCell cell(std::uint32_t number, int column) const override
    {
        const model::FieldValue held = value(number, column);
        if (!held.figure)
            return held.text.empty() ? noteCell(QStringLiteral("–")) : TableCell{ text::utf8(held.text), {} };
        return unitOf(column) == model::Unit::Bytes ? bytesCell(*held.figure)
                                                    : TableCell{ text::count(*held.figure), {} };
    }

protected:
    using PlainTable::PlainTable;

    [[nodiscard]] virtual const Row& at(std::uint32_t number) const = 0;
    [[nodiscard]] model::FieldValue value(std::uint32_t number, int column) const
    {
        return model::fieldValue(keyOf(column), at(number));
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t number, int column) const override
    {
        return value(number, column).figure;
    }
    [[nodiscard]] std::string text(std::uint32_t number, int column) const override
    {
        return value(number, column).text;
    }

private:
    [[nodiscard]] model::Unit unitOf(int column) const
    {
        model::Unit unit = model::Unit::None;
        model::forEachField<Row>(
            [&](const auto& field) { unit = field.key == keyOf(column) ? field.unit : unit; });
        return unit;
    }
};

} // namespace strata::views
