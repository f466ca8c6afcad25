// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/weight_copies.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <map>
#include <utility>

namespace strata::model {

namespace {

constexpr std::size_t kLookedAt = 4096; // blocks of a forward, for what keeps them
constexpr std::size_t kFewestCopies = 4;
constexpr std::int64_t kShareOfSizes = 3, kShareOfBytes = 4; // one part in so many

struct CopySet {
    std::vector<BlockBirth> members; // in the order of births
};

/// The row of the first block that is born behind an event.
std::size_t firstBehind(const BlockColumns& blocks, EventIndex event)
{
    std::size_t first = 0, last = blocks.bornCount();
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        if (blocks.birth(BlockId::born(middle)) <= event)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

class CopyFinder {
public:
    CopyFinder(BlockBirths& births, const ParameterSizes& parameters)
        : m_births(births)
        , m_blocks(births.trace().blocks())
        , m_parameters(parameters)
    {
        for (const auto& [bytes, count] : parameters)
            m_parameterBytes += static_cast<double>(bytes) * static_cast<double>(count);
    }

    [[nodiscard]] std::vector<WeightCopy> find()
    {
        // By the moment that ends them: a backward that begins, or the next birth behind the free.
        std::map<std::pair<bool, EventIndex>, CopySet> sets;
        for (std::size_t row = 0; row < m_blocks.bornCount(); ++row) {
            const std::int64_t bytes = m_blocks.requestedBytes[BlockId::born(row)];
            if (bytes <= 0 || bytes > kMostHalved || !m_parameters.contains(2 * bytes))
                continue;
            const BlockBirth birth = m_births.of(BlockId::born(row));
            if (!mayBeCopy(birth))
                continue;
            const EventIndex backward = birth.span->nextBackward;
            const bool read
                = birth.phase == Phase::Forward && backward != PhaseMap::kNever && birth.end >= backward;
            const EventIndex moment = read      ? backward
                : birth.end == PhaseMap::kNever ? PhaseMap::kNever
                                                : static_cast<EventIndex>(firstBehind(m_blocks, birth.end));
            sets[{ read, moment }].members.push_back(birth);
        }
        std::vector<WeightCopy> copies;
        for (const auto& [moment, set] : sets)
            take(set, copies);
        std::ranges::sort(copies, {}, [](const WeightCopy& copy) { return copy.block.row(); });
        return copies;
    }

private:
    static constexpr std::int64_t kMostHalved = std::int64_t{ 1 } << 61;

    [[nodiscard]] bool mayBeCopy(const BlockBirth& birth) const
    {
        const StackOrigin& origin = *birth.origin;
        if (origin.has(StackOrigin::Cast))
            return !origin.has(StackOrigin::Backward);
        if (birth.phase == Phase::Backward || birth.phase == Phase::Optimizer || m_births.isOfSetup(birth))
            return false;
        return birth.inModule || !m_births.tellsModules();
    }

    void take(const CopySet& set, std::vector<WeightCopy>& copies) const
    {
        std::vector<BlockBirth> found;
        ParameterSizes met;
        double bytes = 0;
        bool byCode = true;
        for (const BlockBirth& birth : set.members) {
            const std::int64_t whole = 2 * birth.bytes;
            if (++met[whole] > m_parameters.at(whole))
                continue;
            bytes += static_cast<double>(whole);
            byCode = byCode && birth.origin->has(StackOrigin::Cast);
            found.push_back(birth);
        }
        const bool bySizes = found.size() >= kFewestCopies && met.size() >= 2
            && std::ssize(met) * kShareOfSizes >= std::ssize(m_parameters)
            && bytes * kShareOfBytes >= m_parameterBytes;
        if (!byCode && !bySizes)
            std::erase_if(
                found, [](const BlockBirth& birth) { return !birth.origin->has(StackOrigin::Cast); });
        if (found.empty())
            return;
        const bool held = isHeldByGraph(found);
        for (const BlockBirth& birth : found)
            copies.push_back({ birth.block, birth.origin->has(StackOrigin::Cast), held });
    }

    /// Most of what is made between the copies outlives the last of them.
    [[nodiscard]] bool isHeldByGraph(const std::vector<BlockBirth>& found) const
    {
        const EventIndex last = found.back().event;
        if (found.front().span->nextBackward != PhaseMap::kNever
            && found.front().end >= found.front().span->nextBackward && found.front().phase == Phase::Forward)
            return true;
        std::int64_t passing = 0, staying = 0;
        auto copy = found.begin();
        const std::size_t first = found.front().block.row();
        for (std::size_t row = first; row < m_blocks.bornCount() && row < first + kLookedAt; ++row) {
            const BlockId block = BlockId::born(row);
            if (m_blocks.birth(block) >= last)
                break;
            if (copy != found.end() && copy->block.row() == row) {
                ++copy;
                continue;
            }
            const EventIndex end = std::min(m_blocks.pendingSince(block), m_blocks.death(block));
            ++(end > last ? staying : passing);
        }
        return staying > passing;
    }

    BlockBirths& m_births;
    const BlockColumns& m_blocks;
    const ParameterSizes& m_parameters;
    double m_parameterBytes = 0;
};

} // namespace

std::vector<WeightCopy> findWeightCopies(BlockBirths& births, const ParameterSizes& parameters)
{
    return parameters.empty() ? std::vector<WeightCopy>() : CopyFinder(births, parameters).find();
}

} // namespace strata::model
