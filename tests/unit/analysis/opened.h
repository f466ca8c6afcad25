// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/session.h"
#include "model/timeline/device_timeline.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"

#include <memory>
#include <stdexcept>
#include <string_view>

namespace strata::test {

/// A recording made exact, with the indexes over its first device.
class Opened {
public:
    explicit Opened(std::unique_ptr<model::Recording> recording)
        : m_session(model::Session::fromRecording(std::move(recording)).value())
        , m_timeline(m_session->devices().at(0))
    {
    }
    explicit Opened(std::string_view text)
        : Opened(makeRecording(text))
    {
    }
    explicit Opened(const RandomTrace& options)
        : Opened(randomRecording(options))
    {
    }

    [[nodiscard]] const model::Session& session() const { return *m_session; }
    [[nodiscard]] const model::DeviceTrace& trace() const { return m_session->devices().at(0); }
    [[nodiscard]] const model::DeviceTimeline& timeline() const { return m_timeline; }

private:
    std::shared_ptr<const model::Session> m_session;
    model::DeviceTimeline m_timeline;
};

} // namespace strata::test
