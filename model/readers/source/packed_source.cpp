// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/source/byte_source.h"

#include <algorithm>
#include <array>
#include <zlib.h>

namespace strata::model {

namespace {

constexpr std::size_t kPackedPiece = std::size_t{ 1 } << 18;

class GzipSource final : public ByteSource {
public:
    GzipSource(std::unique_ptr<ByteSource> packed, std::uint64_t limit)
        : m_packed(std::move(packed))
        , m_limit(limit)
        , m_buffer(kPackedPiece)
    {
        m_ready = inflateInit2(&m_zip, 15 + 16) == Z_OK; // 16: gzip wrapping alone
    }
    ~GzipSource() override { inflateEnd(&m_zip); }
    GzipSource(const GzipSource&) = delete;
    GzipSource& operator=(const GzipSource&) = delete;

    Result<std::size_t> read(std::span<std::byte> into) override
    {
        if (!m_ready)
            return fail(Error::Kind::Refused, say("zlib has no memory to unpack"));
        if (m_ended || into.empty())
            return std::size_t{ 0 };
        m_zip.next_out = reinterpret_cast<Bytef*>(into.data());
        m_zip.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), std::size_t{ 1 } << 30));
        const uInt room = m_zip.avail_out;
        while (m_zip.avail_out == room && !m_ended) {
            if (const Result<void> step = unpackSome(); !step)
                return Failure(step.error());
        }
        const std::size_t made = room - m_zip.avail_out;
        m_made += made;
        if (m_made > m_limit)
            return fail(Error::Kind::Refused,
                say("it unpacks to more than %1, half of this machine's memory", asBytes(toSigned(m_limit))),
                say("open it with --force if you trust it"));
        return made;
    }

    std::uint64_t fileBytesDone() const override { return m_packed->fileBytesDone(); }
    std::uint64_t fileBytesTotal() const override { return m_packed->fileBytesTotal(); }
    Sentence nameOf(std::uint64_t offset) const override
    {
        return say("byte %1 of the unpacked file", offset);
    }

private:
    static std::int64_t toSigned(std::uint64_t bytes)
    {
        return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX));
    }

    Result<void> unpackSome()
    {
        if (m_zip.avail_in == 0) {
            const Result<std::size_t> got = m_packed->read(m_buffer);
            if (!got)
                return Failure(got.error());
            if (*got == 0) {
                m_ended = true;
                if (!m_betweenMembers)
                    return fail(Error::Kind::Format, say("the gzip data end early"),
                        say("copy or download the file again"));
                return {};
            }
            m_zip.next_in = reinterpret_cast<Bytef*>(m_buffer.data());
            m_zip.avail_in = static_cast<uInt>(*got);
        }
        if (m_betweenMembers) {
            if (*m_zip.next_in != 0x1f) { // padding or rubbish after the last member, as gzip itself sees it
                m_ended = true;
                return {};
            }
            if (inflateReset(&m_zip) != Z_OK)
                return fail(Error::Kind::Format, say("the gzip data are damaged"));
            m_betweenMembers = false;
        }
        const int state = inflate(&m_zip, Z_NO_FLUSH);
        if (state == Z_STREAM_END)
            m_betweenMembers = true;
        else if (state != Z_OK && state != Z_BUF_ERROR)
            return fail(Error::Kind::Format,
                m_zip.msg != nullptr
                    ? say(
                        "the gzip data are damaged near byte %1 of the file: %2", fileBytesDone(), m_zip.msg)
                    : say("the gzip data are damaged near byte %1 of the file", fileBytesDone()),
                say("copy or download the file again"));
        return {};
    }

    std::unique_ptr<ByteSource> m_packed;
    std::uint64_t m_limit;
    std::uint64_t m_made = 0;
    std::vector<std::byte> m_buffer;
    z_stream m_zip = {};
    bool m_ready = false;
    bool m_betweenMembers = false;
    bool m_ended = false;
};

constexpr std::uint8_t kNotBase64 = 0xff;
constexpr std::uint8_t kSpace = 0xfe;

constexpr std::array<std::uint8_t, 256> makeBase64Table()
{
    std::array<std::uint8_t, 256> table{};
    table.fill(kNotBase64);
    for (std::uint8_t i = 0; i < 26; ++i) {
        table[static_cast<std::size_t>('A') + i] = i;
        table[static_cast<std::size_t>('a') + i] = static_cast<std::uint8_t>(26 + i);
    }
    for (std::uint8_t i = 0; i < 10; ++i)
        table[static_cast<std::size_t>('0') + i] = static_cast<std::uint8_t>(52 + i);
    table['+'] = 62;
    table['/'] = 63;
    for (const char space : { ' ', '\t', '\r', '\n' })
        table[static_cast<std::size_t>(space)] = kSpace;
    return table;
}

constexpr std::array<std::uint8_t, 256> kBase64 = makeBase64Table();

class Base64Source final : public ByteSource {
public:
    explicit Base64Source(std::unique_ptr<ByteSource> text)
        : m_text(std::move(text))
        , m_buffer(kPackedPiece)
    {
    }

    Result<std::size_t> read(std::span<std::byte> into) override
    {
        std::size_t made = 0;
        while (made < into.size() && !m_ended) {
            if (m_next == m_end) {
                const Result<std::size_t> got = m_text->read(m_buffer);
                if (!got)
                    return got;
                m_next = 0;
                m_end = *got;
                if (m_end == 0) {
                    m_ended = true;
                    break;
                }
            }
            made += decode(into.subspan(made));
        }
        return made;
    }

    std::uint64_t fileBytesDone() const override { return m_text->fileBytesDone(); }
    std::uint64_t fileBytesTotal() const override { return m_text->fileBytesTotal(); }
    Sentence nameOf(std::uint64_t offset) const override
    {
        return say("byte %1 of the embedded snapshot", offset);
    }

private:
    std::size_t decode(std::span<std::byte> into)
    {
        std::size_t made = 0;
        while (made < into.size() && m_next < m_end) {
            const std::uint8_t six = kBase64[std::to_integer<std::uint8_t>(m_buffer[m_next])];
            ++m_next;
            if (six == kSpace)
                continue;
            if (six == kNotBase64) {
                m_ended = true;
                break;
            }
            m_bits = (m_bits << 6 | six) & 0xffff;
            m_count += 6;
            if (m_count >= 8) {
                m_count -= 8;
                into[made++] = static_cast<std::byte>(m_bits >> m_count & 0xff);
            }
        }
        return made;
    }

    std::unique_ptr<ByteSource> m_text;
    std::vector<std::byte> m_buffer;
    std::size_t m_next = 0;
    std::size_t m_end = 0;
    std::uint32_t m_bits = 0;
    int m_count = 0;
    bool m_ended = false;
};

} // namespace

std::unique_ptr<ByteSource> gzipSource(std::unique_ptr<ByteSource> packed, std::uint64_t limit)
{
    return std::make_unique<GzipSource>(std::move(packed), limit);
}

std::unique_ptr<ByteSource> base64Source(std::unique_ptr<ByteSource> text)
{
    return std::make_unique<Base64Source>(std::move(text));
}

} // namespace strata::model
