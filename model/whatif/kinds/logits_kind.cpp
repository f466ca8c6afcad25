// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"

namespace strata::model {

namespace {

constexpr std::int64_t kMostChunks = 4096;

Result<void> readLogits(Change& change)
{
    constexpr std::string_view kChunks = "chunks:";
    const std::string_view value = change.value;
    if (value.starts_with(kChunks) && wholeNumber(value.substr(kChunks.size()), kMostChunks))
        return {};
    return fail(Error::Kind::Usage, say("--change '%1' names no chunks of the logits", change.text),
        say("say in how many parts the loss is to be computed, 1 to 4096, as logits=chunks:8"));
}

constexpr ChangeCard::Choice kChoices[]{
    { English("in %1 chunks"), "logits=chunks:4", 4 },
    { English("in %1 chunks"), "logits=chunks:8", 8 },
    { English("in %1 chunks"), "logits=chunks:16", 16 },
    { English("in %1 chunks"), "logits=chunks:32", 32 },
};

} // namespace

extern constinit const ChangeKind kLogitsKind{
    .word = "logits",
    .values = "logits=chunks:N",
    .help = English("cross entropy of the last layer in N chunks: with --confirm alone, by recorded calls"),
    .read = readLogits,
    .notRecorded = English("no recording tells what a loss asks for in chunks"),
    .isByCalls = [](const Change&) { return true; },
    .madeBy = MadeBy::Nobody,
    .timeUnknown = English("how long a loss in chunks takes is not known"),
    .card = { .kind = ChangeCard::Kind::Choice,
        .title = English("Logits"),
        .about = English("Cross entropy of the last linear layer in so many chunks, as "
                         "torch.nn.functional.linear_cross_entropy computes it: logits are never there as "
                         "a whole"),
        .choices = kChoices },
};

} // namespace strata::model
