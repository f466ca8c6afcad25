// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/calls/call_hints.h"

#include "model/analysis/summary/recorded_card.h"
#include "model/base/shell.h"
#include "model/base/wrap.h"
#include "model/cards/catalogue.h"
#include "model/trace/frames.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/calls/calls_again.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

using nlohmann::json;
using Names = std::span<const std::string_view>;
using Lengths = std::span<const std::int64_t>;

// As capture/dryrun/replay_rows.py, replay_logits.py and replay_attention.py have them.
constexpr int kMostBetween = 16;
constexpr std::array<std::string_view, 7> kCasts{ "to", "_to_copy", "type_as", "float", "contiguous", "clone",
    "alias" };
constexpr std::array<std::string_view, 13> kLogitViews{ "view", "reshape", "_unsafe_view", "flatten",
    "unflatten", "unsqueeze", "squeeze", "slice", "transpose", "permute", "movedim", "swapaxes", "add_" };
constexpr std::array<std::string_view, 6> kTurns{ "t", "transpose", "numpy_T", "permute", "mT", "adjoint" };
constexpr std::array<std::string_view, 3> kSoftmax{ "softmax", "_softmax", "special_softmax" };
constexpr std::array<std::string_view, 3> kProducts{ "matmul", "bmm", "einsum" };
constexpr std::array<std::string_view, 6> kScales{ "mul", "mul_", "div", "div_", "multiply", "divide" };
constexpr std::array<std::string_view, 5> kMasks{ "add", "add_", "masked_fill", "masked_fill_", "where" };
constexpr std::array<std::string_view, 2> kDropouts{ "dropout", "dropout_" };
constexpr std::array<std::string_view, 2> kHalves{ "c10::Half", "c10::BFloat16" }; // types of 16 bits

constexpr const char* kLogits = "logits=chunks:8";
constexpr const char *kFlash = "attention=flash", *kEfficient = "attention=efficient";
constexpr std::int64_t kLeastHeld = 20; // a part of the requested peak
constexpr double kSamePeak = 0.98; // of the recorded peak: the deep step has it, too
constexpr int kFlashMajor = 8; // flash attention needs compute capability 8.0

bool isOneOf(std::string_view name, Names names)
{
    return std::ranges::find(names, name) != names.end();
}

/// 0: more than there can be.
std::int64_t productOf(Lengths lengths, std::initializer_list<std::int64_t> more)
{
    std::int64_t product = 1;
    for (const Lengths some : { lengths, Lengths(more.begin(), more.size()) })
        for (const std::int64_t length : some)
            if (__builtin_mul_overflow(product, length, &product))
                return 0;
    return product;
}

class HintFinder {
public:
    HintFinder(const DeviceTrace& trace, const CallList& list)
        : m_trace(trace)
        , m_list(list)
        , m_made(list.tensors.size())
        , m_uses(list.tensors.size())
    {
        for (std::size_t place = 0; place < list.rows.size(); ++place) {
            const CallList::Row& row = list.rows[place];
            if (row.kind != CallList::Kind::Gone && row.kind != CallList::Kind::Known)
                for (const std::uint32_t ref : list.taken(row))
                    m_uses[CallList::tensorOf(ref)].push_back(place);
            for (const std::uint32_t ref : list.returned(row))
                m_made[CallList::tensorOf(ref)].push_back(place);
        }
    }

    std::vector<std::pair<std::string, std::int64_t>> find()
    {
        for (std::size_t place = 0; place < m_list.rows.size(); ++place) {
            if (!isCall(place))
                continue;
            const std::string_view name = baseOf(place);
            if (name == "cross_entropy_loss")
                findLogits(place);
            else if (isOneOf(name, kSoftmax))
                findScores(place);
            else if (name == "scaled_dot_product_attention")
                findMath(place);
        }
        const EventIndex peak = m_logits.empty() && m_scores.empty() ? -1 : peakOfStep();
        if (peak < 0)
            return {};
        std::vector<std::pair<std::string, std::int64_t>> found;
        found.emplace_back(kLogits, heldBytes(m_logits, peak));
        found.emplace_back(m_isForFlash ? kFlash : kEfficient, heldBytes(m_scores, peak));
        std::erase_if(found, [&](const auto& each) {
            return each.second < std::max<std::int64_t>(1, m_trace.totals().requestedBytesPeak / kLeastHeld);
        });
        std::ranges::stable_sort(
            found, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
        return found;
    }

    /// A kernel that the program may have chosen around its calls, which they do not tell.
    [[nodiscard]] bool isMathAlone() const { return m_isMath && !m_isByHand; }

private:
    [[nodiscard]] bool isCall(std::size_t place) const
    {
        const CallList::Row& row = m_list.rows[place];
        return row.kind == CallList::Kind::Call && row.takes > 0;
    }

    /// "softmax" of "aten::softmax.int"
    [[nodiscard]] std::string_view baseOf(std::size_t place) const
    {
        const StringId id = m_list.rows[place].name;
        std::string_view name = id.valid() ? m_trace.recording().strings[id] : std::string_view();
        constexpr std::string_view kAten = "aten::";
        if (name.starts_with(kAten))
            name.remove_prefix(kAten.size());
        return name.substr(0, name.find('.'));
    }

    [[nodiscard]] json detailOf(std::size_t place) const
    {
        const StringId id = m_list.rows[place].detail;
        return id.valid() ? json::parse(m_trace.recording().strings[id], nullptr, false) : json();
    }

    [[nodiscard]] std::uint32_t taken(std::size_t place, std::size_t which) const
    {
        return CallList::tensorOf(m_list.taken(m_list.rows[place])[which]);
    }

    [[nodiscard]] Lengths sizes(std::uint32_t tensor) const { return m_list.sizes(m_list.tensors[tensor]); }

    [[nodiscard]] std::string_view typeName(std::uint32_t tensor) const
    {
        const StringId id = m_list.tensors[tensor].type;
        return id.valid() ? m_trace.recording().strings[id] : std::string_view();
    }

    /// The last row before that place which leaves the tensor as it is; none: no call.
    [[nodiscard]] std::optional<std::size_t> maker(std::uint32_t tensor, std::size_t place) const
    {
        const auto& made = m_made[tensor];
        const auto behind = std::ranges::lower_bound(made, place);
        if (behind == made.begin() || !isCall(*std::prev(behind)))
            return std::nullopt;
        return *std::prev(behind);
    }

    /// Whether nothing but these rows takes what they return; that of `last` is for others.
    [[nodiscard]] bool isTakenWithin(const std::set<std::size_t>& places, std::size_t last) const
    {
        for (const std::size_t place : places)
            for (const std::uint32_t ref : m_list.returned(m_list.rows[place]))
                if (place != last
                    && !std::ranges::all_of(m_uses[CallList::tensorOf(ref)],
                        [&](std::size_t use) { return places.contains(use); }))
                    return false;
        return true;
    }

    /// A product with a weight that is turned for it, as a linear layer.
    [[nodiscard]] bool isLayer(std::size_t place) const
    {
        const std::string_view name = baseOf(place);
        if (name == "linear")
            return true;
        const std::uint32_t takes = m_list.rows[place].takes;
        if ((name != "addmm" || takes != 3) && ((name != "matmul" && name != "mm") || takes != 2))
            return false;
        const std::uint32_t factor = taken(place, takes - 1);
        const auto turn = maker(factor, place);
        return turn && isOneOf(baseOf(*turn), kTurns)
            && std::ranges::equal(sizes(factor), std::views::reverse(sizes(taken(*turn, 0))));
    }

    void findLogits(std::size_t loss)
    {
        constexpr std::size_t kSmoothing = 5; // of its arguments
        const json detail = detailOf(loss);
        if (m_list.rows[loss].takes < 2 || !detail.is_array() || detail.size() <= kSmoothing
            || detail[kSmoothing] != 0.0 || std::ranges::equal(sizes(taken(loss, 0)), sizes(taken(loss, 1))))
            return;
        std::set<std::size_t> places{ loss };
        std::size_t place = loss;
        for (int between = 0; between < kMostBetween; ++between) {
            const auto made = maker(taken(place, 0), place);
            if (!made)
                return;
            place = *made;
            places.insert(place);
            if (isLayer(place)) {
                if (isTakenWithin(places, loss))
                    m_logits.insert(places.begin(), places.end());
                return;
            }
            const std::string_view name = baseOf(place);
            if (!isOneOf(name, kCasts) && !isOneOf(name, kLogitViews) && name != "add")
                return;
        }
    }

    /// From a call on, what is between it and a product that takes its result first.
    [[nodiscard]] std::optional<std::size_t> productAhead(
        std::size_t place, std::set<std::size_t>& places) const
    {
        for (int between = 0; between < kMostBetween; ++between) {
            const auto returned = m_list.returned(m_list.rows[place]);
            if (returned.empty())
                return std::nullopt;
            const std::uint32_t weights = CallList::tensorOf(returned.front());
            const auto& uses = m_uses[weights];
            const auto later = std::ranges::subrange(std::ranges::upper_bound(uses, place), uses.end())
                | std::views::take(kMostBetween);
            const auto next = std::ranges::find_if(
                later, [&](std::size_t use) { return isCall(use) && taken(use, 0) == weights; });
            if (next == later.end())
                return std::nullopt;
            place = *next;
            places.insert(place);
            const std::string_view name = baseOf(place);
            if (isOneOf(name, kProducts))
                return m_list.rows[place].takes > 1 ? std::optional(place) : std::nullopt;
            if (!isOneOf(name, kDropouts) && !isOneOf(name, kCasts))
                return std::nullopt;
        }
        return std::nullopt;
    }

    /// From a call back to the product that makes what it takes; whether a mask is between.
    [[nodiscard]] std::optional<std::size_t> productBehind(
        std::size_t place, std::set<std::size_t>& places, bool& isMasked) const
    {
        std::uint32_t scores = taken(place, 0);
        for (int between = 0; between < kMostBetween; ++between) {
            const auto made = maker(scores, place);
            if (!made)
                return std::nullopt;
            place = *made;
            places.insert(place);
            const std::string_view name = baseOf(place);
            const std::uint32_t takes = m_list.rows[place].takes;
            if (isOneOf(name, kProducts))
                return takes > 1 ? std::optional(place) : std::nullopt;
            const bool isMask = isOneOf(name, kMasks);
            if (!isMask && !isOneOf(name, kScales) && !isOneOf(name, kCasts))
                return std::nullopt;
            isMasked = isMasked || isMask;
            scores = taken(place, name == "where" && takes > 1 ? 1 : 0);
        }
        return std::nullopt;
    }

    void findScores(std::size_t softmax)
    {
        std::set<std::size_t> places{ softmax };
        bool isMasked = false;
        const auto first = productBehind(softmax, places, isMasked);
        const auto last = first ? productAhead(softmax, places) : std::nullopt;
        if (!last || !isTakenWithin(places, *last))
            return;
        const std::uint32_t query = taken(*first, 0);
        places.erase(*last); // what it makes is no score
        m_isByHand = true;
        m_scores.insert(places.begin(), places.end());
        takeKernel(query, isMasked);
    }

    /// Sizes of S x S that a call of attention allocates by the math kernel alone, in bytes. What has the
    /// size of a query, key, value or output may be one: flash attention pads them, grouped queries repeat
    /// them.
    [[nodiscard]] std::set<std::int64_t> scoreSizes(std::size_t call) const
    {
        constexpr std::int64_t kPadded = 8; // to a multiple of that many
        const std::string_view type = typeName(taken(call, 0));
        std::vector<std::int64_t> widths; // of an element: the kernel computes 16 bits in 32, too
        if (type == "float" || isOneOf(type, kHalves))
            widths.push_back(4);
        if (isOneOf(type, kHalves))
            widths.push_back(2);
        const bool isWhole = m_list.rows[call].takes > 2;
        const Lengths query = sizes(taken(call, 0)), key = isWhole ? sizes(taken(call, 1)) : query,
                      value = isWhole ? sizes(taken(call, 2)) : query;
        if (query.size() < 3 || key.size() < 2 || value.size() < 2)
            return {};
        std::set<std::int64_t> found;
        for (const std::int64_t width : widths)
            found.insert(productOf(query.first(query.size() - 1), { key[key.size() - 2], width }));
        found.erase(0);
        for (const Lengths rows : { query, key, value })
            for (const Lengths heads : { query, rows })
                for (const std::int64_t last : { query.back(), value.back() })
                    for (const std::int64_t padding :
                        { std::int64_t{ 0 }, (kPadded - last % kPadded) % kPadded })
                        for (const std::int64_t width : widths)
                            found.erase(productOf(heads.first(heads.size() - 2),
                                { rows[rows.size() - 2], wrapAdd(last, padding), width }));
        return found;
    }

    /// Whether backward of the deep step shows another kernel of attention: the math kernel has no such step.
    [[nodiscard]] bool showsKernel() const
    {
        const Recording& recording = m_trace.recording();
        std::vector<bool> seen(recording.stacks.stackCount());
        const EventIndex end = std::min(m_list.endEvent, m_trace.eventCount());
        for (EventIndex event = std::max<EventIndex>(m_list.beginEvent, 0); event < end; ++event) {
            const StackId stack = m_trace.events().stack[static_cast<std::size_t>(event)];
            if (!stack.valid() || seen[stack.index()])
                continue;
            seen[stack.index()] = true;
            for (const FrameId frame : recording.stacks.stack(stack)) {
                const StringId function = recording.stacks.frame(frame).function;
                if (function.valid()
                    && recording.strings[function].find("generated::ScaledDotProduct")
                        != std::string_view::npos)
                    return true;
            }
        }
        return false;
    }

    /// The math kernel makes scores and their softmax: two blocks of S x S at least, of each head.
    void findMath(std::size_t call)
    {
        constexpr std::size_t kMask = 3; // of its arguments
        auto sizes = scoreSizes(call);
        const EventIndex from = std::max<EventIndex>(m_list.rows[call].event, 0), until = endOf(call);
        int made = 0;
        for (EventIndex event = from; event < until && !sizes.empty(); ++event) {
            const BlockId block = m_trace.events().block[static_cast<std::size_t>(event)];
            if (m_trace.events().action[static_cast<std::size_t>(event)] == Action::Alloc && block.valid())
                made += sizes.contains(m_trace.blocks().requestedBytes[block]) ? 1 : 0;
        }
        if (made < 2)
            return;
        if (!m_showsKernel)
            m_showsKernel = showsKernel();
        if (*m_showsKernel)
            return;
        m_scores.insert(call);
        m_scoreSizes[call] = std::move(sizes);
        m_isMath = true;
        const json detail = detailOf(call);
        takeKernel(taken(call, 0), detail.is_array() && detail.size() > kMask && !detail[kMask].is_null());
    }

    /// Flash attention takes 16 bits and no mask.
    void takeKernel(std::uint32_t query, bool isMasked)
    {
        const Card* const card = recordedCard(m_trace.recording(), m_trace.device());
        m_isForFlash = m_isForFlash && !isMasked && isOneOf(typeName(query), kHalves) && card != nullptr
            && card->computeMajor >= kFlashMajor;
    }

    /// Events of a row end where the next one begins.
    [[nodiscard]] EventIndex endOf(std::size_t place) const
    {
        const EventIndex end
            = place + 1 < m_list.rows.size() ? m_list.rows[place + 1].event : m_list.endEvent;
        return std::clamp<EventIndex>(end, 0, m_trace.eventCount());
    }

    /// The event behind which the deep step requests most; below 0: another step requests more.
    [[nodiscard]] EventIndex peakOfStep() const
    {
        const Totals& totals = m_trace.totals();
        std::int64_t bytes = totals.requestedBytesStart, most = 0;
        EventIndex at = -1;
        for (EventIndex event = 0; event < std::min(m_list.endEvent, m_trace.eventCount()); ++event) {
            bytes = wrapAdd(bytes, m_trace.requestedDelta(event));
            if (event < m_list.beginEvent || bytes <= most)
                continue;
            most = bytes;
            at = event;
        }
        return static_cast<double>(most) >= kSamePeak * static_cast<double>(totals.requestedBytesPeak) ? at
                                                                                                       : -1;
    }

    /// Of blocks that those rows allocate, and of their gradients.
    [[nodiscard]] std::int64_t heldBytes(const std::set<std::size_t>& places, EventIndex peak) const
    {
        if (places.empty())
            return 0;
        const BlockColumns& blocks = m_trace.blocks();
        std::set<std::int64_t> found; // sizes
        std::int64_t held = 0;
        EventIndex backwardEnds = -1;
        auto ends = m_list.rows.begin();
        for (std::size_t place = 0; place < m_list.rows.size(); ++place) {
            const bool isOurs = places.contains(place);
            const CallList::Row& row = m_list.rows[place];
            const auto here = m_list.rows.begin() + static_cast<std::ptrdiff_t>(place);
            if (row.kind == CallList::Kind::Backward && ends <= here) {
                ends = std::ranges::find(
                    here, m_list.rows.end(), CallList::Kind::BackwardEnds, &CallList::Row::kind);
                backwardEnds = ends == m_list.rows.end() ? m_list.endEvent : ends->event;
            }
            if (!isOurs && row.event >= backwardEnds)
                continue;
            const auto math = m_scoreSizes.find(place);
            for (EventIndex event = std::max<EventIndex>(row.event, 0); event < endOf(place); ++event) {
                const auto at = static_cast<std::size_t>(event);
                const BlockId block = m_trace.events().block[at];
                if (m_trace.events().action[at] != Action::Alloc || !block.valid())
                    continue;
                const std::int64_t bytes = blocks.requestedBytes[block];
                if (isOurs && math != m_scoreSizes.end() && !math->second.contains(bytes))
                    continue;
                if (!isOurs && (!found.contains(bytes) || blocks.death(block) >= backwardEnds))
                    continue;
                if (isOurs)
                    found.insert(bytes);
                if (blocks.liveAt(block, peak))
                    held = wrapAdd(held, bytes);
            }
        }
        return held;
    }

    const DeviceTrace& m_trace;
    const CallList& m_list;
    std::vector<std::vector<std::size_t>> m_made, m_uses; // by tensor, places of rows
    std::set<std::size_t> m_logits, m_scores; // places whose blocks go with the change
    std::map<std::size_t, std::set<std::int64_t>> m_scoreSizes; // by call that the math kernel computes
    std::optional<bool> m_showsKernel; // not looked yet
    bool m_isForFlash = true, m_isByHand = false, m_isMath = false;
};

std::string commandOf(const std::string& file, std::optional<int> device, const std::string& change)
{
    std::string command = "strata whatif " + shellQuoted(file);
    if (device)
        command += " --device " + std::to_string(*device);
    return command + " --change " + change + " --confirm ";
}

constexpr const char* kByCalls = "--python PY";

} // namespace

Sentence CallHint::sentence() const
{
    return change.kind->word == "logits"
        ? say("The logits and their loss hold %1 of the peak. How much chunks save is not verified.",
            asBytes(heldBytes))
        : say("The scores of attention hold %1 of the peak. How much another kernel saves is not verified.",
            asBytes(heldBytes));
}

std::vector<CallHint> callHints(const DeviceTrace& trace, const std::string& file, std::optional<int> device)
{
    const auto list = callListOf(trace);
    if (!list)
        return {};
    HintFinder finder(trace, **list);
    std::vector<CallHint> hints;
    for (const auto& [text, bytes] : finder.find()) {
        Change change = *Change::parse(text);
        std::string command = commandOf(file, device, text);
        const bool isOfProgram
            = finder.isMathAlone() && !change.kind->isToldByCallsAlone() && !isCppProgram(trace.recording());
        command += isOfProgram ? "-- " + recordedCommand(trace.recording()) : kByCalls;
        hints.push_back({ std::move(change), bytes, std::move(command) });
    }
    return hints;
}

std::string autocastCommand(const DeviceTrace& trace, const std::string& file)
{
    const auto list = callListOf(trace);
    if (!list)
        return {};
    const Recording& recording = trace.recording();
    const auto has = [&](CallList::Kind kind) {
        return std::ranges::find((*list)->rows, kind, &CallList::Row::kind) != (*list)->rows.end();
    };
    const bool isHalf = std::ranges::any_of((*list)->tensors, [&](const CallList::Tensor& tensor) {
        return tensor.type.valid() && isOneOf(recording.strings[tensor.type], kHalves);
    });
    if (isHalf || has(CallList::Kind::Autocast) || !has(CallList::Kind::Enters)) // calls refuse it then
        return {};
    std::optional<int> device;
    if (recording.devices.size() > 1)
        device = trace.device();
    return commandOf(file, device, "amp=bf16") + kByCalls;
}

std::vector<Change> attentionToTry(const DeviceTrace& trace)
{
    const Change flash = *Change::parse(kFlash);
    for (const CallHint& hint : callHints(trace, {}, {}))
        if (hint.change.kind == flash.kind)
            return hint.change.text == flash.text ? std::vector{ flash, *Change::parse(kEfficient) }
                                                  : std::vector{ hint.change };
    return { flash };
}

Change logitsToTry()
{
    return *Change::parse(kLogits);
}

} // namespace strata::model
