// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/json/json_reader.h"

#include "model/readers/values/open_values.h"

#include <iterator>
#include <nlohmann/json.hpp>

namespace strata::model {

namespace {

/// The characters of a stream, as nlohmann's parser wants them. Copies share the position.
class StreamIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    struct Position {
        ByteStream* stream;
        const std::uint8_t* at;
        const std::uint8_t* end;

        explicit Position(ByteStream& s)
            : stream(&s)
            , at(s.next())
            , end(s.end())
        {
        }
        bool atEnd()
        {
            if (at != end)
                return false;
            const bool more = stream->fill(at, 1);
            at = stream->next();
            end = stream->end();
            return !more;
        }
    };

    StreamIterator() = default;
    explicit StreamIterator(Position& position)
        : m_position(&position)
    {
    }
    char operator*() const { return static_cast<char>(*m_position->at); }
    StreamIterator& operator++()
    {
        ++m_position->at;
        return *this;
    }
    StreamIterator operator++(int)
    {
        ++m_position->at;
        return *this;
    }
    friend bool operator==(const StreamIterator& a, const StreamIterator& b) { return a.ends() == b.ends(); }

private:
    [[nodiscard]] bool ends() const { return m_position == nullptr || m_position->atEnd(); }
    Position* m_position = nullptr;
};

constexpr int kEventsBetweenChecks = 4096;

} // namespace

class JsonReader::Handler {
public:
    explicit Handler(JsonReader& reader)
        : m_reader(reader)
        , m_heap(reader.m_heap)
        , m_stack(reader.m_stack)
        , m_marks(reader.m_marks)
    {
    }

    bool null() { return push(Value::none()); }
    bool boolean(bool value) { return push(Value::boolean(value)); }
    bool number_integer(std::int64_t value) { return push(m_heap.integer(value)); }
    bool number_unsigned(std::uint64_t value) { return push(m_heap.unsignedInteger(value)); }
    bool number_float(double value, const std::string&) { return push(m_heap.real(value)); }
    bool string(std::string& value) { return push(m_heap.text(value)); }
    bool binary(std::vector<std::uint8_t>&) { return push(Value::row(Value::Tag::Bytes, 0)); }
    bool key(std::string& value)
    {
        const Value text = m_heap.text(value);
        if (m_marks.size() == 1 && isText(text, Known::TraceEvents)) {
            m_error
                = Error{ Error::Kind::Refused, say("this is a torch.profiler trace, not a memory snapshot"),
                      say("traces open in a later version of Strata; for memory, record a snapshot with "
                          "torch.cuda.memory._record_memory_history()"),
                      {} };
            return false;
        }
        return push(text);
    }
    bool start_object(std::size_t) { return open(m_heap.newDict()); }
    bool start_array(std::size_t) { return open(m_heap.newList()); }
    bool end_object() { return close(true); }
    bool end_array() { return close(false); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& problem)
    {
        const std::string_view text = problem.what();
        const std::size_t colon = text.find(": ");
        m_error = Error{ Error::Kind::Format,
            say("it is not valid JSON: %1", colon == text.npos ? text : text.substr(colon + 2)),
            say("the file is damaged or cut off; write it again with json.dump"), {} };
        return false;
    }

    [[nodiscard]] const Error& error() const { return m_error; }

private:
    bool push(Value value)
    {
        m_stack.push_back(value);
        return true;
    }
    bool open(Value container)
    {
        m_stack.push_back(container);
        m_marks.push_back(m_stack.size());
        return true;
    }
    bool close(bool dict)
    {
        const auto first = static_cast<std::size_t>(m_marks[m_marks.size() - 1]);
        const std::span<const Value> items{ m_stack.data() + first, m_stack.size() - first };
        const Value container = m_stack[first - 1];
        m_marks.setSize(m_marks.size() - 1);
        Home home;
        if (!m_marks.empty()) {
            const auto outer = static_cast<std::size_t>(m_marks[m_marks.size() - 1]);
            home = { m_stack[outer - 1], first - 1 - outer };
        }
        if (dict ? !m_heap.setItems(container, items, home) : !m_heap.append(container, items)) {
            m_error = m_heap.error();
            m_marks.push_back(first);
            return false;
        }
        m_stack.setSize(first);
        return ++m_closed % kEventsBetweenChecks != 0 || checkMemory();
    }
    bool checkMemory()
    {
        if (m_heap.bytesUsed() + m_stack.size() * sizeof(Value) <= m_reader.m_memoryLimit)
            return true;
        m_error = Heap::tooLarge(m_reader.m_memoryLimit);
        return false;
    }

    JsonReader& m_reader;
    Heap& m_heap;
    GrowArray<Value>& m_stack;
    GrowArray<std::uint64_t>& m_marks;
    int m_closed = 0;
    Error m_error;
};

JsonReader::JsonReader(ByteStream& stream, Heap& heap, std::uint64_t memoryLimit)
    : m_stream(stream)
    , m_heap(heap)
    , m_memoryLimit(memoryLimit)
{
}

Result<Value> JsonReader::run()
{
    StreamIterator::Position position(m_stream);
    Handler handler(*this);
    const bool whole = nlohmann::json::sax_parse(
        StreamIterator(position), StreamIterator(), &handler, nlohmann::json::input_format_t::json, false);
    m_failedAt = m_stream.offsetOf(position.at);
    if (m_stream.error())
        return Failure(*m_stream.error());
    if (!whole) {
        Error error = handler.error();
        if (error.kind == Error::Kind::Format)
            error.what = say("%1, at %2", std::move(error.what), m_stream.nameOf(m_failedAt));
        return Failure(std::move(error));
    }
    return m_stack[0];
}

Value JsonReader::salvage()
{
    return closeOpen(m_heap, { m_stack.data(), m_stack.size() }, { m_marks.data(), m_marks.size() });
}

} // namespace strata::model
