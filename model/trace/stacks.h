// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace strata::model {

struct Frame {
    StringId file;
    StringId function;
    std::int64_t line = 0;
    StringId extras; ///< keys that only FX-traced frames have, as a JSON object; usually none

    friend bool operator==(const Frame&, const Frame&) = default;
};

/// Every distinct frame and every distinct stack of a recording, interned by content. A stack lists its
/// frames innermost first, as PyTorch writes them. A copy is a snapshot, as of a Column: it costs little and
/// never changes when the original does. One writer; reading needs no lock.
class StackTable {
public:
    StackTable();
    StackTable(const StackTable& other);
    StackTable& operator=(const StackTable& other) = delete;
    ~StackTable();
    StackTable(StackTable&&) noexcept;
    StackTable& operator=(StackTable&&) noexcept;

    [[nodiscard]] FrameId internFrame(const Frame& frame);
    /// For a frame that more is known of. It is found by what it was.
    void replaceFrame(FrameId id, const Frame& frame);
    /// How often that was done.
    [[nodiscard]] std::size_t replacedFrames() const;
    /// Functions that the compiler put inside of a frame (FrameId::value), innermost first.
    using Inlined = std::unordered_map<std::uint32_t, std::vector<FrameId>>;
    /// From now on stacks show them where that frame is. Each is still found by the frames that it was
    /// interned with. O(stacks).
    void showInlined(Inlined inlined);
    [[nodiscard]] StackId internStack(std::span<const FrameId> innermostFirst);

    [[nodiscard]] const Frame& frame(FrameId id) const;
    /// Innermost first; empty for the id "none".
    [[nodiscard]] std::span<const FrameId> stack(StackId id) const;
    [[nodiscard]] std::size_t frameCount() const;
    [[nodiscard]] std::size_t stackCount() const;
    [[nodiscard]] std::size_t bytesResident() const;

private:
    struct Data;
    std::unique_ptr<Data> m_data;
};

} // namespace strata::model
