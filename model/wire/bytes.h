// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace strata::wire {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint32_t kNone = 0xffffffffu; ///< a number that names nothing
inline constexpr std::size_t kMaxRowsAChunk = std::size_t{ 1 } << 22; ///< what a reader takes

/// Folds the sign into the lowest bit, so that small numbers of either sign are short varints.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value)
{
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value)
{
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

/// Appends little-endian integers, varints (LEB128, at most 10 bytes) and texts to a buffer that it does not
/// own.
class ByteWriter {
public:
    explicit ByteWriter(Bytes& out)
        : m_out(out)
    {
    }

    void byte(std::uint8_t value) { m_out.push_back(static_cast<std::byte>(value)); }
    void varint(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            byte(static_cast<std::uint8_t>(value | 0x80));
        byte(static_cast<std::uint8_t>(value));
    }
    void signedVarint(std::int64_t value) { varint(zigzag(value)); }
    void id(std::uint32_t number) { varint(number == kNone ? 0 : std::uint64_t{ number } + 1); }
    template <std::unsigned_integral T> void fixed(T value)
    {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            byte(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    void bytes(std::span<const std::byte> content)
    {
        m_out.insert(m_out.end(), content.begin(), content.end());
    }
    void text(std::string_view content)
    {
        varint(content.size());
        bytes(std::as_bytes(std::span(content)));
    }

private:
    Bytes& m_out;
};

/// Reads what ByteWriter wrote, from bytes that may be anything. The first read that does not fit fails the
/// reader for good: it then gives zeros and empty texts, and ok() is false. Check once, at the end.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> in)
        : m_in(in)
    {
    }

    [[nodiscard]] bool ok() const { return !m_failed; }
    [[nodiscard]] bool atEnd() const { return m_in.empty(); }
    [[nodiscard]] std::size_t left() const { return m_in.size(); }
    void fail()
    {
        m_failed = true;
        m_in = {};
    }

    std::uint8_t byte()
    {
        if (m_in.empty()) {
            fail();
            return 0;
        }
        const auto value = static_cast<std::uint8_t>(m_in.front());
        m_in = m_in.subspan(1);
        return value;
    }
    std::uint64_t varint()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t next = byte();
            value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
            if (next < 0x80) {
                if (shift == 63 && next > 1)
                    break;
                return value;
            }
        }
        fail();
        return 0;
    }
    std::int64_t signedVarint() { return unzigzag(varint()); }
    std::uint32_t id()
    {
        const std::uint64_t code = varint();
        if (code > kNone)
            fail();
        return code == 0 || code > kNone ? kNone : static_cast<std::uint32_t>(code - 1);
    }
    template <std::unsigned_integral T> T fixed()
    {
        T value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value = static_cast<T>(value | static_cast<T>(byte()) << (8 * i));
        return value;
    }
    std::span<const std::byte> bytes(std::uint64_t count)
    {
        if (count > m_in.size()) {
            fail();
            return {};
        }
        const auto taken = m_in.first(static_cast<std::size_t>(count));
        m_in = m_in.subspan(static_cast<std::size_t>(count));
        return taken;
    }
    /// A view into what is read.
    std::string_view text()
    {
        const auto content = bytes(varint());
        return { reinterpret_cast<const char*>(content.data()), content.size() };
    }
    /// A number of items that follow, each of at least `itemBytes`: a larger one than fits fails, so that
    /// nothing is reserved for it.
    std::size_t count(std::size_t itemBytes = 1)
    {
        const std::uint64_t n = varint();
        if (n > m_in.size() / itemBytes) {
            fail();
            return 0;
        }
        return static_cast<std::size_t>(n);
    }

private:
    std::span<const std::byte> m_in;
    bool m_failed = false;
};

} // namespace strata::wire
