// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/pickle/opcodes.h"
#include "model/readers/source/little_endian.h"
#include "model/readers/values/grow_array.h"
#include "model/readers/values/value.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace strata::model {

/// The values that a pickle stores under numbers. Picklers count them up from 0, so most lie in an array. One
/// thread.
class PickleMemo {
public:
    /// What is near: below size(). Unset: nothing is stored there.
    [[nodiscard]] std::size_t size() const { return m_near.size(); }
    [[nodiscard]] Value operator[](std::size_t key) const { return m_near[key]; }
    /// Unset: nothing is stored there.
    [[nodiscard]] Value find(std::uint64_t key) const
    {
        if (key < m_near.size() && !m_near[key].is(Value::Tag::Unset))
            return m_near[key];
        const auto far = m_far.find(key);
        return far != m_far.end() ? far->second : Value::unset();
    }
    /// What a GET at `at` pushes; Unset, and nothing moved, if it is none or nothing near is stored there.
    [[nodiscard]] Value peekGet(const std::uint8_t*& at) const
    {
        const bool shortForm = *at == pickle::kBinGet;
        if (!shortForm && *at != pickle::kLongBinGet)
            return Value::unset();
        const std::size_t key = shortForm ? at[1] : littleEndian32(at + 1);
        if (key >= m_near.size())
            return Value::unset();
        const Value value = m_near[key];
        at += value.is(Value::Tag::Unset) ? 0 : shortForm ? 2 : 5;
        return value;
    }

    [[nodiscard]] std::uint64_t count() const { return m_count; }
    /// A value that is stored under `key` goes behind the near ones, and nothing was stored there.
    [[nodiscard]] bool isNext(std::uint64_t key) const { return key == m_near.size() && m_far.empty(); }
    /// MEMOIZE takes that number.
    [[nodiscard]] bool countIsNext() const { return isNext(m_count); }
    void storeNext(Value value)
    {
        m_near.push_back(value);
        ++m_count;
    }
    /// Gaps are filled where `mayFill`, but only so far that the memo stays in proportion to the file.
    void store(std::uint64_t key, Value value, bool mayFill)
    {
        constexpr std::uint64_t kFar = std::uint64_t{ 1 } << 20;
        if (key < m_near.size() + kFar && mayFill) {
            m_near.extendTo(
                std::max<std::size_t>(m_near.size(), static_cast<std::size_t>(key) + 1), Value::unset());
            if (!m_near[key].is(Value::Tag::Unset))
                m_isReplaced = true;
            else
                m_count += m_far.erase(key) == 0 ? 1 : 0;
            m_near[key] = value;
        } else if (m_far.insert_or_assign(key, value).second) {
            ++m_count;
        } else {
            m_isReplaced = true;
        }
    }
    /// Whether a stored value was replaced since this was asked last.
    [[nodiscard]] bool takeReplaced() { return std::exchange(m_isReplaced, false); }

    void reserve(std::size_t values) { m_near.reserve(values); } ///< for storeNext()

private:
    GrowArray<Value> m_near;
    std::uint64_t m_count = 0;
    std::unordered_map<std::uint64_t, Value> m_far; // numbers far beyond what was memoised
    bool m_isReplaced = false;
};

} // namespace strata::model
