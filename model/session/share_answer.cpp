// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/share_answer.h"

#include "model/trace/program/call_list.h"

namespace strata::model {

std::int64_t ShareAnswer::callsInSession() const
{
    std::int64_t rows = 0;
    if (const auto* const part = session->recording().parts.find<CallLists>())
        for (const CallList& list : part->lists)
            rows += static_cast<std::int64_t>(list.rows.size());
    return rows;
}

} // namespace strata::model
