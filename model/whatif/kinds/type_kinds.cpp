// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"

namespace strata::model {

namespace {

bool isType(std::string_view value)
{
    return value == "bf16" || value == "fp16";
}

Result<void> readAutocast(Change& change)
{
    if (isType(change.value))
        return {};
    return fail(Error::Kind::Usage, say("--change '%1' names no type of autocast", change.text),
        say("there are amp=bf16 and amp=fp16"));
}

Result<void> readType(Change& change)
{
    change.effect = Does::Types;
    if (isType(change.value))
        return {};
    return fail(Error::Kind::Usage, say("--change '%1' names no type of a program", change.text),
        say("there are dtype=bf16 and dtype=fp16"));
}

constexpr ChangeCard::Choice kPrecisions[]{
    { English("autocast to bfloat16"), "amp=bf16" },
    { English("autocast to float16"), "amp=fp16" },
    { English("all of it in bfloat16"), "dtype=bf16" },
    { English("all of it in float16"), "dtype=fp16" },
};

} // namespace

extern constinit const ChangeKind kAutocastKind{
    .word = "amp",
    .values = "amp=bf16 or amp=fp16",
    .help = English("forward and loss under autocast: with --confirm alone"),
    .read = readAutocast,
    .notRecorded
    = English("no recording tells which tensors autocast makes smaller, and which copies it keeps"),
    .isByCalls = [](const Change&) { return true; },
    .timeUnknown = English("how long kernels take with other types is not known"),
    .dryRunValues = "amp=bf16, amp=fp16",
    .isForDryRun = isType,
    .card = { .kind = ChangeCard::Kind::Choice,
        .title = English("Precision"),
        .about = English("The forward under torch.autocast, or parameters, buffers and inputs in another "
                         "type: which operators then compute in which, PyTorch alone knows"),
        .choices = kPrecisions },
};

extern constinit const ChangeKind kTypeKind{
    .word = "dtype",
    .values = "dtype=bf16 or dtype=fp16",
    .help = English("parameters, buffers and inputs of that type: with --confirm alone"),
    .read = readType,
    .notRecorded = English("no recording tells what a program computes in another type"),
    .isByCalls = [](const Change&) { return true; },
    .takesModules = true, // whose inputs are cast
    .timeUnknown = English("how long kernels take with other types is not known"),
    .dryRunValues = "dtype=bf16, dtype=fp16",
    .isForDryRun = isType,
};

} // namespace strata::model
