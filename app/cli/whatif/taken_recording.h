// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/training/training_option.h"
#include "model/analysis/allocator/replay.h"
#include "model/base/result.h"
#include "model/session/session.h"
#include "model/whatif/ask/scenario.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace strata::cli {

/// A recording that takes part, with what is made of its devices as they are asked for.
class TakenRecording {
public:
    /// Items of a batch, and the length of sequences, as the user says them.
    TakenRecording(std::shared_ptr<const model::Session> session, std::optional<std::int64_t> items,
        std::optional<std::int64_t> length);

    [[nodiscard]] const model::Session& session() const { return *m_session; }

    /// `training`: steps and categories too. What it points to stays until the next call.
    [[nodiscard]] model::Result<model::RecordedRun> run(
        const model::DeviceTrace& trace, const TrainingOption* training);

private:
    std::shared_ptr<const model::Session> m_session;
    std::optional<std::int64_t> m_items, m_length;
    model::ReplayReport m_report;
    Training m_training;
};

} // namespace strata::cli
