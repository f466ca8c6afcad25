// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/readers/values/grow_array.h"
#include "model/readers/values/known.h"
#include "model/readers/values/traces.h"
#include "model/readers/values/unknown_keys.h"
#include "model/readers/values/value.h"
#include "model/trace/recording.h"

#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// Where a dict will go as far as the reader can see: into `list`, after `before` siblings of the same batch.
struct Home {
    Value list = Value::none();
    std::size_t before = 0;
};

/// The values of a snapshot while it is read, and where most of them are digested at once:
///
///     frame dict   -> FrameId    when it has file, name and line, or when a list takes it
///     frames list  -> StackId    when a dict takes it
///     event dict   -> row        when it is filled and its list is known, or when a list takes it
///
/// What is digested is *consumed*: its contents are gone, references to it still resolve to the id or row, a
/// later change is refused. The rest (segments, blocks, settings, annotations) stays as lists and dicts.
/// Lists and dicts are known by number, never by pointer, so cycles and depth do no harm. A call that returns
/// false leaves the reason in error().
class Heap {
public:
    /// Interns the known texts: `recording` must be empty.
    explicit Heap(Recording& recording);

    [[nodiscard]] Value integer(std::int64_t v)
    {
        return Value::fitsInt(v) ? Value::integer(v)
                                 : wide(Value::Tag::WideInt, static_cast<std::uint64_t>(v));
    }
    [[nodiscard]] Value unsignedInteger(std::uint64_t v);
    [[nodiscard]] Value real(double v);
    [[nodiscard]] Value text(std::string_view v) { return Value::text(m_recording.strings.intern(v)); }
    [[nodiscard]] Value newDict() { return newObject(Kind::EmptyDict); }
    [[nodiscard]] Value newList() { return newObject(Kind::EmptyList); }
    /// Two small integers become a Pair, anything else a list.
    [[nodiscard]] std::optional<Value> newTuple(std::span<const Value> items);

    /// Sets key, value, key, value, ... in a dict.
    [[nodiscard]] bool setItems(Value dict, std::span<const Value> pairs, Home home);
    [[nodiscard]] bool append(Value list, std::span<const Value> items);

    /// The trace to which an event that goes `home` can be added at once; nullptr if it must wait for its
    /// list. Makes an empty list a trace. False: error.
    [[nodiscard]] bool traceAtHome(Home home, Trace*& trace);
    /// An empty dict has become the last row of the trace at `home`.
    void setEvent(Value emptyDict, Home home, const Trace& trace)
    {
        m_cells[emptyDict.row()]
            = { Kind::Event, m_cells[home.list.row()].payload << kEventRowBits | (trace.rows() - 1) };
    }
    /// A list of a stack's frames that its dict consumes at once.
    [[nodiscard]] Value newStack(StackId stack)
    {
        m_cells.push_back({ Kind::Stack, stack.value });
        return Value::row(Value::Tag::Object, m_cells.size() - 1);
    }

    /// Interns a list of frames as it stands; false if it is not one. It can still grow.
    [[nodiscard]] bool internFrameList(Value list, StackId& stack);
    /// Fills an empty list with the frames of a stack.
    void setStack(Value emptyList, StackId stack)
    {
        m_cells[emptyList.row()] = { Kind::FrameRun, stack.value };
    }

    [[nodiscard]] const Error& error() const { return m_error; }
    [[nodiscard]] std::int64_t eventCount() const { return m_traces.eventCount(); }
    [[nodiscard]] std::uint64_t bytesUsed() const;
    [[nodiscard]] Recording& recording() { return m_recording; }
    [[nodiscard]] Traces& traces() { return m_traces; }

    // Reading what is left.
    [[nodiscard]] bool isDict(Value v) const { return isKind(v, Kind::Dict) || isKind(v, Kind::EmptyDict); }
    [[nodiscard]] bool isEmptyDict(Value v) const { return isKind(v, Kind::EmptyDict); }
    [[nodiscard]] bool isFrame(Value v) const { return v.is(Value::Tag::Frame) || isKind(v, Kind::Frame); }
    /// A list that was not digested: its items are all there.
    [[nodiscard]] bool isPlainList(Value v) const
    {
        return isKind(v, Kind::List) || isKind(v, Kind::EmptyList);
    }
    [[nodiscard]] bool isEmptyList(Value v) const { return isKind(v, Kind::EmptyList); }
    [[nodiscard]] bool isEvent(Value v) const { return isKind(v, Kind::Event); }
    /// An event whose row was made before its list took it.
    [[nodiscard]] bool isWaitingEvent(Value v);
    /// An event that was digested, or a dict that can be.
    [[nodiscard]] bool isEventLike(Value v) const;
    [[nodiscard]] Trace* traceOf(Value list)
    {
        return isKind(list, Kind::Trace) ? &m_traces[m_cells[list.row()].payload] : nullptr;
    }
    /// Items of a plain list, or keys and values of a dict in turn; empty for anything else.
    [[nodiscard]] std::span<const Value> contents(Value v) const;
    [[nodiscard]] std::optional<std::int64_t> signedOf(Value v) const;
    /// The 64 bits of an integer: negative ones wrap, as PyTorch writes addresses.
    [[nodiscard]] std::optional<std::uint64_t> bitsOf(Value v) const;
    [[nodiscard]] std::optional<double> realOf(Value v) const;
    [[nodiscard]] std::string_view textOf(Value v) const { return m_recording.strings[v.textId()]; }
    /// "text", "a list", ...: for messages.
    [[nodiscard]] Sentence typeName(Value v) const;

    /// Interns the list as a stack and consumes it; an absent or empty one is "none". False, and nothing
    /// changed, if it is no list of frames.
    [[nodiscard]] bool consumeFrames(Value list, StackId& stack);

    /// Keys of a kind of dict that nobody knows: counted for Recording::unknownKeys.
    void countUnknown(const char* owner, Value key) { m_unknownKeys.count(owner, key); }
    void writeUnknownCounts() { m_unknownKeys.moveTo(m_recording); }

    /// Refuses to walk values that refer to each other so often that the walk would take forever.
    [[nodiscard]] bool spend(std::size_t steps);

    /// That values would take more bytes than `memoryLimit`.
    [[nodiscard]] static Error tooLarge(std::uint64_t memoryLimit);
    bool failWith(Error::Kind kind, Sentence what, Sentence hint = {});

private:
    enum class Kind : std::uint8_t {
        EmptyDict,
        Dict, ///< slot of m_contents
        EmptyList,
        List, ///< slot of m_contents
        FrameList, ///< slot of m_frameLists
        FrameRun, ///< StackId: a list of frames that is interned but not consumed
        Frame, ///< FrameId, consumed
        Stack, ///< StackId, consumed
        Trace, ///< row of Traces
        Event, ///< row of Traces << 40 | row of the trace, consumed
    };

    struct Cell {
        Kind kind : 8;
        std::uint64_t payload : 56;
    };
    static_assert(sizeof(Cell) == 8);

    static constexpr int kEventRowBits = 40;
    static constexpr std::uint64_t kEventRowMask = (std::uint64_t{ 1 } << kEventRowBits) - 1;

    [[nodiscard]] Value wide(Value::Tag tag, std::uint64_t bits);
    [[nodiscard]] Value newObject(Kind kind)
    {
        m_cells.push_back({ kind, 0 });
        return Value::row(Value::Tag::Object, m_cells.size() - 1);
    }
    [[nodiscard]] bool isKind(Value v, Kind kind) const
    {
        return v.is(Value::Tag::Object) && m_cells[v.row()].kind == kind;
    }
    [[nodiscard]] bool lateChange(Cell cell);
    [[nodiscard]] bool storeInDict(Cell& cell, std::span<const Value> pairs);
    void storeInList(Cell& cell, std::span<const Value> items);
    std::vector<FrameId>& openFrameList(Cell& cell);
    [[nodiscard]] bool startList(Cell& cell, std::span<const Value> items);
    [[nodiscard]] bool appendFrames(Cell& cell, std::span<const Value> items);
    [[nodiscard]] bool appendEvents(Cell& cell, std::span<const Value> items);
    [[nodiscard]] bool isFrameDict(Value v) const;
    [[nodiscard]] bool internFrame(std::span<const Value> pairs, FrameId& id);
    /// The frame that an item of a frames list stands for: 1 yes, 0 it is something else, -1 error.
    [[nodiscard]] int frameOf(Value item, FrameId& id);
    void freeContents(Cell& cell);
    [[nodiscard]] std::vector<Value>& contentsOf(Cell& cell, Kind kind);
    [[nodiscard]] bool hasKey(Value dict, Known key) const;

    Recording& m_recording;
    Traces m_traces;
    GrowArray<Cell> m_cells;
    GrowArray<std::uint64_t> m_wide; // integers and the bits of floating-point numbers
    std::vector<std::vector<Value>> m_contents;
    std::vector<std::uint32_t> m_freeContents;
    std::vector<std::vector<FrameId>> m_frameLists;
    std::vector<std::uint32_t> m_freeFrameLists;
    std::uint64_t m_storedValues = 0; // in m_contents, ever
    std::uint64_t m_heldValues = 0; // in m_contents, now
    std::uint64_t m_steps = 0;
    UnknownKeys m_unknownKeys;
    Error m_error;
};

} // namespace strata::model
