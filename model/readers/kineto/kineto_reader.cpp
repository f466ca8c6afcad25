// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/kineto/kineto_reader.h"

#include "model/readers/kineto/event_rows.h"
#include "model/readers/kineto/trace_memory.h"

#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace strata::model {

namespace {

constexpr std::size_t kTogether = std::size_t{ 256 } << 10; // bytes of rows that are read at once
constexpr std::size_t kLargestValue = std::size_t{ 256 } << 20; // of a row, or of a member beside them

bool isSpace(std::uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// The bytes of a JSON text, value by value, without looking into them more than to find their ends.
class Values {
public:
    explicit Values(ByteStream& stream)
        : m_stream(stream)
        , m_at(stream.next())
        , m_end(stream.end())
    {
    }

    /// The next byte that is no white space; 0 at the end.
    [[nodiscard]] std::uint8_t peek()
    {
        for (;;) {
            while (m_at != m_end && isSpace(*m_at))
                ++m_at;
            if (m_at != m_end)
                return *m_at;
            if (!more(1))
                return 0;
        }
    }
    void pass() { ++m_at; }
    [[nodiscard]] bool pass(std::uint8_t wanted)
    {
        if (peek() != wanted)
            return false;
        pass();
        return true;
    }

    /// The value that begins at the byte that was peeked at, and passes over it; it is valid until the next
    /// call, with EventRows::kPadding bytes behind it. Empty: it has no end.
    [[nodiscard]] std::string_view take()
    {
        m_depth = 0;
        m_inText = m_inWord = false;
        for (std::size_t scanned = 0;;) {
            if (const auto end = scan(scanned); end != 0)
                return taken(end);
            scanned = static_cast<std::size_t>(m_end - m_at);
            if (scanned > kLargestValue || !more(scanned + 1))
                return m_inWord && m_depth == 0 ? taken(scanned) : std::string_view();
        }
    }

    /// Objects with commas between them, from the byte that was peeked at on, up to the last one that seems
    /// to end within what is at hand: a text that looks the same deceives it. Valid until the next call.
    [[nodiscard]] std::string_view several()
    {
        if (static_cast<std::size_t>(m_end - m_at) < kTogether)
            (void)more(kTogether);
        const std::string_view text(
            reinterpret_cast<const char*>(m_at), std::min(static_cast<std::size_t>(m_end - m_at), kTogether));
        static constexpr std::string_view kSpace = " \n\r\t";
        for (std::size_t at = text.rfind('{'); at != text.npos && at != 0; at = text.rfind('{', at - 1)) {
            const std::size_t comma = text.find_last_not_of(kSpace, at - 1);
            if (comma == text.npos || comma == 0 || text[comma] != ',')
                continue;
            const std::size_t last = text.find_last_not_of(kSpace, comma - 1);
            if (last != text.npos && text[last] == '}')
                return text.substr(0, last + 1);
        }
        return {};
    }
    void passOver(std::size_t bytes) { m_at += bytes; }

    [[nodiscard]] std::uint64_t offset() const { return m_stream.offsetOf(m_at); }

private:
    /// Behind the value's last byte, from m_at on; 0: not yet there.
    std::size_t scan(std::size_t from)
    {
        const std::uint8_t* at = m_at + from;
        while (at != m_end) {
            if (m_inText) {
                const auto* const quote = static_cast<const std::uint8_t*>(
                    std::memchr(at, '"', static_cast<std::size_t>(m_end - at)));
                if (!quote) {
                    at = m_end;
                    break;
                }
                at = quote + 1;
                const std::uint8_t* slash = quote;
                while (slash != m_at && slash[-1] == '\\')
                    --slash;
                m_inText = (quote - slash) % 2 != 0;
                if (!m_inText && m_depth == 0)
                    return static_cast<std::size_t>(at - m_at);
                continue;
            }
            const std::uint8_t c = *at;
            if (c == '"') {
                m_inText = true;
            } else if (c == '{' || c == '[') {
                ++m_depth;
            } else if (c == '}' || c == ']') {
                if (m_depth == 0)
                    return m_inWord ? static_cast<std::size_t>(at - m_at) : 0;
                if (--m_depth == 0)
                    return static_cast<std::size_t>(at + 1 - m_at);
            } else if (m_depth == 0) {
                if (c == ',' || isSpace(c))
                    return static_cast<std::size_t>(at - m_at);
                m_inWord = true;
            }
            ++at;
        }
        return 0;
    }

    std::string_view taken(std::size_t bytes)
    {
        // Behind the buffer's content lie bytes that are its own, but too few of them.
        if (static_cast<std::size_t>(m_end - m_at) < bytes + EventRows::kPadding
            && !more(bytes + EventRows::kPadding)) {
            m_last.assign(reinterpret_cast<const char*>(m_at), bytes);
            m_last.resize(bytes + EventRows::kPadding);
            m_at += bytes;
            return std::string_view(m_last).substr(0, bytes);
        }
        const std::string_view value(reinterpret_cast<const char*>(m_at), bytes);
        m_at += bytes;
        return value;
    }

    bool more(std::size_t count)
    {
        const bool filled = m_stream.fill(m_at, count);
        m_at = m_stream.next();
        m_end = m_stream.end();
        return filled;
    }

    ByteStream& m_stream;
    const std::uint8_t *m_at, *m_end;
    std::string m_last;
    std::size_t m_depth = 0; // of the value that is scanned, as are these
    bool m_inText = false, m_inWord = false;
};

class Reader {
public:
    Reader(Recording& recording, ByteStream& stream)
        : m_recording(recording)
        , m_stream(stream)
        , m_values(stream)
        , m_work(recording.parts.get<Work>())
        , m_rows(recording, m_work)
    {
    }

    Result<void> run()
    {
        const bool isWhole = m_values.peek() == '[' ? readRows() : readMembers();
        m_rows.finish();
        if (m_stream.error() && m_stream.error()->kind == Error::Kind::Cancelled)
            return Failure(*m_stream.error());
        if (isWhole && !m_hasRows)
            return fail(Error::Kind::Format, say("this JSON holds no events of a trace"),
                say("export one with torch.profiler.profile(...).export_chrome_trace(FILE)"));
        if (isWhole)
            return {};
        const std::uint64_t offset = m_values.offset();
        Sentence why = m_stream.error() ? m_stream.error()->what
            : m_stream.ended()          ? say("it ends in the middle, at %1", m_stream.nameOf(offset))
                                        : say("it is damaged at %1", m_stream.nameOf(offset));
        if (m_work.counts.empty())
            return fail(m_stream.error() ? m_stream.error()->kind : Error::Kind::Format, std::move(why),
                say("export it again"));
        m_recording.truncation = Truncation{ offset, std::move(why) };
        return {};
    }

private:
    bool readMembers()
    {
        if (!m_values.pass('{'))
            return false;
        if (m_values.pass('}'))
            return true;
        do {
            if (m_values.peek() != '"')
                return false;
            const std::string quoted(m_values.take());
            if (quoted.size() < 2 || !m_values.pass(':'))
                return false;
            const std::string_view key = std::string_view(quoted).substr(1, quoted.size() - 2);
            const std::uint8_t first = m_values.peek();
            if (key == "traceEvents" && first == '[') {
                if (!readRows())
                    return false;
            } else {
                const std::string_view value = m_values.take();
                if (value.empty())
                    return false;
                m_rows.addMember(key, value);
            }
        } while (m_values.pass(','));
        return m_values.pass('}');
    }

    bool readRows()
    {
        m_values.pass();
        m_hasRows = true;
        std::uint64_t oneByOneTo = 0; // what is damaged is found row by row
        if (m_values.pass(']'))
            return true;
        do {
            if (m_values.peek() == ']') // behind a comma: tools that write line by line leave one
                break;
            if (m_values.offset() >= oneByOneTo) {
                const std::string_view rows = m_values.several();
                const std::size_t taken = m_rows.addSeveral(rows);
                m_values.passOver(taken);
                oneByOneTo = m_values.offset() + (rows.size() - taken);
                if (taken != 0 && taken == rows.size())
                    continue;
            }
            const std::string_view object = m_values.take();
            if (object.empty())
                return false;
            m_rows.add(object);
        } while (m_values.pass(','));
        return m_values.pass(']');
    }

    Recording& m_recording;
    ByteStream& m_stream;
    Values m_values;
    Work& m_work;
    EventRows m_rows;
    bool m_hasRows = false;
};

} // namespace

bool looksLikeChromeTrace(std::span<const std::byte> head)
{
    // Of the keys of a trace and of a snapshot, the one that comes first.
    static constexpr std::array<std::string_view, 8> kTrace{ "\"traceEvents\"", "\"schemaVersion\"",
        "\"deviceProperties\"", "\"displayTimeUnit\"", "\"traceName\"", "\"distributedInfo\"", "\"ph\"",
        "\"metadata\"" };
    static constexpr std::array<std::string_view, 4> kSnapshot{ "\"segments\"", "\"device_traces\"",
        "\"total_size\"", "\"allocator_settings\"" };
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    const auto first = [text](const auto& keys) {
        std::size_t at = std::string_view::npos;
        for (const std::string_view key : keys)
            at = std::min(at, text.find(key));
        return at;
    };
    return first(kTrace) < first(kSnapshot);
}

Result<void> readChromeTrace(Recording& recording, ByteStream& stream)
{
    recording.format = "PyTorch profiler trace";
    Result<void> read = Reader(recording, stream).run();
    if (read)
        addMemoryOfTrace(recording);
    return read;
}

} // namespace strata::model
