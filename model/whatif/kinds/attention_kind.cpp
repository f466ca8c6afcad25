// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"

#include <algorithm>
#include <array>

namespace strata::model {

namespace {

/// As torch.nn.attention.SDPBackend has them, and ",causal" behind it.
bool isAttention(std::string_view value)
{
    constexpr std::string_view kCausal = ",causal";
    if (value.ends_with(kCausal))
        value.remove_suffix(kCausal.size());
    constexpr std::array<std::string_view, 4> kKernels{ "math", "efficient", "flash", "cudnn" };
    return std::ranges::find(kKernels, value) != kKernels.end();
}

Result<void> readAttention(Change& change)
{
    if (isAttention(change.value))
        return {};
    return fail(Error::Kind::Usage, say("--change '%1' names no kernel of attention", change.text),
        say("there are attention=math, attention=efficient, attention=flash and attention=cudnn, and "
            "with "
            "',causal' behind it masks are taken for causal ones"));
}

constexpr ChangeCard::Choice kKernels[]{
    { English("memory-efficient"), "attention=efficient" },
    { English("memory-efficient, causal"), "attention=efficient,causal" },
    { English("flash"), "attention=flash" },
    { English("flash, causal"), "attention=flash,causal" },
    { English("cuDNN"), "attention=cudnn" },
    { English("cuDNN, causal"), "attention=cudnn,causal" },
    { English("math"), "attention=math" },
    { English("math, causal"), "attention=math,causal" },
};

} // namespace

extern constinit const ChangeKind kAttentionKind{
    .word = "attention",
    .values = "attention=math|efficient|flash|cudnn[,causal]",
    .help = English("another kernel of scaled_dot_product_attention: with --confirm alone"),
    .read = readAttention,
    .notRecorded
    = English("no recording tells what another kernel of attention keeps, and what it asks for meanwhile"),
    .isByCalls = [](const Change&) { return true; },
    .timeUnknown = English("how long another kernel of attention takes is not known"),
    .dryRunValues = "attention=math|efficient|flash|cudnn[,causal]",
    .isForDryRun = isAttention,
    .card = { .kind = ChangeCard::Kind::Choice,
        .title = English("Attention"),
        .about = English("Another kernel of scaled_dot_product_attention; attention that is written by "
                         "hand becomes it. Flash and cuDNN take 16 bits; causal: masks are taken for "
                         "causal ones"),
        .choices = kKernels },
};

} // namespace strata::model
