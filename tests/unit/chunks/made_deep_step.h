// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/program/deep_step.h"
#include "model/trace/recording.h"

namespace strata::test {

/// One operator within a module, whose result is saved for backward.
inline model::DeepStep makeDeepStep(model::Recording& recording)
{
    using Kind = model::DeepStep::Kind;
    const auto text = [&](const char* what) { return recording.strings.intern(what); };
    model::DeepStep step;
    step.beginEvent = 3;
    step.endEvent = 9;
    step.tensors = { { 0x7000, text("float") }, { 0x9000, {} } };
    step.rows = { { Kind::Enters, 77, 3, text("h.3.attn"), text("Attention"), wire::kNone, 0, 1 },
        { Kind::Operator, 77, 4, text("aten::mul"), {}, wire::kNone, 1, 1 },
        { Kind::Saved, 77, 5, {}, {}, 0, 2, 1 }, { Kind::Returns, 77, 5, {}, {}, wire::kNone, 3, 2 },
        { Kind::Leaves, 77, 6, text("h.3.attn"), text("Attention"), wire::kNone, 5, 0 },
        { Kind::Released, 78, 8, {}, {}, 0, 5, 0 } };
    step.refs = { 0, 0, 1, 1, 0 };
    return step;
}

} // namespace strata::test
