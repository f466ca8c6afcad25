// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/search.h"

#include "model/trace/filter_language.h"

namespace strata::views {

model::Result<model::BlockFilter> searchFilter(
    const model::BlockFilter& filter, const model::Recording& recording, const QString& text)
{
    const auto typed = model::parseFilter(text.toStdString());
    if (!typed)
        return model::Failure(typed.error());
    return model::narrowed(filter, model::filterOf(recording, *typed));
}

} // namespace strata::views
