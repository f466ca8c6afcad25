// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/source/byte_source.h"

#include <algorithm>
#include <string>

namespace strata::model {

namespace {

constexpr std::uint32_t kReplacement = 0xfffd;
constexpr std::uint32_t kByteOrderMark = 0xfeff;

void appendUtf8(std::uint32_t character, std::string& out)
{
    const auto byte = [&](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
    if (character < 0x80) {
        byte(character);
    } else if (character < 0x800) {
        byte(0xc0 | character >> 6);
        byte(0x80 | (character & 0x3f));
    } else if (character < 0x10000) {
        byte(0xe0 | character >> 12);
        byte(0x80 | (character >> 6 & 0x3f));
        byte(0x80 | (character & 0x3f));
    } else {
        byte(0xf0 | character >> 18);
        byte(0x80 | (character >> 12 & 0x3f));
        byte(0x80 | (character >> 6 & 0x3f));
        byte(0x80 | (character & 0x3f));
    }
}

class Utf16Source final : public ByteSource {
public:
    Utf16Source(std::unique_ptr<ByteSource> text, bool bigEndian)
        : m_text(std::move(text))
        , m_bigEndian(bigEndian)
        , m_piece(std::size_t{ 1 } << 16)
    {
    }

    Result<std::size_t> read(std::span<std::byte> into) override
    {
        while (m_next == m_out.size() && !m_ended) {
            if (const Result<void> more = convertPiece(); !more)
                return Failure(more.error());
        }
        const std::size_t count = std::min(into.size(), m_out.size() - m_next);
        std::ranges::copy(std::as_bytes(std::span(m_out).subspan(m_next, count)), into.begin());
        m_next += count;
        return count;
    }

    std::uint64_t fileBytesDone() const override { return m_text->fileBytesDone(); }
    std::uint64_t fileBytesTotal() const override { return m_text->fileBytesTotal(); }
    Sentence nameOf(std::uint64_t offset) const override { return say("byte %1 of its text in UTF-8", offset); }

private:
    Result<void> convertPiece()
    {
        m_out.clear();
        m_next = 0;
        const Result<std::size_t> got = m_text->read(m_piece);
        if (!got)
            return Failure(got.error());
        m_ended = *got == 0;
        for (const std::byte each : std::span(m_piece).first(*got)) {
            const auto value = std::to_integer<std::uint32_t>(each);
            if (!m_hasHalf) {
                m_half = value;
                m_hasHalf = true;
                continue;
            }
            m_hasHalf = false;
            take(m_bigEndian ? m_half << 8 | value : value << 8 | m_half);
        }
        if (m_ended && (m_high != 0 || m_hasHalf))
            appendUtf8(kReplacement, m_out);
        return {};
    }

    void take(std::uint32_t unit)
    {
        const bool isHigh = unit >= 0xd800 && unit < 0xdc00, isLow = unit >= 0xdc00 && unit < 0xe000;
        if (m_high != 0 && isLow) {
            appendUtf8(0x10000 + ((m_high - 0xd800) << 10) + (unit - 0xdc00), m_out);
            m_high = 0;
            return;
        }
        if (m_high != 0)
            appendUtf8(kReplacement, m_out);
        m_high = isHigh ? unit : 0;
        if (!isHigh && (!m_isFirst || unit != kByteOrderMark))
            appendUtf8(isLow ? kReplacement : unit, m_out);
        m_isFirst = false;
    }

    std::unique_ptr<ByteSource> m_text;
    bool m_bigEndian;
    std::vector<std::byte> m_piece;
    std::string m_out;
    std::size_t m_next = 0;
    std::uint32_t m_half = 0, m_high = 0; // of a unit, and of a surrogate pair
    bool m_hasHalf = false, m_isFirst = true, m_ended = false;
};

} // namespace

std::unique_ptr<ByteSource> utf16Source(std::unique_ptr<ByteSource> text, bool bigEndian)
{
    return std::make_unique<Utf16Source>(std::move(text), bigEndian);
}

} // namespace strata::model
