// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"
#include "model/trace/work.h"

#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>

namespace strata::model {

/// Makes rows of a Chrome trace to work, one JSON object after the other. What is no event, or has no time
/// where it needs one, is counted (Work::unreadable). One thread.
class EventRows {
public:
    EventRows(Recording& recording, Work& work);
    ~EventRows();
    EventRows(const EventRows&) = delete;
    EventRows& operator=(const EventRows&) = delete;

    /// At least this much memory that may be read, of whatever content, follows each object.
    static constexpr std::size_t kPadding = 64;

    /// One object, from brace to brace.
    void add(std::string_view object);
    /// Several, with commas between them, which takes less time than one by one. Returns how many bytes of
    /// `objects` were taken: all, or those before an object that is damaged, or ends behind them, which is
    /// for add() to judge. No padding needs to follow.
    [[nodiscard]] std::size_t addSeveral(std::string_view objects);
    /// The value of a key beside the rows.
    void addMember(std::string_view key, std::string_view value);
    /// Behind the last of them: names lanes, and puts all on the file's base time.
    void finish();

private:
    struct Row;
    struct Parser;
    struct LaneKey {
        std::int64_t process, thread;
        bool isDevice;
        friend bool operator==(const LaneKey&, const LaneKey&) = default;
    };
    struct LaneHash {
        std::size_t operator()(const LaneKey& key) const noexcept;
    };

    void addRow(const Row& row);
    void addSpan(const Row& row);
    void addMemory(const Row& row);
    void addFlow(const Row& row);
    void addName(const Row& row);
    [[nodiscard]] LaneIndex laneOf(const Row& row, bool isDevice);
    void addDevices(std::string_view value);
    void addRank(std::string_view value);

    Recording& m_recording;
    Work& m_work;
    std::unique_ptr<Parser> m_parser;
    std::unordered_map<LaneKey, LaneIndex, LaneHash> m_lanes;
    LaneKey m_lastKey{ 0, 0, false };
    LaneIndex m_lastLane = 0;
    std::unordered_map<std::int64_t, StringId> m_processNames, m_processLabels;
    std::unordered_map<LaneKey, StringId, LaneHash> m_threadNames;
    std::unordered_map<std::int64_t, std::int64_t> m_processSorts;
    std::unordered_map<LaneKey, std::int64_t, LaneHash> m_threadSorts;
    std::unordered_map<LaneIndex, std::vector<std::size_t>> m_begun; // rows of spans, the innermost last
    std::int64_t m_baseNs = 0;
};

} // namespace strata::model
