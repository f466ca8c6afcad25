// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <cstdint>

namespace strata::model {

class Sentence;

/// Any value of a snapshot in one word: four bits say what it is, sixty hold it or its row in the Heap.
class Value {
public:
    enum class Tag : std::uint8_t {
        Int, ///< 60 bits, signed, in the word
        WideInt, ///< row of Heap's 64-bit integers
        WideUnsigned, ///< the same for 2^63 and above
        HugeInt, ///< more than 64 bits: not kept
        None,
        Bool,
        Float, ///< row of Heap's floating-point numbers
        Text, ///< StringId
        Bytes, ///< binary data: not kept
        Pair, ///< a tuple of two small integers, 30 bits each
        Object, ///< a list or dict: row of Heap's cells
        Stack, ///< StackId: a `frames` list that its dict consumed; kNone for an empty one
        Frame, ///< FrameId
        Unset, ///< no value: an unused memo entry
    };

    constexpr Value() = default;

    static constexpr Value none() { return Value(Tag::None, 0); }
    static constexpr Value unset() { return Value(Tag::Unset, 0); }
    static constexpr Value boolean(bool b) { return Value(Tag::Bool, b ? 1 : 0); }
    static constexpr Value text(StringId id) { return Value(Tag::Text, id.value); }
    static constexpr Value row(Tag tag, std::uint64_t row) { return Value(tag, row); }
    static constexpr bool fitsInt(std::int64_t v) { return v >= -(kIntEdge) && v < kIntEdge; }
    /// `v` must fit.
    static constexpr Value integer(std::int64_t v) { return Value(Tag::Int, static_cast<std::uint64_t>(v)); }
    static constexpr bool fitsPair(std::int64_t v) { return v >= -kPairEdge && v < kPairEdge; }
    /// Both must fit.
    static constexpr Value pair(std::int64_t a, std::int64_t b)
    {
        return Value(Tag::Pair,
            (static_cast<std::uint64_t>(a) & kPairMask) << 30 | (static_cast<std::uint64_t>(b) & kPairMask));
    }

    [[nodiscard]] constexpr Tag tag() const { return static_cast<Tag>(m_word & 15); }
    [[nodiscard]] constexpr bool is(Tag tag) const { return this->tag() == tag; }
    [[nodiscard]] constexpr std::uint64_t row() const { return m_word >> 4; }
    [[nodiscard]] constexpr std::int64_t intValue() const { return static_cast<std::int64_t>(m_word) >> 4; }
    [[nodiscard]] constexpr StringId textId() const { return { static_cast<std::uint32_t>(row()) }; }
    [[nodiscard]] constexpr std::int64_t pairFirst() const { return static_cast<std::int64_t>(m_word) >> 34; }
    [[nodiscard]] constexpr std::int64_t pairSecond() const
    {
        return static_cast<std::int64_t>(m_word << 30) >> 34;
    }
    friend constexpr bool operator==(Value, Value) = default;

private:
    static constexpr std::int64_t kIntEdge = std::int64_t{ 1 } << 59;
    static constexpr std::int64_t kPairEdge = std::int64_t{ 1 } << 29;
    static constexpr std::uint64_t kPairMask = (std::uint64_t{ 1 } << 30) - 1;

    constexpr Value(Tag tag, std::uint64_t payload)
        : m_word(payload << 4 | static_cast<std::uint64_t>(tag))
    {
    }

    std::uint64_t m_word = static_cast<std::uint64_t>(Tag::None);
};

static_assert(sizeof(Value) == 8);

/// "text", "a pair of numbers": for messages. Of an Object, see Heap::typeName().
[[nodiscard]] Sentence typeName(Value::Tag tag);

} // namespace strata::model
