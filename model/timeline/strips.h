// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace strata::model {

/// A run of addresses that some segment held at some time. Segments whose addresses overlap at different
/// times share one strip, so do neighbouring pieces of one expandable segment.
struct Strip {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t y = 0; ///< its place in the compacted address space, in bytes from the bottom
    PoolIndex pool = kNoIndex;
    StreamIndex stream = kNoIndex;
    bool expandable = false; ///< its first segment is
    bool known = true; ///< false: blocks are there, but no segment that the recording knows

    friend bool operator==(const Strip&, const Strip&) = default;
};

/// Compacted address space: every segment that ever lived has a fixed strip, its height its bytes, ordered by
/// pool, stream and address, so that rectangles never move. Blocks that no known segment holds get strips of
/// their own, above the others. Strips never overlap, whatever the input says; heights end at kMaxHeight, and
/// what lies beyond has no place (yOf gives -1). O(segments log segments + blocks) to build. Immutable.
class StripLayout {
public:
    static constexpr std::int64_t kMaxHeight = std::int64_t{ 1 } << 60;

    explicit StripLayout(const DeviceTrace& trace);
    /// The layout of `trace`: `earlier`, that of a trace whose rows it keeps, where no new strip is needed.
    /// Then O(new blocks and segments x log strips), and O(segments x log segments) where addresses go over
    /// to another pool or stream.
    [[nodiscard]] static std::shared_ptr<const StripLayout> of(const DeviceTrace& trace,
        const DeviceTrace& earlierTrace, const std::shared_ptr<const StripLayout>& earlier);

    [[nodiscard]] std::span<const Strip> strips() const { return m_strips; } ///< by y
    [[nodiscard]] std::int64_t height() const { return m_height; } ///< bytes of all strips
    /// The strip that holds the address; -1 if none.
    [[nodiscard]] int stripOf(std::uint64_t address) const; ///< O(log strips), as the next three
    /// The strip at a height; -1 outside.
    [[nodiscard]] int stripAtY(std::int64_t y) const;
    [[nodiscard]] std::int64_t yOf(std::uint64_t address) const; ///< -1 if no strip holds it
    [[nodiscard]] std::uint64_t addressAt(std::int64_t y) const; ///< 0 outside

private:
    [[nodiscard]] bool fits(const DeviceTrace& trace, const DeviceTrace& earlier) const;
    [[nodiscard]] bool holdsNewLives(const SegmentLives& lives, const SegmentLives& earlier) const;

    std::vector<Strip> m_strips;
    std::vector<std::uint32_t> m_byAddress; // strips in address order
    std::int64_t m_height = 0;
};

} // namespace strata::model
