// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/stacks.h"

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cassert>
#include <vector>
#include <xxhash.h>

namespace strata::model {

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
        std::size_t operator()(std::span<const FrameId> frames) const
        {
            return XXH3_64bits(frames.data(), frames.size_bytes());
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

    [[nodiscard]] std::span<const FrameId> framesOf(StackId id) const
    {
        const std::size_t first = ends.empty() || id.index() == 0 ? 0 : ends[id.index() - 1];
        return { frameIds.data() + first, ends[id.index()] - first };
    }

    std::vector<Frame> frames;
    boost::unordered_flat_map<Frame, FrameId, FrameHash> frameIndex;
    std::vector<FrameId> frameIds; // of all stacks, one after the other
    std::vector<std::size_t> ends; // one past the last frame of each stack
    boost::unordered_flat_set<StackId, StackHash, StackEqual> stackIndex{ 0, StackHash{ this },
        StackEqual{ this } };
};

StackTable::StackTable()
    : m_data(std::make_unique<Data>())
{
}
StackTable::~StackTable() = default;
StackTable::StackTable(StackTable&&) noexcept = default;
StackTable& StackTable::operator=(StackTable&&) noexcept = default;

FrameId StackTable::internFrame(const Frame& frame)
{
    const auto [entry, isNew]
        = m_data->frameIndex.try_emplace(frame, FrameId{ static_cast<std::uint32_t>(m_data->frames.size()) });
    if (isNew)
        m_data->frames.push_back(frame);
    return entry->second;
}

void StackTable::replaceFrame(FrameId id, const Frame& frame)
{
    m_data->frames[id.index()] = frame;
}

StackId StackTable::internStack(std::span<const FrameId> innermostFirst)
{
    if (const auto found = m_data->stackIndex.find(innermostFirst); found != m_data->stackIndex.end())
        return *found;
    const StackId id{ static_cast<std::uint32_t>(m_data->ends.size()) };
    m_data->frameIds.insert(m_data->frameIds.end(), innermostFirst.begin(), innermostFirst.end());
    m_data->ends.push_back(m_data->frameIds.size());
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
    return id.valid() ? m_data->framesOf(id) : std::span<const FrameId>{};
}

std::size_t StackTable::frameCount() const
{
    return m_data->frames.size();
}
std::size_t StackTable::stackCount() const
{
    return m_data->ends.size();
}

std::size_t StackTable::bytesResident() const
{
    return m_data->frames.capacity() * sizeof(Frame) + m_data->frameIds.capacity() * sizeof(FrameId)
        + m_data->ends.capacity() * sizeof(std::size_t)
        + m_data->frameIndex.bucket_count() * (sizeof(Frame) + 8)
        + m_data->stackIndex.bucket_count() * (sizeof(StackId) + 1);
}

} // namespace strata::model
