// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/dryrun/read_dry_run.h"

#include "model/base/read_answer.h"

#include <nlohmann/json.hpp>

namespace strata::model {

Result<std::variant<DryRunAnswer, DryRunFitAnswer>> readDryRun(std::string_view json)
{
    const auto document = nlohmann::json::parse(json, nullptr, false);
    DryRunFitAnswer search;
    if (const auto read = readFields(document, search); !read)
        return Failure(read.error());
    if (search.schema != DryRunHead::kSchema || !search.simulated)
        return fail(Error::Kind::Format, say("not an answer of strata dryrun"));
    if (search.fit && search.fit->variables.empty())
        return fail(Error::Kind::Format, say("the answer of strata dryrun --fit has no variables"));
    if (search.fit)
        return search;
    DryRunAnswer answer;
    if (const auto read = readFields(document, answer); !read)
        return Failure(read.error());
    if (!answer.ranks)
        return fail(Error::Kind::Format, say("the answer of strata dryrun has no ranks"));
    return answer;
}

} // namespace strata::model
