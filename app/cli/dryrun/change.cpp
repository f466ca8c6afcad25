// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/change.h"

#include "model/whatif/ask/change.h"
#include "model/whatif/ask/offload_choice.h"
#include "model/whatif/kinds/gradient_lives.h"

#include <charconv>
#include <cstdint>

namespace strata::cli {

namespace {

/// KEY=VALUE, where a value is a number, True, False or None.
bool isOptimizerOption(std::string_view item)
{
    const auto equals = item.find('=');
    if (equals == 0 || equals == item.npos)
        return false;
    const std::string_view value = item.substr(equals + 1);
    return value == "True" || value == "False" || value == "None"
        || (!value.empty() && value.find_first_not_of("0123456789.eE+-") == value.npos);
}

bool isOptimizer(std::string_view value)
{
    auto comma = value.find(',');
    if (value.substr(0, comma).empty())
        return false;
    while (comma != value.npos) {
        value.remove_prefix(comma + 1);
        comma = value.find(',');
        if (!isOptimizerOption(value.substr(0, comma)))
            return false;
    }
    return true;
}

bool isMicroSteps(std::string_view value)
{
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
    return error == std::errc() && end == value.data() + value.size() && count >= 1
        && count <= model::kMostMicroSteps;
}

} // namespace

model::Result<void> checkChange(std::string_view change)
{
    const auto equals = change.find('=');
    const std::string_view kind = change.substr(0, equals);
    const std::string_view value = equals == change.npos ? std::string_view{} : change.substr(equals + 1);
    const bool known = ((kind == "amp" || kind == "dtype") && (value == "bf16" || value == "fp16"))
        || (kind == "checkpoint" && !value.empty()) || (kind == "optimizer" && isOptimizer(value))
        || (kind == "attention" && model::isAttention(value)) || (kind == "accumulate" && isMicroSteps(value))
        || (kind == "offload" && model::isOffload(value))
        || (kind == "zero_grad" && model::zeroGradPlace(value))
        || (kind == "fsdp" && (equals == change.npos || !value.empty()));
    if (kind == "remove" || kind == "free")
        return model::fail(model::Error::Kind::Usage,
            model::say("--change %1: nobody can write that into a program from outside", change),
            model::say(
                "edit the program and run it again; strata whatif FILE --change %1 estimates it from a "
                "recording",
                change));
    if (kind == "logits")
        return model::fail(model::Error::Kind::Usage,
            model::say("--change %1: nobody can write that into a program from outside", change),
            model::say("record it with strata record --deep-step 3 and ask strata whatif FILE --change %1 "
                       "--confirm, which makes its calls again so",
                change));
    if (!known || change.find('\n') != change.npos)
        return model::fail(model::Error::Kind::Usage, model::say("--change %1: no such change", change),
            model::say("there are amp=bf16, amp=fp16, dtype=bf16, dtype=fp16, "
                       "checkpoint=MODULE_CLASS|path:GLOB|none, optimizer=NAME[,KEY=VALUE], "
                       "attention=math|efficient|flash|cudnn[,causal], accumulate=K, "
                       "offload=activations[:MODULE_CLASS|:path:GLOB], offload=optimizer, "
                       "zero_grad=after-step|before-forward|before-backward, fsdp[=MODULE_CLASS]"));
    return {};
}

} // namespace strata::cli
