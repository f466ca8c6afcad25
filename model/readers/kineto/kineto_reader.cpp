// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/kineto/kineto_reader.h"

#include "model/readers/kineto/event_rows.h"
#include "model/readers/kineto/json_values.h"
#include "model/readers/kineto/trace_memory.h"

#include <array>
#include <string>
#include <string_view>

namespace strata::model {

namespace {

static_assert(JsonValues::kPadding >= EventRows::kPadding);

class KinetoReader {
public:
    KinetoReader(Recording& recording, ByteStream& stream)
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
        if (m_work.counts.empty())
            return fail(m_stream.error() ? m_stream.error()->kind : Error::Kind::Format,
                m_stream.error()       ? m_stream.error()->what
                    : m_stream.ended() ? say("it ends in the middle, at %1", m_stream.nameOf(offset))
                                       : say("it is damaged at %1", m_stream.nameOf(offset)),
                say("export it again"));
        // Where is said beside it.
        m_recording.truncation = Truncation{ offset,
            m_stream.error()       ? m_stream.error()->what
                : m_stream.ended() ? say("it ends in the middle")
                                   : say("what stands there cannot be read") };
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
    JsonValues m_values;
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
    Result<void> read = KinetoReader(recording, stream).run();
    if (read)
        addMemoryOfTrace(recording);
    return read;
}

} // namespace strata::model
