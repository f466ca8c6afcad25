// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/change.h"

#include "model/whatif/ask/change_kind.h"

#include <algorithm>
#include <string>

namespace strata::cli {

std::string knownChanges()
{
    std::string known;
    for (const model::ChangeKind* kind : model::changeKinds())
        if (!kind->dryRunValues.empty())
            known += (known.empty() ? "" : ", ") + std::string(kind->dryRunValues);
    return known;
}

model::Result<void> checkChange(std::string_view change)
{
    const auto equals = change.find('=');
    const bool isAlone = equals == change.npos;
    const std::string_view word = change.substr(0, equals);
    const std::string_view value = isAlone ? std::string_view{} : change.substr(equals + 1);
    const auto kinds = model::changeKinds();
    const auto found = std::ranges::find(kinds, word, &model::ChangeKind::word);
    const model::ChangeKind* const kind = found == kinds.end() ? nullptr : *found;
    if (kind != nullptr && kind->isWrittenByHand())
        return model::fail(model::Error::Kind::Usage,
            model::say("--change %1: nobody can write that into a program from outside", change),
            model::say(
                "edit the program and run it again; strata whatif FILE --change %1 estimates it from a "
                "recording",
                change));
    if (kind != nullptr && kind->isToldByCallsAlone())
        return model::fail(model::Error::Kind::Usage,
            model::say("--change %1: nobody can write that into a program from outside", change),
            model::say("record it with strata record --deep-step 3 and ask strata whatif FILE --change %1 "
                       "--confirm, which makes its calls again so",
                change));
    const bool isKnown = kind != nullptr && kind->isForDryRun != nullptr
        && (isAlone ? kind->isForDryRunAlone : kind->isForDryRun(value));
    if (isKnown && change.find('\n') == change.npos)
        return {};
    return model::fail(model::Error::Kind::Usage, model::say("--change %1: no such change", change),
        model::say("there are %1", knownChanges()));
}

} // namespace strata::cli
