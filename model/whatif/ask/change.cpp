// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change.h"

#include "model/trace/filter/filter_language.h"
#include "model/whatif/ask/offload_choice.h"
#include "model/whatif/kinds/gradient_lives.h"
#include "model/whatif/kinds/sharding.h"
#include "model/whatif/run/optimizer_template.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>

namespace strata::model {

namespace {

constexpr std::int64_t kMostItems = std::int64_t{ 1 } << 31;

/// A whole number above 0 that a batch, or a sequence, can have.
std::optional<std::int64_t> itemsOf(std::string_view text)
{
    std::int64_t items = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), items);
    if (error != std::errc{} || end != text.data() + text.size() || items < 1 || items > kMostItems)
        return std::nullopt;
    return items;
}

/// "2", "0.5", "1.25": as a fraction in lowest terms.
bool readFactor(std::string_view text, Change& change)
{
    constexpr std::size_t kMostPlaces = 6;
    const std::size_t point = text.find('.');
    const std::string_view places = point == text.npos ? std::string_view() : text.substr(point + 1);
    if (places.size() > kMostPlaces || (point != text.npos && places.empty()))
        return false;
    std::string digits(text.substr(0, point));
    if (digits.empty())
        return false;
    digits += places;
    const auto all = itemsOf(digits);
    if (!all)
        return false;
    std::int64_t of = 1;
    for (std::size_t place = 0; place < places.size(); ++place)
        of *= 10;
    const std::int64_t common = std::gcd(*all, of);
    change.numerator = *all / common;
    change.denominator = of / common;
    return true;
}

Result<Change> parseOptimizer(std::string_view text, std::string_view value)
{
    const auto known = OptimizerTemplates::builtIn().find(value);
    if (!known && known.error().kind == Error::Kind::Usage)
        return Failure(known.error());
    Change change;
    change.kind = Change::Kind::Optimizer;
    change.text = text;
    change.value = value;
    return change;
}

Result<Change> parseSharding(const ChangeKind& kind, std::string_view text, std::string_view value)
{
    Change change;
    change.kind = kind.kind;
    change.text = text;
    change.value = value;
    if (const auto known = change.sharding(); !known)
        return fail(
            Error::Kind::Usage, say("--change '%1': %2", text, known.error().what), known.error().hint);
    return change;
}

/// A place in the program: what a filter says.
Result<Change> parseSite(const ChangeKind& kind, std::string_view text, std::string_view value)
{
    Change change;
    change.kind = kind.kind;
    change.text = text;
    change.value = value;
    if (change.freesAll())
        return change;
    if (kind.kind == Change::Kind::Free && (value == "last_use" || value == "lastuse" || value == "last use"))
        return fail(Error::Kind::Usage, say("--change '%1' is not known", text), say("give free=last-use"));
    const auto site = parseFilter(value);
    if (!site)
        return fail(Error::Kind::Usage, say("--change '%1': %2", text, site.error().what), site.error().hint);
    if (site->empty())
        return fail(Error::Kind::Usage, say("--change '%1' names no place in the program", text),
            kind.kind == Change::Kind::Remove
                ? say("give a line, a function or a file, as remove=train.py:57, or a filter")
                : say("give free=last-use, or a line, a function or a file, as free=train.py:57"));
    return change;
}

} // namespace

bool isAttention(std::string_view value)
{
    constexpr std::string_view kCausal = ",causal";
    if (value.ends_with(kCausal))
        value.remove_suffix(kCausal.size());
    constexpr std::array<std::string_view, 4> kKernels{ "math", "efficient", "flash", "cudnn" };
    return std::ranges::find(kKernels, value) != kKernels.end();
}

std::string_view evidenceWord(WhatIfEvidence evidence)
{
    switch (evidence) {
    case WhatIfEvidence::Replay:
        return "replay";
    case WhatIfEvidence::Recordings:
        return "recordings";
    case WhatIfEvidence::Deep:
        return "deep";
    case WhatIfEvidence::Roles:
        return "roles";
    case WhatIfEvidence::Windows:
        return "windows";
    case WhatIfEvidence::Frames:
        return "frames";
    case WhatIfEvidence::Sizes:
        break;
    }
    return "sizes";
}

std::span<const ChangeKind> changeKinds()
{
    static constexpr ChangeKind kKinds[] = {
        { Change::Kind::Batch, "batch", "batch=N or batch=xF" },
        { Change::Kind::Sequence, "sequence", "sequence=N or sequence=xF" },
        { Change::Kind::Checkpoint, "checkpoint",
            "checkpoint=CLASS, checkpoint=path:GLOB or checkpoint=none" },
        { Change::Kind::Optimizer, "optimizer", "optimizer=NAME[,KEY=VALUE]..." },
        { Change::Kind::Autocast, "amp", "amp=bf16 or amp=fp16" },
        { Change::Kind::Type, "dtype", "dtype=bf16 or dtype=fp16" },
        { Change::Kind::Attention, "attention", "attention=math|efficient|flash|cudnn[,causal]" },
        { Change::Kind::Logits, "logits", "logits=chunks:N" },
        { Change::Kind::Ddp, "ddp", "ddp=RANKS[,KEY=VALUE]..." },
        { Change::Kind::Zero1, "zero1", "zero1=RANKS[,KEY=VALUE]..." },
        { Change::Kind::Fsdp, "fsdp", "fsdp=RANKS[,KEY=VALUE]..." },
        { Change::Kind::Accumulate, "accumulate", "accumulate=K" },
        { Change::Kind::Offload, "offload", "offload=activations[:CLASS|:path:GLOB] or offload=optimizer" },
        { Change::Kind::Remove, "remove", "remove=SITE" },
        { Change::Kind::Free, "free", "free=last-use or free=SITE" },
        { Change::Kind::ZeroGrad, "zero_grad", "zero_grad=after-step|before-forward|before-backward" },
    };
    return kKinds;
}

std::string Change::kinds()
{
    std::string all;
    for (const ChangeKind& kind : changeKinds()) {
        all += all.empty() ? "" : ", ";
        all += kind.values;
    }
    return all;
}

bool Change::spreads() const
{
    return kind == Kind::Ddp || kind == Kind::Zero1 || kind == Kind::Fsdp;
}

bool Change::isToldByRunningAlone() const
{
    return kind == Kind::Autocast || kind == Kind::Type || kind == Kind::Attention || kind == Kind::Logits;
}

Result<Sharding> Change::sharding() const
{
    return Sharding::parse(kind == Kind::Ddp ? Sharding::Kind::Ddp
            : kind == Kind::Zero1            ? Sharding::Kind::Zero1
                                             : Sharding::Kind::Fsdp,
        value);
}

Result<Change> Change::parse(std::string_view text)
{
    const std::size_t equals = text.find('=');
    const auto known = std::ranges::find(changeKinds(), text.substr(0, equals), &ChangeKind::word);
    if (known == changeKinds().end() || equals == text.npos)
        return fail(
            Error::Kind::Usage, say("--change '%1' is not known: what it can do is %2", text, kinds()));
    if (known->kind == Kind::Optimizer)
        return parseOptimizer(text, text.substr(equals + 1));
    if (known->kind == Kind::Ddp || known->kind == Kind::Zero1 || known->kind == Kind::Fsdp)
        return parseSharding(*known, text, text.substr(equals + 1));
    if (known->kind == Kind::Remove || known->kind == Kind::Free)
        return parseSite(*known, text, text.substr(equals + 1));
    Change change;
    change.kind = known->kind;
    change.text = text;
    const std::string_view value = text.substr(equals + 1);
    change.value = value;
    if (known->kind == Kind::Checkpoint) {
        if (!value.empty() && value != "path:")
            return change;
        return fail(Error::Kind::Usage, say("--change '%1' names no modules", text),
            say("give a class, as checkpoint=Block, paths, as checkpoint=path:blocks.**, or "
                "checkpoint=none"));
    }
    if (known->kind == Kind::Autocast) {
        if (value == "bf16" || value == "fp16")
            return change;
        return fail(Error::Kind::Usage, say("--change '%1' names no type of autocast", text),
            say("there are amp=bf16 and amp=fp16"));
    }
    if (known->kind == Kind::Accumulate) {
        change.numerator = itemsOf(value).value_or(0);
        if (change.numerator >= 1 && change.numerator <= kMostMicroSteps)
            return change;
        return fail(Error::Kind::Usage, say("--change '%1' names no number of micro-steps", text),
            say("say how many forwards and backwards a step of the optimizer has, 1 to 4096, as "
                "accumulate=4"));
    }
    if (known->kind == Kind::ZeroGrad) {
        if (zeroGradPlace(value))
            return change;
        return fail(Error::Kind::Usage, say("--change '%1' names no place of zero_grad()", text),
            say("there are zero_grad=after-step, zero_grad=before-forward and zero_grad=before-backward"));
    }
    if (known->kind == Kind::Attention) {
        if (isAttention(value))
            return change;
        return fail(Error::Kind::Usage, say("--change '%1' names no kernel of attention", text),
            say("there are attention=math, attention=efficient, attention=flash and attention=cudnn, and "
                "with "
                "',causal' behind it masks are taken for causal ones"));
    }
    if (known->kind == Kind::Logits) {
        constexpr std::string_view kChunks = "chunks:";
        const auto chunks = value.starts_with(kChunks) ? itemsOf(value.substr(kChunks.size())) : std::nullopt;
        if (chunks && *chunks >= 1 && *chunks <= kMostChunks)
            return change;
        return fail(Error::Kind::Usage, say("--change '%1' names no chunks of the logits", text),
            say("say in how many parts the loss is to be computed, 1 to 4096, as logits=chunks:8"));
    }
    if (known->kind == Kind::Offload) {
        if (isOffload(value))
            return change;
        return fail(Error::Kind::Usage, say("--change '%1' names nothing that the host could keep", text),
            say("give offload=activations, or modules behind that, as offload=activations:Block or "
                "offload=activations:path:blocks.**, or offload=optimizer"));
    }
    if (known->kind == Kind::Type) {
        if (value == "bf16" || value == "fp16")
            return change;
        return fail(Error::Kind::Usage, say("--change '%1' names no type of a program", text),
            say("there are dtype=bf16 and dtype=fp16"));
    }
    if (value.starts_with('x')) {
        change.relative = true;
        if (readFactor(value.substr(1), change))
            return change;
    } else if (const auto items = itemsOf(value)) {
        change.numerator = *items;
        return change;
    }
    if (known->kind == Kind::Sequence)
        return fail(Error::Kind::Usage, say("--change '%1' names no length of sequences", text),
            say("give tokens, as sequence=2048, or how many times as many, as sequence=x2 or sequence=x0.5"));
    return fail(Error::Kind::Usage, say("--change '%1' names no size of a batch", text),
        say("give items, as batch=16, or how many times as many, as batch=x2 or batch=x0.5"));
}

} // namespace strata::model
