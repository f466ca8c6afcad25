// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/taken_recording.h"

#include "app/cli/allocator/segments_told.h"
#include "model/base/units.h"
#include "model/whatif/evidence/batch_items.h"

#include <cstdio>
#include <utility>

namespace strata::cli {

TakenRecording::TakenRecording(std::shared_ptr<const model::Session> session,
    std::optional<std::int64_t> items, std::optional<std::int64_t> length)
    : m_session(std::move(session))
    , m_items(items)
    , m_length(length)
{
}

model::Result<model::RecordedRun> TakenRecording::run(
    const model::DeviceTrace& trace, const TrainingOption* training)
{
    if (const auto told = tellsOfSegments(trace.recording(), trace.device()); !told)
        return model::Failure(told.error());
    auto report = model::checkReplay(trace);
    if (!report)
        return model::Failure(report.error());
    m_report = std::move(*report);
    model::RecordedRun run{
        .trace = &trace, .report = &m_report, .batchItems = m_items, .sequenceLength = m_length
    };
    if (training != nullptr) {
        auto made = training->of(trace);
        if (!made)
            return model::Failure(made.error());
        m_training = std::move(*made);
        run.steps = &m_training.steps;
        run.categories = &m_training.categories;
        const auto shown = model::batchItemsOf(trace, m_training.steps, m_training.categories);
        if (!m_items)
            run.batchItems = shown;
        else if (shown && *shown != *m_items)
            std::fprintf(stderr,
                "strata: --batch-of %s, but the shapes that were recorded tell of %s items: it goes by "
                "--batch-of\n",
                model::formatCount(*m_items).c_str(), model::formatCount(*shown).c_str());
    }
    return run;
}

} // namespace strata::cli
