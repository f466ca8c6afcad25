// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/session/session.h"
#include "tests/support/make_recording.h"

#include <cstdint>
#include <memory>
#include <string>

namespace strata::test {

/// Writes the trace of a training step by step, and the steps themselves.
class StepTrace {
public:
    /// A block, known by its number. Stacks as in makeRecording(), "" for none.
    std::uint64_t alloc(std::int64_t bytes, const std::string& stack = "", std::int64_t stream = 0)
    {
        m_next += 1 << 20;
        addEvent("alloc", m_next, bytes, stream, stack);
        m_bytes.push_back(bytes);
        return m_next;
    }
    void free(std::uint64_t block)
    {
        requestFree(block);
        completeFree(block);
    }
    void requestFree(std::uint64_t block) { addEvent("free_requested", block, bytesOf(block)); }
    void completeFree(std::uint64_t block) { addEvent("free_completed", block, bytesOf(block)); }
    void passing(std::int64_t bytes, const std::string& stack = "") { free(alloc(bytes, stack)); }
    void segment(std::int64_t bytes)
    {
        m_segments += std::uint64_t{ 1 } << 32;
        addEvent("segment_alloc", m_segments, bytes);
    }
    void phase(model::Phase phase) ///< of what comes now
    {
        endPhase();
        m_phase = phase;
    }
    void endStep(model::StepKind kind = model::StepKind::Train, bool warmup = false)
    {
        endPhase();
        m_step.number = static_cast<std::int64_t>(m_steps.steps.size());
        m_step.kind = kind;
        m_step.warmup = warmup;
        m_step.last = m_events - 1;
        m_steps.steps.push_back(m_step);
        m_step = {};
        m_step.first = m_events;
    }

    [[nodiscard]] std::shared_ptr<const model::Session> session() const
    {
        return model::Session::fromRecording(makeRecording(m_text)).value();
    }
    [[nodiscard]] const model::TrainingSteps& steps() const { return m_steps; }

private:
    [[nodiscard]] std::int64_t bytesOf(std::uint64_t block) const { return m_bytes[(block >> 20) - 1]; }
    void addEvent(const char* action, std::uint64_t address, std::int64_t bytes, std::int64_t stream = 0,
        const std::string& stack = "")
    {
        m_text += std::string(action) + " " + std::to_string(address + kBase) + " " + std::to_string(bytes)
            + " stream=" + std::to_string(stream) + (stack.empty() ? "" : " stack=" + stack) + "\n";
        ++m_events;
    }
    void endPhase()
    {
        if (m_phaseBegin < m_events)
            m_step.phases.push_back({ m_phase, m_phaseBegin, m_events - 1 });
        m_phaseBegin = m_events;
    }

    static constexpr std::uint64_t kBase = std::uint64_t{ 1 } << 44;
    std::string m_text;
    std::vector<std::int64_t> m_bytes;
    std::uint64_t m_next = 0, m_segments = std::uint64_t{ 1 } << 40;
    model::EventIndex m_events = 0, m_phaseBegin = 0;
    model::Phase m_phase = model::Phase::Unknown;
    model::TrainingStep m_step;
    model::TrainingSteps m_steps{ .evidence = model::StepEvidence::Marks, .steps = {}, .endsAreShown = true };
};

} // namespace strata::test
