// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "model/base/units.h"
#include "model/symbols/symbolize.h"

#include <fmt/format.h>

namespace strata::cli {

model::Result<int> runSymbolize(const std::string& file, Output& out)
{
    const auto found = model::symbolize(file);
    if (!found)
        return model::Failure(found.error());
    if (found->places == 0)
        out.line("There are no frames of C++ whose source is not known.");
    else
        out.line(fmt::format("{} of {} places in the program's C++ code have a source and line now.",
            model::formatCount(found->withLine), model::formatCount(found->places)));
    return kDone;
}

} // namespace strata::cli
