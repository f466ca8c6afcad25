// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/values/heap.h"

#include <algorithm>
#include <bit>

namespace strata::model {

namespace {

constexpr std::uint64_t kFewSteps = std::uint64_t{ 1 } << 22;
constexpr std::uint64_t kFrameKeys = bitOf(Known::Filename) | bitOf(Known::Name) | bitOf(Known::Line);

std::uint64_t keySet(std::span<const Value> pairs)
{
    std::uint64_t keys = 0;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
        keys |= bitOf(keyOf(pairs[i]));
    return keys;
}

} // namespace

Heap::Heap(Recording& recording)
    : m_recording(recording)
    , m_traces(*this, recording)
{
    internKnown(recording.strings);
}

Value Heap::wide(Value::Tag tag, std::uint64_t bits)
{
    m_wide.push_back(bits);
    return Value::row(tag, m_wide.size() - 1);
}

Value Heap::unsignedInteger(std::uint64_t v)
{
    if (v <= static_cast<std::uint64_t>(INT64_MAX))
        return integer(static_cast<std::int64_t>(v));
    return wide(Value::Tag::WideUnsigned, v);
}

Value Heap::real(double v)
{
    return wide(Value::Tag::Float, std::bit_cast<std::uint64_t>(v));
}

std::optional<Value> Heap::newTuple(std::span<const Value> items)
{
    if (items.size() == 2 && items[0].is(Value::Tag::Int) && items[1].is(Value::Tag::Int)
        && Value::fitsPair(items[0].intValue()) && Value::fitsPair(items[1].intValue()))
        return Value::pair(items[0].intValue(), items[1].intValue());
    const Value list = newList();
    if (!append(list, items))
        return std::nullopt;
    return list;
}

bool Heap::failWith(Error::Kind kind, Sentence what, Sentence hint)
{
    m_error = Error{ kind, std::move(what), std::move(hint), {} };
    return false;
}

bool Heap::lateChange(Cell cell)
{
    return failWith(Error::Kind::Refused,
        cell.kind == Kind::Frame       ? say("a frame is changed after it was used")
            : cell.kind == Kind::Event ? say("an event is changed after it was used")
                                       : say("a stack is changed after it was used"),
        say("no recorder writes this; write the snapshot again with pickle.dump"));
}

std::vector<Value>& Heap::contentsOf(Cell& cell, Kind kind)
{
    if (cell.kind != kind) {
        if (m_freeContents.empty()) {
            m_freeContents.push_back(static_cast<std::uint32_t>(m_contents.size()));
            m_contents.emplace_back();
        }
        cell = { kind, m_freeContents.back() };
        m_freeContents.pop_back();
    }
    return m_contents[cell.payload];
}

void Heap::freeContents(Cell& cell)
{
    if (cell.kind == Kind::Dict || cell.kind == Kind::List) {
        m_heldValues -= m_contents[cell.payload].size();
        m_contents[cell.payload] = {};
        m_freeContents.push_back(static_cast<std::uint32_t>(cell.payload));
    } else if (cell.kind == Kind::FrameList) {
        std::vector<FrameId>& frames = m_frameLists[cell.payload];
        if (frames.capacity() > 4096)
            frames = {};
        frames.clear();
        m_freeFrameLists.push_back(static_cast<std::uint32_t>(cell.payload));
    }
}

bool Heap::setItems(Value dict, std::span<const Value> pairs, Home home)
{
    if (!dict.is(Value::Tag::Object))
        return failWith(Error::Kind::Format, say("%1 stands where a dict belongs", typeName(dict)));
    Cell& cell = m_cells[dict.row()];
    switch (cell.kind) {
    case Kind::EmptyDict:
        break;
    case Kind::Dict:
        return storeInDict(cell, pairs);
    case Kind::Frame:
    case Kind::Event:
        return pairs.empty() || lateChange(cell);
    default:
        return failWith(Error::Kind::Format, say("a list stands where a dict belongs"));
    }

    const std::uint64_t keys = keySet(pairs);
    if ((keys & bitOf(Known::ActionName)) != 0) {
        // The event's list is known already: make the row now, so that a list written in one piece, as
        // LibTorch does it, needs a word and not a dict per event.
        Trace* trace = nullptr;
        if (!traceAtHome(home, trace))
            return false;
        if (trace != nullptr) {
            if (!m_traces.add(*trace, pairs))
                return false;
            setEvent(dict, home, *trace);
            return true;
        }
    } else if ((keys & kFrameKeys) == kFrameKeys) {
        FrameId id;
        if (!internFrame(pairs, id))
            return false;
        cell = { Kind::Frame, id.value };
        return true;
    }
    return pairs.empty() || storeInDict(cell, pairs);
}

bool Heap::traceAtHome(Home home, Trace*& trace)
{
    trace = nullptr;
    if (!home.list.is(Value::Tag::Object))
        return true;
    Cell& list = m_cells[home.list.row()];
    if (list.kind == Kind::EmptyList && home.before == 0) {
        std::size_t row = 0;
        if (!m_traces.start(row))
            return false;
        list = { Kind::Trace, row };
    }
    if (list.kind == Kind::Trace) {
        Trace& found = m_traces[list.payload];
        if (found.rows() - found.taken == home.before)
            trace = &found;
    }
    return true;
}

bool Heap::storeInDict(Cell& cell, std::span<const Value> pairs)
{
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
        Value member = pairs[i + 1];
        if (pairs[i].is(Value::Tag::Object))
            return failWith(Error::Kind::Format, say("a list or dict stands where a dict's key belongs"));
        const Known key = keyOf(pairs[i]);
        StackId stack;
        if ((key == Known::Frames || key == Known::CppFrames) && consumeFrames(member, stack))
            member = Value::row(Value::Tag::Stack, stack.value);
        std::vector<Value>& contents = contentsOf(cell, Kind::Dict);
        contents.push_back(pairs[i]);
        contents.push_back(member);
    }
    m_storedValues += pairs.size();
    m_heldValues += pairs.size();
    return true;
}

void Heap::storeInList(Cell& cell, std::span<const Value> items)
{
    std::vector<Value>& contents = contentsOf(cell, Kind::List);
    contents.insert(contents.end(), items.begin(), items.end());
    m_storedValues += items.size();
    m_heldValues += items.size();
}

bool Heap::append(Value list, std::span<const Value> items)
{
    if (!list.is(Value::Tag::Object))
        return failWith(Error::Kind::Format, say("%1 stands where a list belongs", typeName(list)));
    Cell& cell = m_cells[list.row()];
    if (items.empty())
        return true;
    switch (cell.kind) {
    case Kind::EmptyList:
        return startList(cell, items);
    case Kind::FrameList:
        return appendFrames(cell, items);
    case Kind::FrameRun: {
        const std::span<const FrameId> frames
            = m_recording.stacks.stack({ static_cast<std::uint32_t>(cell.payload) });
        openFrameList(cell).assign(frames.begin(), frames.end());
        return appendFrames(cell, items);
    }
    case Kind::Trace:
        return appendEvents(cell, items);
    case Kind::List:
        storeInList(cell, items);
        return true;
    case Kind::Stack:
        return lateChange(cell);
    default:
        return failWith(Error::Kind::Format, say("a dict stands where a list belongs"));
    }
}

std::vector<FrameId>& Heap::openFrameList(Cell& cell)
{
    if (m_freeFrameLists.empty()) {
        m_freeFrameLists.push_back(static_cast<std::uint32_t>(m_frameLists.size()));
        m_frameLists.emplace_back();
    }
    cell = { Kind::FrameList, m_freeFrameLists.back() };
    m_freeFrameLists.pop_back();
    return m_frameLists[cell.payload];
}

bool Heap::internFrameList(Value list, StackId& stack)
{
    if (!isKind(list, Kind::FrameList))
        return false;
    Cell& cell = m_cells[list.row()];
    stack = m_recording.stacks.internStack(m_frameLists[cell.payload]);
    freeContents(cell);
    cell = { Kind::FrameRun, stack.value };
    return true;
}

bool Heap::startList(Cell& cell, std::span<const Value> items)
{
    if (isFrame(items[0]) || isFrameDict(items[0])) {
        openFrameList(cell);
        return appendFrames(cell, items);
    }
    if (isEventLike(items[0])) {
        std::size_t row = 0;
        if (!m_traces.start(row))
            return false;
        cell = { Kind::Trace, row };
        return appendEvents(cell, items);
    }
    storeInList(cell, items);
    return true;
}

bool Heap::appendFrames(Cell& cell, std::span<const Value> items)
{
    std::vector<FrameId>& frames = m_frameLists[cell.payload];
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Value item = items[i];
        if (item.is(Value::Tag::Object) && m_cells[item.row()].kind == Kind::Frame) {
            frames.push_back({ static_cast<std::uint32_t>(m_cells[item.row()].payload) });
            continue;
        }
        FrameId id;
        const int is = isFrame(item) || isFrameDict(item) ? frameOf(item, id) : 0;
        if (is < 0)
            return false;
        if (is > 0) {
            frames.push_back(id);
            continue;
        }
        // Not a list of frames after all.
        std::vector<Value> plain;
        plain.reserve(frames.size());
        for (const FrameId frame : frames)
            plain.push_back(Value::row(Value::Tag::Frame, frame.value));
        freeContents(cell);
        cell = { Kind::EmptyList, 0 };
        storeInList(cell, plain);
        storeInList(cell, items.subspan(i));
        return true;
    }
    return true;
}

bool Heap::appendEvents(Cell& cell, std::span<const Value> items)
{
    const std::size_t row = cell.payload;
    Trace& trace = m_traces[row];
    for (const Value item : items) {
        if (isEvent(item)) {
            const std::uint64_t event = m_cells[item.row()].payload;
            if (event == (static_cast<std::uint64_t>(row) << kEventRowBits | trace.taken)
                && trace.taken < trace.rows()) {
                ++trace.taken;
                continue;
            }
            if (trace.taken != trace.rows())
                break;
            if (!m_traces.addCopy(trace, m_traces[event >> kEventRowBits], event & kEventRowMask))
                return false;
        } else if (isEventLike(item)) {
            if (trace.taken != trace.rows())
                break;
            Cell& dict = m_cells[item.row()];
            const std::uint64_t at = trace.rows();
            if (!m_traces.add(trace, m_contents[dict.payload]))
                return false;
            freeContents(dict);
            dict = { Kind::Event, static_cast<std::uint64_t>(row) << kEventRowBits | at };
        } else {
            return failWith(
                Error::Kind::Format, say("%1 stands where event %2 belongs", typeName(item), trace.taken));
        }
        ++trace.taken;
    }
    if (trace.taken != trace.rows())
        return failWith(Error::Kind::Refused, say("an event was made and then left out of its list"),
            say("no recorder writes this; write the snapshot again with pickle.dump"));
    return true;
}

bool Heap::hasKey(Value dict, Known key) const
{
    if (!isKind(dict, Kind::Dict))
        return false;
    const std::vector<Value>& contents = m_contents[m_cells[dict.row()].payload];
    // Whoever writes events or frames writes a handful of keys; a longer look would make long dicts slow.
    for (std::size_t i = 0; i < contents.size() && i < 128; i += 2) {
        if (isText(contents[i], key))
            return true;
    }
    return false;
}

bool Heap::isFrameDict(Value v) const
{
    return hasKey(v, Known::Filename) || (hasKey(v, Known::Line) && hasKey(v, Known::Name));
}

bool Heap::isEventLike(Value v) const
{
    return isEvent(v) || hasKey(v, Known::ActionName);
}

bool Heap::internFrame(std::span<const Value> pairs, FrameId& id)
{
    Frame frame{ idOf(Known::Empty), idOf(Known::Empty), 0, {} };
    std::vector<std::pair<Value, Value>> others;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        const Value value = pairs[i + 1];
        const Known key = keyOf(pairs[i]);
        if (key == Known::Filename || key == Known::Name) {
            if (!value.is(Value::Tag::Text) && !value.is(Value::Tag::None))
                return failWith(Error::Kind::Format,
                    say("a frame's '%1' is %2, not text", textOf(pairs[i]), typeName(value)));
            const StringId text = value.is(Value::Tag::Text) ? value.textId() : idOf(Known::Empty);
            (key == Known::Filename ? frame.file : frame.function) = text;
        } else if (key == Known::Line) {
            // C++ frames without a line can have 2^64 - 1.
            const std::optional<std::uint64_t> line = value.is(Value::Tag::None) ? 0 : bitsOf(value);
            if (!line)
                return failWith(
                    Error::Kind::Format, say("a frame's 'line' is %1, not a whole number", typeName(value)));
            frame.line = static_cast<std::int64_t>(*line);
        } else {
            if (bitOf(key) < bitOf(Known::FxNodeOp) || bitOf(key) > bitOf(Known::Inlined))
                countUnknown("frame", pairs[i]);
            others.emplace_back(pairs[i], value);
        }
    }
    if (!others.empty())
        frame.extras = m_traces.jsonText(others);
    id = m_recording.stacks.internFrame(frame);
    return true;
}

int Heap::frameOf(Value item, FrameId& id)
{
    if (item.is(Value::Tag::Frame)) {
        id = { static_cast<std::uint32_t>(item.row()) };
        return 1;
    }
    if (item.is(Value::Tag::Text)) { // torch 2.0 could leave C++ frames as text
        id = m_recording.stacks.internFrame({ idOf(Known::Empty), item.textId(), 0, {} });
        return 1;
    }
    if (!item.is(Value::Tag::Object))
        return 0;
    Cell& cell = m_cells[item.row()];
    if (cell.kind == Kind::Frame) {
        id = { static_cast<std::uint32_t>(cell.payload) };
        return 1;
    }
    if (!isFrameDict(item))
        return 0;
    if (!internFrame(m_contents[cell.payload], id))
        return -1;
    freeContents(cell);
    cell = { Kind::Frame, id.value };
    return 1;
}

bool Heap::consumeFrames(Value list, StackId& stack)
{
    stack = {};
    if (list.is(Value::Tag::None) || list.is(Value::Tag::Unset))
        return true;
    if (list.is(Value::Tag::Stack)) {
        stack = { static_cast<std::uint32_t>(list.row()) };
        return true;
    }
    if (!list.is(Value::Tag::Object))
        return false;
    Cell& cell = m_cells[list.row()];
    switch (cell.kind) {
    case Kind::FrameRun:
        cell.kind = Kind::Stack;
        [[fallthrough]];
    case Kind::Stack:
        stack = { static_cast<std::uint32_t>(cell.payload) };
        return true;
    case Kind::FrameList:
        stack = m_recording.stacks.internStack(m_frameLists[cell.payload]);
        break;
    case Kind::EmptyList:
        break;
    case Kind::List: {
        std::vector<FrameId> frames;
        for (const Value item : m_contents[cell.payload]) {
            FrameId id;
            if (frameOf(item, id) <= 0)
                return false;
            frames.push_back(id);
        }
        stack = m_recording.stacks.internStack(frames);
        break;
    }
    default:
        return false;
    }
    freeContents(cell);
    cell = { Kind::Stack, stack.value };
    return true;
}

std::uint64_t Heap::bytesUsed() const
{
    return m_cells.size() * sizeof(Cell) + m_wide.size() * 8 + m_heldValues * sizeof(Value)
        + m_contents.size() * 48 + m_frameLists.size() * 48 + m_recording.strings.bytesResident()
        + m_recording.stacks.bytesResident() + m_traces.bytesUsed();
}

bool Heap::isWaitingEvent(Value v)
{
    if (!isEvent(v))
        return false;
    const std::uint64_t event = m_cells[v.row()].payload;
    return (event & kEventRowMask) >= m_traces[event >> kEventRowBits].taken;
}

std::span<const Value> Heap::contents(Value v) const
{
    if (isKind(v, Kind::Dict) || isKind(v, Kind::List))
        return m_contents[m_cells[v.row()].payload];
    return {};
}

std::optional<std::int64_t> Heap::signedOf(Value v) const
{
    if (v.is(Value::Tag::Int))
        return v.intValue();
    if (v.is(Value::Tag::WideInt))
        return static_cast<std::int64_t>(m_wide[v.row()]);
    return std::nullopt;
}

std::optional<std::uint64_t> Heap::bitsOf(Value v) const
{
    if (v.is(Value::Tag::WideUnsigned))
        return m_wide[v.row()];
    if (const std::optional<std::int64_t> i = signedOf(v))
        return static_cast<std::uint64_t>(*i);
    return std::nullopt;
}

std::optional<double> Heap::realOf(Value v) const
{
    if (v.is(Value::Tag::Float))
        return std::bit_cast<double>(m_wide[v.row()]);
    return std::nullopt;
}

Sentence Heap::typeName(Value v) const
{
    if (!v.is(Value::Tag::Object))
        return model::typeName(v.tag());
    switch (m_cells[v.row()].kind) {
    case Kind::EmptyDict:
    case Kind::Dict:
        return say("a dict");
    case Kind::EmptyList:
    case Kind::List:
        return say("a list");
    case Kind::FrameList:
    case Kind::FrameRun:
        return say("a list of frames");
    case Kind::Frame:
        return say("a frame");
    case Kind::Stack:
        return say("a stack");
    case Kind::Trace:
        return say("a list of events");
    case Kind::Event:
        return say("an event");
    }
    return say("something");
}

Error Heap::tooLarge(std::uint64_t memoryLimit)
{
    const auto bytes = static_cast<std::int64_t>(std::min<std::uint64_t>(memoryLimit, INT64_MAX));
    return { Error::Kind::Refused,
        say("reading it takes more than %1, half of this machine's memory", asBytes(bytes)),
        say("open it on a machine with more memory, or with --force"), {} };
}

bool Heap::spend(std::size_t steps)
{
    m_steps += steps;
    if (m_steps <= kFewSteps + 4 * m_storedValues)
        return true;
    return failWith(Error::Kind::Refused,
        say("its parts refer to each other so often that reading would take forever"),
        say("no recorder writes this; write the snapshot again with pickle.dump"));
}

} // namespace strata::model
