// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/ranks/data_parallel.h"

#include "model/analysis/training/roles/listed_tensors.h"
#include "model/base/wrap.h"
#include "model/trace/program/roles.h"
#include "model/whatif/evidence/gradient_calls.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

constexpr std::int64_t kMib = std::int64_t{ 1 } << 20;
constexpr std::int64_t kSentBytes = 250 * kMib; // broadcast_bucket_size
constexpr std::int64_t kBucketBytes = 25 * kMib, kFirstBucketBytes = kMib;

/// A tensor that goes into a bucket.
struct Piece {
    std::int64_t bytes = 0;
    std::uint32_t type = 0;
};

struct Bucket {
    std::int64_t bytes = 0;
    std::size_t pieces = 0, first = 0; ///< how many, and the place of the first one
    std::uint32_t type = 0; ///< of all of them
};

/// compute_bucket_assignment_by_size(): of each type one is filled until it holds the limit of its turn; in
/// the order of their first pieces.
std::vector<Bucket> bucketsOf(const std::vector<Piece>& pieces, const std::vector<std::int64_t>& limits)
{
    std::vector<Bucket> full;
    std::map<std::uint32_t, Bucket> open;
    std::map<std::uint32_t, std::size_t> turns;
    for (std::size_t place = 0; place < pieces.size(); ++place) {
        Bucket& bucket = open[pieces[place].type];
        if (bucket.pieces++ == 0) {
            bucket.first = place;
            bucket.type = pieces[place].type;
        }
        bucket.bytes = wrapAdd(bucket.bytes, pieces[place].bytes);
        std::size_t& turn = turns[pieces[place].type];
        if (bucket.bytes >= limits[turn]) {
            full.push_back(std::exchange(bucket, {}));
            turn = std::min(turn + 1, limits.size() - 1);
        }
    }
    for (const auto& [type, bucket] : open)
        if (bucket.pieces > 0)
            full.push_back(bucket);
    std::ranges::sort(full, {}, &Bucket::first);
    return full;
}

class Spreading {
public:
    Spreading(const RecordedRun& run, const RecordedOptimizers& optimizers, const Sharding& sharding)
        : m_trace(*run.trace)
        , m_steps(*run.steps)
        , m_tensors(run.categories->tensors())
        , m_sharding(sharding)
    {
        m_made = m_trace.eventCount();
        for (std::uint32_t i = 0; i < optimizers.all.size(); ++i) {
            const RecordedOptimizer& optimizer = optimizers.all[i];
            m_made = std::min(m_made, optimizer.made);
            m_like = optimizer.like;
            for (std::size_t index = 0; index < optimizer.parameters.size(); ++index)
                if (m_rows
                        .emplace(
                            std::pair{ optimizer.number, optimizer.names[index].value }, m_trained.size())
                        .second)
                    m_trained.push_back(
                        { optimizer.parameters[index].bytes, optimizer.parameters[index].type });
        }
        m_came.assign(m_trained.size(), m_trace.eventCount());
        for (const ListedTensors::Placed& placed : m_tensors.all()) {
            const RoleListing& listing = m_tensors.listing(placed);
            if (listing.kind != Kind::Gradient || placed.block.isOlder())
                continue;
            const auto row = m_rows.find(std::pair{ listing.optimizer, listing.name.value });
            if (row == m_rows.end())
                continue;
            EventIndex& came = m_came[row->second];
            came = std::min(came, m_trace.blocks().birth(placed.block));
            m_gradients.emplace(static_cast<std::uint32_t>(placed.block.row()), m_trained[row->second].type);
        }
    }

    [[nodiscard]] RunEdits edits()
    {
        send();
        fillBuckets();
        if (m_added.blocks > 0)
            m_edits.uses.push_back(m_added);
        return std::move(m_edits);
    }

    /// Where gradients become parts of buckets, and their own blocks go: behind AccumulateGrad, which has
    /// taken them, or made them. Refused: nothing tells where that is.
    [[nodiscard]] Result<StepEdits> views(const DeepStep& deep, const StepOwners& owners) const
    {
        const auto isGradient = [&](std::uint32_t block) { return m_gradients.contains(block); };
        StepEdits edits{ .changes = gradientsTaken(m_trace, deep, owners, isGradient) };
        const bool hasSome = std::ranges::any_of(m_gradients, [&](const auto& gradient) {
            const EventIndex birth = m_trace.blocks().birth(BlockId::born(gradient.first));
            return birth >= deep.beginEvent && birth < deep.endEvent;
        });
        if (hasSome && edits.changes.empty())
            return fail(Error::Kind::Refused,
                say("the deep step does not show where gradients are there, which "
                    "gradient_as_bucket_view=True is about"),
                say("ask without it, or record the program without torch.compile"));
        return edits;
    }

    /// The same of those that no step gives back, which were there before the deep one: before the next
    /// block.
    [[nodiscard]] RunEdits viewsThatStay(const DeepStep& deep) const
    {
        RunEdits edits;
        RuleUse use{ BlockRule::LetGo, 0, 0 };
        for (const auto& [block, type] : m_gradients) {
            const EventIndex birth = m_trace.blocks().birth(BlockId::born(block));
            if (birth >= deep.beginEvent || recordedDeath(m_trace, block).event < deep.endEvent)
                continue;
            EventIndex next = birth + 1;
            while (next < deep.beginEvent
                && m_trace.events().action[static_cast<std::size_t>(next)] != Action::Alloc)
                ++next;
            edits.moves.push_back({ block, { next, RunEdits::Place::kLast, 0 } });
            ++use.blocks;
            use.bytes = wrapAdd(use.bytes, m_trace.blocks().requestedBytes[BlockId::born(block)]);
        }
        if (use.blocks > 0)
            edits.uses.push_back(use);
        return edits;
    }

private:
    void add(std::int64_t bytes, const RunEdits::Place& born, const RunEdits::Place& dies)
    {
        if (bytes <= 0)
            return;
        m_edits.added.push_back({ bytes, m_like, 0, born, dies });
        ++m_added.blocks;
        m_added.bytes = wrapAdd(m_added.bytes, bytes);
    }

    /// What there is of the model, flat, for the other ranks; two parts are on their way at once.
    void send()
    {
        struct Tensor {
            EventIndex birth = 0;
            Piece piece;
        };
        std::map<std::uint32_t, Tensor> tensors; // by block
        for (const ListedTensors::Placed& placed : m_tensors.all()) {
            const RoleListing& listing = m_tensors.listing(placed);
            if ((listing.kind != Kind::Parameter && listing.kind != Kind::Buffer) || placed.block.isOlder())
                continue;
            const EventIndex birth = m_trace.blocks().birth(placed.block);
            if (birth < m_made)
                tensors.emplace(static_cast<std::uint32_t>(placed.block.row()),
                    Tensor{ birth, { m_trace.blocks().requestedBytes[placed.block], listing.dtype.value } });
        }
        std::vector<Piece> pieces;
        for (const auto& [block, tensor] : tensors)
            pieces.push_back(tensor.piece);
        const std::vector<Bucket> parts = bucketsOf(pieces, { kSentBytes });
        std::vector<std::int64_t> sent; // of parts of more than one tensor; another is sent as it is
        for (const Bucket& part : parts)
            sent.push_back(part.pieces > 1 ? part.bytes : 0);
        for (std::size_t i = 0; i < sent.size(); ++i) // born behind the one two before it has gone
            add(sent[i], { m_made, 0, static_cast<std::uint32_t>(2 * i) },
                { m_made, 0, static_cast<std::uint32_t>(2 * i + 3) });
        m_order = static_cast<std::uint32_t>(2 * sent.size() + 4);
    }

    void fillBuckets()
    {
        std::vector<std::size_t> order(m_trained.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = order.size() - 1 - i;
        const auto piecesIn = [&] {
            std::vector<Piece> pieces;
            for (const std::size_t row : order)
                pieces.push_back(m_trained[row]);
            return pieces;
        };
        using Place = RunEdits::Place;
        constexpr Place kNever{ RunEdits::Added::kNever, 0, 0 };
        const EventIndex forward = secondForward();
        const Place made{ m_made, 0, m_order };
        const std::vector<Bucket> atFirst = bucketsOf(piecesIn(), { INT64_MAX });
        if (forward < 0) {
            for (const Bucket& bucket : atFirst)
                add(bucket.bytes, made, kNever);
            return;
        }
        std::ranges::stable_sort(order, {}, [&](std::size_t row) { return m_came[row]; });
        const std::vector<std::int64_t> limits = m_sharding.bucketBytes
            ? std::vector{ *m_sharding.bucketBytes }
            : std::vector{ kFirstBucketBytes, kBucketBytes };
        const std::vector<Bucket> anew = bucketsOf(piecesIn(), limits);
        // Behind the gradients that went into the first ones. Gradients that are there are moved into each
        // new one as it is made; with the last of its type the first one goes.
        std::map<std::uint32_t, std::uint32_t> last; // by type
        for (std::uint32_t i = 0; i < anew.size(); ++i)
            last[anew[i].type] = 2 * i + 2;
        for (const Bucket& bucket : atFirst)
            add(bucket.bytes, made,
                { forward, Place::kLast,
                    m_sharding.gradientsAreViews && hasGradientsAt(forward, bucket.type) ? last[bucket.type]
                                                                                         : 0 });
        for (std::uint32_t i = 0; i < anew.size(); ++i)
            add(anew[i].bytes, { forward, Place::kLast, 2 * i + 1 }, kNever);
    }

    /// Steps that accumulate have gradients in their second forward.
    [[nodiscard]] bool hasGradientsAt(EventIndex event, std::uint32_t type) const
    {
        return std::ranges::any_of(m_gradients, [&](const auto& gradient) {
            return gradient.second == type && m_trace.blocks().birth(BlockId::born(gradient.first)) < event
                && recordedDeath(m_trace, gradient.first).event >= event;
        });
    }

    /// Where the model is called in the first forward behind a backward: before the first allocation of a
    /// module, where that is told, else before all; -1: there is none.
    [[nodiscard]] EventIndex secondForward() const
    {
        bool trained = false;
        for (const TrainingStep& step : m_steps.steps)
            for (const PhaseSpan& span : step.phases) {
                if (trained && span.phase == Phase::Forward) {
                    const EventColumns& events = m_trace.events();
                    for (EventIndex event = span.first; event <= span.last; ++event)
                        if (const auto row = static_cast<std::size_t>(event);
                            events.action[row] == Action::Alloc && events.moduleOf(row) != kNoIndex)
                            return event;
                    return span.first;
                }
                trained = trained || span.phase == Phase::Backward;
            }
        return -1;
    }

    const DeviceTrace& m_trace;
    const TrainingSteps& m_steps;
    const ListedTensors& m_tensors;
    const Sharding& m_sharding;
    EventIndex m_made = 0, m_like = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> m_rows; // optimizer and name -> trained
    std::vector<Piece> m_trained;
    std::vector<EventIndex> m_came; // the first gradient of each
    std::map<std::uint32_t, std::uint32_t> m_gradients; // block -> type
    std::uint32_t m_order = 0; // behind what is sent
    RunEdits m_edits;
    RuleUse m_added{ BlockRule::Communicated, 0, 0 };
};

} // namespace

Result<RunEdits> dataParallelEdits(
    const RecordedRun& run, const RecordedOptimizers& optimizers, const Sharding& sharding)
{
    Spreading spreading(run, optimizers, sharding);
    RunEdits edits = spreading.edits();
    if (!sharding.gradientsAreViews)
        return edits;
    const auto step = ownedDeepStep(*run.trace);
    if (!step)
        return Failure(step.error());
    const auto views = spreading.views(*step->deep, step->owners);
    if (!views)
        return Failure(views.error());
    edits.append(inAllSteps(*run.trace, *run.steps, stretchOf(*step->deep), *views));
    edits.append(spreading.viewsThatStay(*step->deep));
    return orRefused(std::move(edits));
}

} // namespace strata::model
