// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/growing_session.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace strata::test {

/// Feeds a recording to a GrowingSession piece by piece, as a source would: base states first, then events,
/// then end states.
class Feeder {
public:
    explicit Feeder(const model::Recording& whole);

    [[nodiscard]] model::GrowingSession& session() { return m_session; }
    [[nodiscard]] bool done(std::size_t device) const;
    /// Adds the next events of a device, at most `count`. O(count).
    void addEvents(std::size_t device, std::int64_t count);
    void addBase(std::size_t device);
    void addEnd(std::size_t device); ///< its end state
    /// A generation of what was added.
    [[nodiscard]] std::shared_ptr<const model::Session> append();

private:
    const model::Recording& m_whole;
    model::GrowingSession m_session;
};

/// The last three quarters of a recording, with the state that they begin with.
[[nodiscard]] std::unique_ptr<model::Recording> withBase(std::unique_ptr<model::Recording> recording);

/// The recording with nothing but its tables: strings, stacks, streams, pools, settings.
[[nodiscard]] std::unique_ptr<model::Recording> withoutDevices(const model::Recording& whole);

} // namespace strata::test
