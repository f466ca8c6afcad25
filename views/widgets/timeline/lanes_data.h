// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/join/outside_memory.h"
#include "model/analysis/work/work_report.h"
#include "model/session/session.h"
#include "model/timeline/work_tracks.h"
#include "views/models/document/added_memory.h"
#include "views/widgets/timeline/mark_track.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace strata::views {

/// What a picture of work shows, worked out once for a session that has a part Work. Immutable, any thread.
class LanesData {
public:
    /// nullptr: the session has no such part. O(n log n): off the GUI thread. `added` is of this session.
    [[nodiscard]] static std::shared_ptr<const LanesData> of(
        std::shared_ptr<const model::Session> session, std::shared_ptr<const AddedMemory> added = nullptr);

    [[nodiscard]] const model::Session& session() const { return *m_session; }
    [[nodiscard]] const model::Work& work() const { return m_work; }
    [[nodiscard]] const model::StringTable& strings() const { return m_session->recording().strings; }
    [[nodiscard]] std::string_view nameOf(std::uint32_t span) const
    {
        return strings()[m_work.spans[span].name];
    }
    [[nodiscard]] const std::shared_ptr<const AddedMemory>& added() const { return m_added; } ///< or nullptr
    /// What memory() of its tracks counts as allocated of a device are requested bytes, not rounded ones.
    [[nodiscard]] bool tellsRequested(const model::WorkMemory& memory) const;
    [[nodiscard]] const model::WorkTracks& tracks() const { return m_tracks; }
    [[nodiscard]] const MarkTrack& marks() const { return m_marks; } ///< of the session's allocators
    /// The shapes of what operators are called with: of one at least.
    [[nodiscard]] bool tellsShapes() const { return m_tellsShapes; }
    /// WorkLook of a piece, twice, and one more for one of two shades: names beside each other are told
    /// apart.
    [[nodiscard]] std::uint8_t lookOf(std::uint32_t span) const { return m_looks[span]; }
    /// The first piece that a call launched, or the call that launched a piece. O(log n) and, for a graph's,
    /// its pieces.
    [[nodiscard]] std::optional<std::uint32_t> partnerOf(std::uint32_t span) const;
    /// How many pieces a call launched: of a graph more than one. Likewise.
    [[nodiscard]] std::int64_t launchedBy(std::uint32_t span) const;
    /// What the driver handed out beside PyTorch, of the session.
    [[nodiscard]] const std::vector<model::OutsideMemory>& outside() const { return m_outside; }

private:
    LanesData(std::shared_ptr<const model::Session> session, std::shared_ptr<const model::Work> work,
        std::shared_ptr<const AddedMemory> added);

    std::shared_ptr<const model::Session> m_session;
    std::shared_ptr<const AddedMemory> m_added;
    std::shared_ptr<const model::Work> m_holder;
    const model::Work& m_work; // of it
    model::WorkTracks m_tracks;
    MarkTrack m_marks;
    std::vector<model::OutsideMemory> m_outside;
    std::vector<std::uint8_t> m_looks;
    bool m_tellsShapes = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> m_links; // correlation and piece, in order
};

/// What is said of what the lanes show. Immutable, any thread.
struct WorkFigures {
    /// Of a range of time, or of all. O(n log n): off the GUI thread.
    [[nodiscard]] static WorkFigures of(std::shared_ptr<const LanesData> lanes,
        std::optional<model::TimeSpan> range, model::OperatorsBy by = model::OperatorsBy::Name);

    std::shared_ptr<const LanesData> lanes;
    model::OperatorsBy by = model::OperatorsBy::Name; ///< the rows of operators
    model::WorkReport report;
    std::vector<model::JoinedPeak> peaks; ///< of what was added, within the range
};

} // namespace strata::views
