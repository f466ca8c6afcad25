// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/ids.h"

#include <string>
#include <vector>

namespace strata::model {

/// The first line of rows as JSON lines: of what they are.
struct RowsHeader {
    std::string kind;
    int device = 0;
    std::string file;
    EventIndex from = -1, to = -1;
    LeftOutWhereNone<std::vector<std::string>> filter;
};

template <> struct Fields<RowsHeader> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const RowsHeader&) { return 1; }),
        field("kind", Unit::None, "`blocks` or `events`", &RowsHeader::kind),
        field("device", Unit::None, "number of the device", &RowsHeader::device),
        field("file", Unit::None, "the recording", &RowsHeader::file),
        field("from", Unit::Event, "first event of the range", &RowsHeader::from),
        field("to", Unit::Event, "last event of the range", &RowsHeader::to),
        field("filter", Unit::None, "the filters, where there are any: rows match all of them",
            &RowsHeader::filter),
    };
};

} // namespace strata::model
