// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/read_confirmed.h"

#include "model/base/read_answer.h"

#include <nlohmann/json.hpp>

namespace strata::model {

template <> struct Fields<ConfirmedDevice> {
    static constexpr std::tuple all{
        fieldOf<WhatIfDevice>("predicted", &ConfirmedDevice::predicted),
        fieldOf<WhatIfDevice>("confirmed", &ConfirmedDevice::confirmed),
        fieldOf<WhatIfDevice>("confirmed_unchanged", &ConfirmedDevice::unchanged),
        fieldOf<WhatIfDevice>("confirmed_by", &ConfirmedDevice::by),
        fieldOf<WhatIfDevice>("confirmed_note", &ConfirmedDevice::note),
        fieldOf<WhatIfDevice>("out_of_memory", &ConfirmedDevice::runsOutOfMemory),
    };
};

template <> struct Fields<ConfirmedAnswer> {
    static constexpr std::tuple all{
        fieldOf<WhatIfReport>("refused", &ConfirmedAnswer::refused),
        fieldOf<WhatIfReport>("devices", &ConfirmedAnswer::devices),
    };
};

Result<ConfirmedAnswer> readConfirmed(std::string_view json)
{
    ConfirmedAnswer answer;
    if (const auto read = readFields(nlohmann::json::parse(json, nullptr, false), answer); !read)
        return Failure(read.error());
    return answer;
}

} // namespace strata::model
