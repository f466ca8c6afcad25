// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/data_parallel.h"

#include "model/analysis/training/listed_tensors.h"
#include "model/base/wrap.h"
#include "model/trace/roles.h"
#include "model/whatif/step_edits.h"

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
        if (bucket.pieces++ == 0)
            bucket.first = place;
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

/// Where an operator that begins there returns.
DeepMoment callEnd(const DeepStep& deep, const DeepMoment& begins)
{
    std::size_t open = 0;
    for (std::uint32_t row = begins.row; row < deep.rows.size(); ++row) {
        if (deep.rows[row].thread != deep.rows[begins.row].thread)
            continue;
        open += deep.rows[row].kind == DeepStep::Kind::Operator ? 1 : 0;
        if (deep.rows[row].kind == DeepStep::Kind::Returns && --open == 0)
            return { deep.rows[row].event, row };
    }
    return { deep.endEvent, DeepMoment::kLastRow };
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
            m_gradients.insert(static_cast<std::uint32_t>(placed.block.row()));
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

    /// Where gradients become parts of buckets, and their own blocks go: AccumulateGrad has taken them.
    [[nodiscard]] StepEdits views(const DeepStep& deep, const StepOwners& owners) const
    {
        StepEdits edits;
        std::set<std::uint32_t> left = m_gradients;
        for (const StepOwners::Take& take : owners.takes) {
            const DeepStep::Row& row = deep.rows[take.at.row];
            if (!row.name.valid()
                || m_trace.recording().strings[row.name] != "torch::autograd::AccumulateGrad"
                || left.erase(take.block) == 0)
                continue;
            const DeepMoment dies = callEnd(deep, take.at);
            if (dies < recordedDeath(m_trace, take.block))
                edits.changes.push_back({ take.block, dies, BlockRule::LetGo });
        }
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
        // Behind gradients that went into the first one. Those that are there are in the next ones before it
        // goes.
        const Place rebuilt{ forward, Place::kLast, 1 };
        const Place gone{ forward, Place::kLast,
            m_sharding.gradientsAreViews && hasGradientsAt(forward) ? 2u : 0u };
        for (const Bucket& bucket : bucketsOf(piecesIn(), { INT64_MAX }))
            add(bucket.bytes, made, forward < 0 ? kNever : gone);
        if (forward < 0)
            return;
        std::ranges::stable_sort(order, {}, [&](std::size_t row) { return m_came[row]; });
        const std::vector<std::int64_t> limits = m_sharding.bucketBytes
            ? std::vector{ *m_sharding.bucketBytes }
            : std::vector{ kFirstBucketBytes, kBucketBytes };
        for (const Bucket& bucket : bucketsOf(piecesIn(), limits))
            add(bucket.bytes, rebuilt, kNever);
    }

    /// Steps that accumulate have gradients in their second forward.
    [[nodiscard]] bool hasGradientsAt(EventIndex event) const
    {
        return std::ranges::any_of(m_gradients, [&](std::uint32_t block) {
            return m_trace.blocks().birth(BlockId::born(block)) < event
                && recordedDeath(m_trace, block).event >= event;
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
    std::set<std::uint32_t> m_gradients; // blocks
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
    edits.append(inAllSteps(
        *run.trace, *run.steps, stretchOf(*step->deep), spreading.views(*step->deep, step->owners)));
    return orRefused(std::move(edits));
}

} // namespace strata::model
