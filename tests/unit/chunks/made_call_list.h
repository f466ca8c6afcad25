// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/program/call_list.h"
#include "model/trace/recording.h"

namespace strata::test {

/// A module whose weight is multiplied by what came before, and the step back.
inline model::CallList makeCallList(model::Recording& recording)
{
    using Kind = model::CallList::Kind;
    const auto text = [&](const char* what) { return recording.strings.intern(what); };
    model::CallList list;
    list.beginEvent = 3;
    list.endEvent = 9;
    list.tensors = { { 0x7000, text("float"), 0, wire::kNone, 0, 2 },
        { 0x9000, text("float"), 4, wire::kNone, 4, 1 }, { 0xa000, text("float"), 0, 0, 6, 2 } };
    list.lengths = { 2, 3, 3, 1, 3, 1, 2, 3, 3, 1 };
    list.rows = { { Kind::Known, 3, false, text("parameter"), {}, 0, 1, 0 },
        { Kind::Enters, 3, false, text("h.3.attn"), text("Attention"), 1, 0, 0 },
        { Kind::Call, 4, true, text("aten::sum.dim_IntList"), text(R"(["@",[1],false,null])"), 1, 1, 1 },
        { Kind::Leaves, 5, false, text("h.3.attn"), text("Attention"), 3, 0, 0 },
        { Kind::Backward, 6, false, {},
            text(
                R"({"retain":false,"create":false,"roots":1,"gradients":[false],"inputs":0,"accumulate":true,)"
                R"("unused":true})"),
            3, 1, 0 },
        { Kind::BackwardEnds, 8, false, {}, {}, 4, 0, 0 }, { Kind::Gone, 8, false, {}, {}, 4, 1, 0 },
        { Kind::Known, 8, false, text("gradient"), {}, 5, 2, 0 } };
    list.refs = { 1, 1, 3, 3, 2, 1, 4 };
    return list;
}

} // namespace strata::test
