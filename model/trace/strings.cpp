// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/strings.h"

#include "model/base/column.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstring>
#include <vector>
#include <xxhash.h>

namespace strata::model {

namespace {

constexpr std::size_t kStringArenaChunk = std::size_t{ 1 } << 16;

std::size_t hashOf(std::string_view text)
{
    return XXH3_64bits(text.data(), text.size());
}

} // namespace

struct StringTable::Data {
    using Texts = Column<std::string_view, 12>;

    struct Hash {
        using is_transparent = void;
        const Texts* texts;
        std::size_t operator()(std::string_view text) const { return hashOf(text); }
        std::size_t operator()(StringId id) const { return hashOf((*texts)[id.index()]); }
    };
    struct Equal {
        using is_transparent = void;
        const Texts* texts;
        bool operator()(StringId a, StringId b) const { return a == b; }
        bool operator()(std::string_view a, StringId b) const { return a == (*texts)[b.index()]; }
        bool operator()(StringId a, std::string_view b) const { return (*texts)[a.index()] == b; }
    };

    std::string_view store(std::string_view text)
    {
        if (text.size() > room) {
            const std::size_t size = std::max(kStringArenaChunk, text.size());
            chunks.emplace_back(new char[size]);
            next = chunks.back().get();
            room = size;
            bytes += size;
        }
        if (!text.empty())
            std::memcpy(next, text.data(), text.size());
        const std::string_view stored(next, text.size());
        next += text.size();
        room -= text.size();
        return stored;
    }

    /// Interning needs the index; a copy begins without one.
    void completeIndex()
    {
        if (index.size() == texts.size())
            return;
        index.reserve(texts.size());
        for (std::size_t i = index.size(); i < texts.size(); ++i)
            index.insert(StringId{ static_cast<std::uint32_t>(i) });
    }

    std::vector<std::shared_ptr<char[]>> chunks; // copies append to chunks of their own
    char* next = nullptr;
    std::size_t room = 0;
    std::size_t bytes = 0;
    Texts texts;
    boost::unordered_flat_set<StringId, Hash, Equal> index{ 0, Hash{ &texts }, Equal{ &texts } };
};

StringTable::StringTable()
    : m_data(std::make_unique<Data>())
{
}
StringTable::StringTable(const StringTable& other)
    : StringTable()
{
    m_data->chunks = other.m_data->chunks;
    m_data->bytes = other.m_data->bytes;
    m_data->texts = other.m_data->texts;
}
StringTable::~StringTable() = default;
StringTable::StringTable(StringTable&&) noexcept = default;
StringTable& StringTable::operator=(StringTable&&) noexcept = default;

StringId StringTable::intern(std::string_view text)
{
    m_data->completeIndex();
    if (const auto found = m_data->index.find(text); found != m_data->index.end())
        return *found;
    const StringId id{ static_cast<std::uint32_t>(m_data->texts.size()) };
    m_data->texts.push_back(m_data->store(text));
    m_data->index.insert(id);
    return id;
}

StringId StringTable::find(std::string_view text) const
{
    if (m_data->index.size() == m_data->texts.size()) {
        const auto found = m_data->index.find(text);
        return found == m_data->index.end() ? StringId{} : *found;
    }
    for (std::size_t i = 0; i < m_data->texts.size(); ++i)
        if (m_data->texts[i] == text)
            return StringId{ static_cast<std::uint32_t>(i) };
    return {};
}

std::string_view StringTable::operator[](StringId id) const
{
    return id.valid() ? m_data->texts[id.index()] : std::string_view{};
}

std::size_t StringTable::size() const
{
    return m_data->texts.size();
}

std::size_t StringTable::bytesResident() const
{
    return m_data->bytes + m_data->texts.bytesResident()
        + m_data->index.bucket_count() * (sizeof(StringId) + 1);
}

} // namespace strata::model
