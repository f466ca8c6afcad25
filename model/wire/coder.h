// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

/// A layout describes a chunk once for both directions. It is a generic lambda that names the fields in their
/// order:
///
///     constexpr auto kFrameLayout = [](auto& coder, auto& frame) {
///         coder.id(frame.file, frame.function);
///         coder.signedVarint(frame.line);
///     };
///
/// WritingCoder appends the fields of const rows. ReadingCoder has the same functions and sets the fields,
/// from bytes that may be anything. A field that is missing or does not fit its member fails the reader for
/// good: numbers and counts are 0 from then on, and decodeAs() returns false.
namespace strata::wire {

inline constexpr std::size_t kAsManyAsFit = SIZE_MAX; ///< rows, in what is left of a payload

/// Rows that lie by column: a field of all rows, then the next field.
template <class Coder> class ColumnCoder {
public:
    void ids(auto& rows, auto... fields)
    {
        (each(rows, fields, [this](auto& number) { coder().id(number); }), ...);
    }
    void varints(auto& rows, auto... fields)
    {
        (each(rows, fields, [this](auto& number) { coder().varint(number); }), ...);
    }
    void signedVarints(auto& rows, auto field)
    {
        each(rows, field, [this](auto& number) { coder().signedVarint(number); });
    }
    void codes(auto& rows, auto field)
    {
        each(rows, field, [this](auto& code) { coder().code(code); });
    }
    /// Differences to the row before; of the first row to `before`.
    void steps(auto& rows, auto field, std::uint64_t before = 0)
    {
        each(rows, field, [&](auto& number) { coder().step(number, before); });
    }

private:
    Coder& coder() { return static_cast<Coder&>(*this); }
    static void each(auto& rows, auto field, auto take)
    {
        for (auto& row : rows)
            take(std::invoke(field, row));
    }
};

/// Appends to a buffer that it does not own, and allocates nothing else.
class WritingCoder : public ColumnCoder<WritingCoder> {
public:
    static constexpr bool kReads = false;

    explicit WritingCoder(Bytes& out)
        : m_out(out)
    {
    }

    void id(std::same_as<std::uint32_t> auto... numbers) { (m_out.id(numbers), ...); }
    /// Signed members too, if they are never negative.
    void varint(std::integral auto... numbers) { (m_out.varint(static_cast<std::uint64_t>(numbers)), ...); }
    void signedVarint(std::signed_integral auto... numbers) { (m_out.signedVarint(numbers), ...); }
    void fixed(std::unsigned_integral auto number) { m_out.fixed(number); }
    void text(const auto&... texts) { (m_out.text(texts), ...); }
    void flag(bool value) { m_out.byte(value ? 1 : 0); } ///< true is 1
    void anyFlag(bool value) { flag(value); } ///< true is not 0
    void lowestBit(bool value) { flag(value); } ///< the other bits may be set later
    /// A code; readers get unknown ones too.
    template <class Code> void code(Code code) { m_out.byte(static_cast<std::uint8_t>(code)); }
    /// A code below `count`; larger ones fail.
    template <class Code> void knownCode(Code value, [[maybe_unused]] std::size_t count) { code(value); }
    /// A code below `count`; larger ones are read as `other`.
    template <class Code>
    void codeOr(Code value, [[maybe_unused]] std::size_t count, [[maybe_unused]] Code other)
    {
        code(value);
    }
    /// The difference to `before`, which then becomes `number`. Wraps at 64 bits.
    void step(std::integral auto number, std::uint64_t& before)
    {
        const auto now = static_cast<std::uint64_t>(number);
        m_out.signedVarint(static_cast<std::int64_t>(now - before));
        before = now;
    }
    /// The difference to `least`, which is not larger.
    void varintAbove(std::uint64_t number, std::uint64_t least) { m_out.varint(number - least); }

    /// How many items follow. Fails if they are more than `most`, or if `leastBytes` for each do not follow:
    /// a reader makes room only for what this returns.
    std::size_t count(
        std::size_t size, [[maybe_unused]] std::size_t leastBytes, [[maybe_unused]] std::size_t most)
    {
        m_out.varint(size);
        return size;
    }
    /// A count, and room for its rows: columns follow.
    void room(const auto& rows, std::size_t leastBytes, std::size_t most = kMaxRowsAChunk)
    {
        count(rows.size(), leastBytes, most);
    }
    /// `count` rows, each as `layout` takes it.
    void list(const auto& rows, [[maybe_unused]] std::size_t count, auto layout)
    {
        for (const auto& row : rows)
            layout(row);
    }
    /// A count, then the rows.
    void rows(const auto& rows, std::size_t leastBytes, auto layout, std::size_t most = kMaxRowsAChunk)
    {
        list(rows, count(rows.size(), leastBytes, most), layout);
    }
    /// The next row of a list that several others share.
    const auto& next(const auto& rows, std::size_t& at) { return rows[at++]; }

    /// Whether the chunk goes on. Earlier versions of Strata ended it here.
    [[nodiscard]] bool more(bool isThere) const { return isThere; }
    [[nodiscard]] static constexpr bool ok() { return true; }
    void require(bool) const { } ///< false fails
    void end() const { } ///< fails if the chunk goes on
    /// Drops rows whose code is `count` or larger: a newer version of Strata wrote them.
    void dropUnknown(const auto&, auto, [[maybe_unused]] std::size_t count) const { }

private:
    ByteWriter m_out;
};

/// The functions of WritingCoder, reading.
class ReadingCoder : public ColumnCoder<ReadingCoder> {
public:
    static constexpr bool kReads = true;

    explicit ReadingCoder(std::span<const std::byte> in)
        : m_in(in)
    {
    }

    void id(std::same_as<std::uint32_t> auto&... numbers) { ((numbers = m_in.id()), ...); }
    void varint(std::integral auto&... numbers) { (narrow(m_in.varint(), numbers), ...); }
    void signedVarint(std::signed_integral auto&... numbers) { (narrow(m_in.signedVarint(), numbers), ...); }
    template <std::unsigned_integral Number> void fixed(Number& number) { number = m_in.fixed<Number>(); }
    /// A std::string_view points into the payload.
    void text(auto&... texts) { ((texts = m_in.text()), ...); }
    void flag(bool& value) { value = m_in.byte() == 1; }
    void anyFlag(bool& value) { value = m_in.byte() != 0; }
    void lowestBit(bool& value) { value = (m_in.byte() & 1) != 0; }
    template <class Code> void code(Code& code) { code = static_cast<Code>(m_in.byte()); }
    template <class Code> void knownCode(Code& value, std::size_t count)
    {
        code(value);
        require(static_cast<std::size_t>(value) < count);
    }
    template <class Code> void codeOr(Code& value, std::size_t count, Code other)
    {
        code(value);
        if (static_cast<std::size_t>(value) >= count)
            value = other;
    }
    template <std::integral Number> void step(Number& number, std::uint64_t& before)
    {
        static_assert(sizeof(Number) == sizeof(before) || std::unsigned_integral<Number>);
        before += static_cast<std::uint64_t>(m_in.signedVarint());
        if constexpr (sizeof(Number) == sizeof(before))
            number = static_cast<Number>(before);
        else
            narrow(before, number);
    }
    void varintAbove(std::uint64_t& number, std::uint64_t least)
    {
        number = least + m_in.varint();
        require(number >= least);
    }

    std::size_t count(std::size_t, std::size_t leastBytes, std::size_t most)
    {
        const std::size_t found = m_in.count(leastBytes);
        require(found <= most);
        return m_in.ok() ? found : 0;
    }
    template <class Row>
    void room(std::vector<Row>& rows, std::size_t leastBytes, std::size_t most = kMaxRowsAChunk)
    {
        rows.clear();
        rows.resize(count(0, leastBytes, most));
    }
    template <class Row> void list(std::vector<Row>& rows, std::size_t count, auto layout)
    {
        rows.clear();
        // Texts take far more room than the byte that each is read from at least.
        if constexpr (std::is_trivially_copyable_v<Row>)
            rows.reserve(count);
        for (; count > 0 && m_in.ok(); --count)
            layout(rows.emplace_back());
    }
    void rows(auto& rows, std::size_t leastBytes, auto layout, std::size_t most = kMaxRowsAChunk)
    {
        list(rows, count(0, leastBytes, most), layout);
    }
    auto& next(auto& rows, std::size_t&) { return rows.emplace_back(); }

    [[nodiscard]] bool more(bool) const { return !m_in.atEnd(); }
    [[nodiscard]] bool ok() const { return m_in.ok(); }
    void require(bool isGood)
    {
        if (!isGood)
            m_in.fail();
    }
    void end() { require(m_in.atEnd()); }
    void dropUnknown(auto& rows, auto code, std::size_t count)
    {
        std::erase_if(
            rows, [&](const auto& row) { return static_cast<std::size_t>(std::invoke(code, row)) >= count; });
    }

private:
    template <class Number> void narrow(auto value, Number& to)
    {
        require(std::in_range<Number>(value));
        to = m_in.ok() ? static_cast<Number>(value) : Number{};
    }

    ByteReader m_in;
};

/// Appends what `layout` says of `parts`.
void encodeAs(auto layout, Bytes& out, const auto&... parts)
{
    WritingCoder coder(out);
    layout(coder, parts...);
}

/// False: the payload is damaged. `parts` may then hold anything.
[[nodiscard]] bool decodeAs(auto layout, std::span<const std::byte> payload, auto&... parts)
{
    ReadingCoder coder(payload);
    layout(coder, parts...);
    return coder.ok();
}

} // namespace strata::wire
