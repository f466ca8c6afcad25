// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"
#include "model/trace/program/roles.h"
#include "tests/unit/analysis/opened.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strata::test {

/// A training in a few events: the recording of makeRecording(), with a letter an event for what it happens
/// in (S setup, F forward, B backward, R recompute, O optimizer, N without gradients, - unknown); `|` ends a
/// step.
///
///     Trained t("alloc 0x1000 512\nalloc 0x2000 64\nfree_requested 0x2000 64\nfree_completed 0x2000 64",
///               "S FFF");
class Trained {
public:
    /// `bits`: events have what autograd told, too.
    Trained(std::string_view text, std::string_view letters, bool bits = true)
        : m_recording(makeRecording(text))
    {
        model::EventIndex event = 0, first = 0;
        bool setup = false;
        const auto endStep = [&](bool whole) {
            if (event == first)
                return;
            model::TrainingStep step;
            step.number = static_cast<std::int64_t>(m_steps.steps.size());
            step.kind = setup ? model::StepKind::Setup
                : whole       ? model::StepKind::Train
                              : model::StepKind::Incomplete;
            step.first = first;
            step.last = event - 1;
            step.phases = std::exchange(m_phases, {});
            m_steps.steps.push_back(step);
            first = event;
            setup = false;
        };
        for (const char letter : letters) {
            if (letter == ' ')
                continue;
            if (letter == '|' || (setup && letter != 'S'))
                endStep(true);
            if (letter == '|')
                continue;
            setup = setup || letter == 'S';
            add(letter, event, bits);
            ++event;
        }
        endStep(false);
        m_steps.endsAreShown = true;
        m_steps.evidence = bits ? model::StepEvidence::Bits : model::StepEvidence::Frames;
    }

    /// A listing of the program, after so many events.
    Trained& list(model::EventIndex event, wire::RoleKind kind, std::uint64_t address, std::string_view name,
        std::string_view part = {}, std::string_view type = "float32", std::int64_t elements = 0,
        std::uint32_t optimizer = 0)
    {
        model::RoleListing listing;
        listing.event = event;
        listing.kind = kind;
        listing.address = address;
        listing.name = m_recording->strings.intern(name);
        if (!part.empty())
            listing.part = m_recording->strings.intern(part);
        listing.dtype = m_recording->strings.intern(type);
        listing.elements = elements;
        listing.optimizer = optimizer;
        m_recording->parts.get<model::RoleListings>().byDevice[0].push_back(listing);
        return *this;
    }

    /// Ends the making: asks are of what there is then.
    const Opened& opened()
    {
        if (!m_opened) {
            m_opened = std::make_unique<Opened>(std::move(m_recording));
        }
        return *m_opened;
    }
    [[nodiscard]] model::Recording& recording() { return *m_recording; }
    [[nodiscard]] const model::DeviceTrace& trace() { return opened().trace(); }
    [[nodiscard]] const model::TrainingSteps& steps() const { return m_steps; }
    [[nodiscard]] model::Categories categories(const model::CategoryOptions& options = {})
    {
        return model::Categories::of(trace(), model::Clock(trace()), m_steps, options).value();
    }
    /// "parameter activation* ...": of blocks of the trace in the order of birth, a star where it is
    /// recorded.
    [[nodiscard]] std::string text(const model::CategoryOptions& options = {})
    {
        const model::Categories made = categories(options);
        std::string text;
        for (std::size_t row = 0; row < trace().blocks().bornCount(); ++row) {
            const model::BlockCategory& category = made.of(model::BlockId::born(row));
            text += text.empty() ? "" : " ";
            text += model::categoryWord(category.category);
            text += category.recorded ? "*" : "";
        }
        return text;
    }

private:
    void add(char letter, model::EventIndex event, bool bits)
    {
        using model::EventPhase;
        using model::Phase;
        struct Meaning {
            char letter;
            Phase phase;
            EventPhase bits;
        };
        static constexpr Meaning kMeanings[] = { { 'S', Phase::Unknown, EventPhase::Grad },
            { 'F', Phase::Forward, EventPhase::Grad }, { 'B', Phase::Backward, EventPhase::Backward },
            { 'R', Phase::Recompute, EventPhase::BackwardGrad },
            { 'O', Phase::Optimizer, EventPhase::NoGrad }, { 'N', Phase::NoGrad, EventPhase::NoGrad },
            { '-', Phase::Unknown, EventPhase::Unknown } };
        const Meaning& meaning = *std::ranges::find(kMeanings, letter, &Meaning::letter);
        if (m_phases.empty() || m_phases.back().phase != meaning.phase)
            m_phases.push_back({ meaning.phase, event, event });
        m_phases.back().last = event;
        if (bits)
            m_recording->devices.at(0).events.phase.push_back(meaning.bits);
    }

    std::unique_ptr<model::Recording> m_recording;
    std::unique_ptr<Opened> m_opened;
    model::TrainingSteps m_steps;
    std::vector<model::PhaseSpan> m_phases;
};

} // namespace strata::test
