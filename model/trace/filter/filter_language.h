// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/filter/filter_conditions.h"

#include <string>
#include <string_view>

namespace strata::model {

// The language of filters, the same wherever one is typed or shown: search field, tables, chips, --filter.
// Terms stand apart by blanks, in any order, and are joined by "and":
//
//     filter  = { term }
//     term    = relation size | size ".." size | "line:" label | "stack:" stack | "stream:" stream
//             | "pool:" pool | "category:" label | "module:" label | word | quoted
//     relation= ">" | ">=" | "<" | "<=" | "=" | "~"          requested bytes; ~: shown like this size
//     size    = number [unit]                                1 MiB, 512, 2GiB, 1.5M, 24GB, 1,048,576, 80e9
//     label   = word | quoted                                as `strata at --by line`, category or module
//                                                            prints it; module:h.3.* means all within it
//     stack   = "none" | label { "," label }                 innermost first; several stack: mean one of them
//     stream  = integer | "none"
//     pool    = "none" | kind | "(" owner "," id ")/" kind   kind: small, large, unknown
//     quoted  = '"' { character | '\"' | '\\' } '"'
//
// Words and quoted words that are no other term are one text, with a blank between them: part of a file or
// function name in the stack or of "file:line", any case, or an address inside the block (0x...). A text that
// is one size and nothing else, unquoted, means "~ size".

/// Kind::Usage for what is no filter: says which column (characters, from 1) and what to write there.
[[nodiscard]] Result<FilterConditions> parseFilter(std::string_view text);

/// The shortest way to write the conditions: parseFilter() gives them back exactly. Empty for none.
[[nodiscard]] std::string printFilter(const FilterConditions& conditions);

/// printFilter() of a filter of this recording.
[[nodiscard]] std::string printFilter(const Recording& recording, const BlockFilter& filter);

} // namespace strata::model
