// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/answer_fields.h"

#include <fmt/format.h>

namespace strata::model {

std::string_view unitWord(Unit unit)
{
    switch (unit) {
    case Unit::None:
        return "";
    case Unit::Bytes:
        return "bytes";
    case Unit::Nanoseconds:
        return "ns";
    case Unit::Count:
        return "count";
    case Unit::Event:
        return "event";
    case Unit::Step:
        return "step";
    }
    return "";
}

JsonText fourDigits(double figure)
{
    return { fmt::format("{:.4g}", figure) };
}

JsonText sixDigits(double figure)
{
    return { fmt::format("{:.6g}", figure) };
}

JsonText decimals(double figure, int digits)
{
    return { fmt::format("{:.{}f}", figure, digits) };
}

} // namespace strata::model
