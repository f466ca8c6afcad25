// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <memory>
#include <string_view>

namespace strata::test {

/// Builds a recording from a compact text, one line an item, so that tests can write small inputs. Numbers
/// are decimal or 0x hex, values with spaces stand in double quotes (\" for a quote in them), `#` begins a
/// comment. Throws std::invalid_argument with the line's number on anything else.
///
///     device 1                                     what follows is of device 1 (0 without this line)
///     alloc 0x1000 512 stream=7 time=10 pool=(0,1) ctx=0/0 meta=x stack=f@train.py:3|g@main.py:9
///     alloc 0x1000 512 stack=f@train.cpp:3+16          of C++, which returns to that offset
///     free_requested 0x1000 512                    any action by its name: address, bytes, then options
///     oom size=1024 free=4096
///     other:workspace 0x1000 1                     an action that Strata does not know
///     segment 0x1000 2097152 small stream=7 pool=(0,1) expandable allocated=512 active=512 requested=500
///     block 0x1000 512 req=500 allocated stack=f@train.py:3      of the last segment; pending, inactive
///     setting expandable_segments false            key and JSON text
///     annotation start forward time=10             start, end or mark
///     truncated 4096 "unexpected end of file"
///
/// Times are nanoseconds; once one event of a device has a time, an event without takes its predecessor's.
/// Stacks are innermost first. Pools of events have the kind Unknown, as the readers leave them. A stream is
/// 0 where none is given. What no `block` line of a segment covers becomes an inactive block (`nofill` on the
/// segment's line: it does not); requested size of a block: its size if `req` is missing, 0 if inactive. The
/// sums of a segment are those of its blocks unless given (`nosums`: missing). Segments may stand in any
/// order.
[[nodiscard]] std::unique_ptr<model::Recording> makeRecording(std::string_view text);

/// Interns a stack written as in makeRecording: "f@train.py:3|g@main.py:9".
[[nodiscard]] model::StackId makeStack(model::Recording& recording, std::string_view text);

} // namespace strata::test
