// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/stacks.h"

#include "model/base/column.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cassert>
#include <vector>
#include <xxhash.h>

namespace strata::model {

namespace {

constexpr std::size_t kStackArenaChunk = std::size_t{ 1 } << 12;

} // namespace

struct StackTable::Data {
    struct FrameHash {
        std::size_t operator()(const Frame& f) const
        {
            std::size_t seed = f.file.value;
            boost::hash_combine(seed, f.function.value);
            boost::hash_combine(seed, f.line);
            boost::hash_combine(seed, f.extras.value);
            return seed;
        }
    };
    struct StackHash {
        using is_transparent = void;
        const Data* data;
        std::size_t operator()(std::span<const FrameId> stack) const
        {
            return XXH3_64bits(stack.data(), stack.size_bytes());
        }
        std::size_t operator()(StackId id) const { return (*this)(data->framesOf(id)); }
    };
    struct StackEqual {
        using is_transparent = void;
        const Data* data;
        bool operator()(StackId a, StackId b) const { return a == b; }
        bool operator()(std::span<const FrameId> a, StackId b) const
        {
            const std::span<const FrameId> other = data->framesOf(b);
            return std::equal(a.begin(), a.end(), other.begin(), other.end());
        }
        bool operator()(StackId a, std::span<const FrameId> b) const { return (*this)(b, a); }
    };

    /// As it was interned.
    [[nodiscard]] std::span<const FrameId> framesOf(StackId id) const
    {
        return inlined.empty() ? stacks[id.index()] : interned[id.index()];
    }

    std::span<const FrameId> store(std::span<const FrameId> ids)
    {
        if (ids.size() > room) {
            room = std::max(kStackArenaChunk, ids.size());
            chunks.emplace_back(new FrameId[room]);
            next = chunks.back().get();
            frameIds += room;
        }
        const std::span<const FrameId> stored(next, ids.size());
        next = std::copy(ids.begin(), ids.end(), next);
        room -= ids.size();
        return stored;
    }

    /// With the inlined ones, where there are any.
    std::span<const FrameId> shown(std::span<const FrameId> recorded)
    {
        const auto inside = [&](FrameId frame) { return inlined.find(frame.value); };
        if (std::ranges::none_of(recorded, [&](FrameId frame) { return inside(frame) != inlined.end(); }))
            return recorded;
        std::vector<FrameId> all;
        for (const FrameId frame : recorded) {
            if (const auto found = inside(frame); found != inlined.end())
                all.insert(all.end(), found->second.begin(), found->second.end());
            all.push_back(frame);
        }
        return store(all);
    }

    /// Interning needs the indexes; a copy begins without them.
    void completeIndexes()
    {
        if (!withoutIndexes)
            return;
        withoutIndexes = false;
        for (std::size_t i = 0; i < frames.size(); ++i)
            frameIndex.try_emplace(frames[i], FrameId{ static_cast<std::uint32_t>(i) });
        for (std::size_t i = 0; i < stacks.size(); ++i)
            stackIndex.insert(StackId{ static_cast<std::uint32_t>(i) });
    }

    Column<Frame, 10> frames;
    boost::unordered_flat_map<Frame, FrameId, FrameHash> frameIndex;
    std::vector<std::shared_ptr<FrameId[]>> chunks; // copies append to chunks of their own
    FrameId* next = nullptr;
    std::size_t room = 0;
    std::size_t frameIds = 0; // in all chunks
    Column<std::span<const FrameId>, 12> stacks;
    Column<std::span<const FrameId>, 12> interned; // before showInlined(); empty as long as it is the same
    Inlined inlined;
    boost::unordered_flat_set<StackId, StackHash, StackEqual> stackIndex{ 0, StackHash{ this },
        StackEqual{ this } };
    bool withoutIndexes = false;
    std::size_t replaced = 0; // frames
};

StackTable::StackTable()
    : m_data(std::make_unique<Data>())
{
}
StackTable::StackTable(const StackTable& other)
    : StackTable()
{
    m_data->frames = other.m_data->frames;
    m_data->chunks = other.m_data->chunks;
    m_data->frameIds = other.m_data->frameIds;
    m_data->replaced = other.m_data->replaced;
    m_data->stacks = other.m_data->stacks;
    m_data->interned = other.m_data->interned;
    m_data->inlined = other.m_data->inlined;
    m_data->withoutIndexes = true;
}
StackTable::~StackTable() = default;
StackTable::StackTable(StackTable&&) noexcept = default;
StackTable& StackTable::operator=(StackTable&&) noexcept = default;

FrameId StackTable::internFrame(const Frame& frame)
{
    m_data->completeIndexes();
    const auto [entry, isNew]
        = m_data->frameIndex.try_emplace(frame, FrameId{ static_cast<std::uint32_t>(m_data->frames.size()) });
    if (isNew)
        m_data->frames.push_back(frame);
    return entry->second;
}

void StackTable::replaceFrame(FrameId id, const Frame& frame)
{
    m_data->frames.edit(id.index()) = frame;
    ++m_data->replaced;
}

std::size_t StackTable::replacedFrames() const
{
    return m_data->replaced;
}

void StackTable::showInlined(Inlined inlined)
{
    if (inlined.empty())
        return;
    Data& data = *m_data;
    if (data.inlined.empty())
        data.interned = data.stacks;
    inlined.merge(data.inlined); // what is known last counts
    data.inlined = std::move(inlined);
    for (std::size_t i = 0; i < data.interned.size(); ++i) {
        const std::span<const FrameId> now = data.shown(data.interned[i]);
        if (now.data() != data.stacks[i].data())
            data.stacks.edit(i) = now;
    }
    ++data.replaced;
}

StackId StackTable::internStack(std::span<const FrameId> innermostFirst)
{
    m_data->completeIndexes();
    if (const auto found = m_data->stackIndex.find(innermostFirst); found != m_data->stackIndex.end())
        return *found;
    const StackId id{ static_cast<std::uint32_t>(m_data->stacks.size()) };
    const std::span<const FrameId> stored = m_data->store(innermostFirst);
    m_data->stacks.push_back(m_data->shown(stored));
    if (!m_data->inlined.empty())
        m_data->interned.push_back(stored);
    m_data->stackIndex.insert(id);
    return id;
}

const Frame& StackTable::frame(FrameId id) const
{
    assert(id.index() < m_data->frames.size());
    return m_data->frames[id.index()];
}

std::span<const FrameId> StackTable::stack(StackId id) const
{
    return id.valid() ? m_data->stacks[id.index()] : std::span<const FrameId>{};
}

std::size_t StackTable::frameCount() const
{
    return m_data->frames.size();
}
std::size_t StackTable::stackCount() const
{
    return m_data->stacks.size();
}

std::size_t StackTable::bytesResident() const
{
    return m_data->frames.bytesResident() + m_data->frameIds * sizeof(FrameId)
        + m_data->stacks.bytesResident() + m_data->frameIndex.bucket_count() * (sizeof(Frame) + 8)
        + m_data->stackIndex.bucket_count() * (sizeof(StackId) + 1);
}

} // namespace strata::model
