// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/growing_session.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace strata::test {

/// Feeds a recording to a GrowingSession piece by piece, as a source would: base states first, then events
/// with what was told of tensors by then, then end states.
class Feeder {
public:
    explicit Feeder(const model::Recording& whole);

    [[nodiscard]] model::GrowingSession& session() { return m_session; }
    [[nodiscard]] bool done(std::size_t device) const;
    /// Adds the next events of a device, at most `count`, and what was told of its tensors until `late`
    /// events before the last; all of that behind the last event. O(count).
    void addEvents(std::size_t device, std::int64_t count, std::int64_t late = 0);
    void addBase(std::size_t device);
    void addEnd(std::size_t device); ///< its end state
    /// A generation of what was added.
    [[nodiscard]] std::shared_ptr<const model::Session> append();

private:
    void addListings(int device, model::EventIndex until);

    const model::Recording& m_whole;
    model::GrowingSession m_session;
};

/// The last three quarters of a recording, with the state that they begin with.
[[nodiscard]] std::unique_ptr<model::Recording> withBase(std::unique_ptr<model::Recording> recording);

/// The recording with nothing but its tables: strings, stacks, streams, pools, settings.
[[nodiscard]] std::unique_ptr<model::Recording> withoutDevices(const model::Recording& whole);

} // namespace strata::test
