// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/program/deep_step.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/kinds/ranks/spread_run.h"
#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace strata::test {

/// Two layers of a weight (10 rows of 10) and a bias, and a vector of the model itself; each keeps one block
/// for backward, which makes gradients. Four steps of SGD, of so many backwards each; the third is the deep
/// one.
class LayeredTraining {
    using Deep = model::DeepStep::Kind;

public:
    struct Options {
        bool deep = true;
        const char* file = nullptr; ///< of a frame that it has
        int backwards = 1; ///< of each step
        bool showsCalls = true; ///< of AccumulateGrad
        bool copies = false; ///< AccumulateGrad, gradients instead of keeping them
        bool keeps = false; ///< gradients, from step to step
        bool isMixed = false; ///< biases are of another type than weights
        bool letsGo = false; ///< of its optimizer, before a last block
        bool clips = true; ///< something is asked for between backward and the step
    };
    explicit LayeredTraining(const Options& options)
        : m_options(options)
    {
        const auto& [deep, file, backwards, showsCalls, copies, keeps, isMixed, letsGo, clips] = options;
        for (int layer = 0; layer < 2; ++layer) {
            alloc('S', "weight" + std::to_string(layer), 400);
            alloc('S', "bias" + std::to_string(layer), 40);
        }
        alloc('S', "scale", 200);
        for (int step = 1; step <= kSteps; ++step) {
            m_isDeep = deep && step == 3;
            this->step();
        }
        if (options.letsGo) {
            for (const auto& [name, elements] : kParameters)
                m_listed.push_back({ m_event, wire::RoleKind::Parameter, 0, nameOf(name), elements });
            alloc('N', "last", 16);
        }
        m_trained = std::make_unique<Trained>(m_text, m_letters);
        model::Recording& recording = m_trained->recording();
        for (const Listed& listed : m_listed)
            m_trained->list(listed.event, listed.kind, listed.address, listed.name, {},
                isMixed && listed.name.ends_with("bias") ? "bfloat16" : "float32", listed.elements);
        model::Annotation range;
        range.name = recording.strings.intern("Optimizer.step#SGD.step");
        recording.annotations.push_back(range);
        for (const auto& [row, names] : m_names) {
            m_deep.rows[row].name = recording.strings.intern(names.first);
            m_deep.rows[row].detail = recording.strings.intern(names.second);
        }
        if (deep)
            recording.parts.get<model::DeepSteps>().steps.push_back(m_deep);
        if (file != nullptr) {
            model::Frame frame;
            frame.file = recording.strings.intern(file);
            static_cast<void>(recording.stacks.internFrame(frame));
        }
        m_report = model::checkReplay(m_trained->trace()).value();
        m_categories = std::make_unique<model::Categories>(m_trained->categories());
        m_run = { &m_trained->trace(), &m_report, &m_trained->steps(), m_categories.get(), {} };
    }

    [[nodiscard]] const model::RecordedRun& run() const { return m_run; }

    /// The same of its run with those edits.
    [[nodiscard]] std::string with(const model::RunEdits& edits) const
    {
        return textOf(model::edited(model::programRunOf(*m_run.trace), edits));
    }

    /// "+400 -400@1": what it asks for with that change, and on which new stream.
    [[nodiscard]] std::string with(const char* change) const
    {
        const auto spread = model::SpreadRun::of(m_run, model::Change::parse(change)->as<model::Sharding>());
        EXPECT_TRUE(spread) << spread.error().text();
        return spread ? textOf(model::edited(model::programRunOf(*m_run.trace), spread->edits))
                      : std::string();
    }

    [[nodiscard]] std::string refusal(const char* change) const
    {
        const auto spread = model::SpreadRun::of(m_run, model::Change::parse(change)->as<model::Sharding>());
        return spread ? std::string() : spread.error().text();
    }

    [[nodiscard]] model::Prediction predicted(const std::vector<const char*>& changes) const
    {
        model::Scenario scenario;
        for (const char* change : changes)
            scenario.changes.push_back(model::Change::parse(change).value());
        return model::predict({ m_run }, scenario).value();
    }

    static std::string textOf(const model::ProgramRun& run)
    {
        std::string text;
        for (const model::ProgramRun::Ask& ask : run.asks)
            if (ask.action == model::Action::Alloc || ask.action == model::Action::FreeCompleted) {
                const model::ProgramRun::Block& block = run.blocks[ask.block];
                text += (ask.action == model::Action::Alloc ? "+" : "-") + std::to_string(block.bytes)
                    + (block.newStream != 0 ? "@" + std::to_string(block.newStream) : "") + " ";
            }
        return text;
    }

private:
    static constexpr int kSteps = 4;
    static constexpr std::pair<const char*, std::int64_t> kParameters[] // elements
        = { { "weight0", 100 }, { "bias0", 10 }, { "weight1", 100 }, { "bias1", 10 }, { "scale", 50 } };
    struct Listed {
        model::EventIndex event;
        wire::RoleKind kind;
        std::uint64_t address;
        std::string name;
        std::int64_t elements;
    };

    void log(char phase, const char* action, const std::string& name)
    {
        const auto& [address, bytes] = m_blocks.at(name);
        m_text += std::string(action) + " " + std::to_string(address) + " " + std::to_string(bytes) + "\n";
        m_letters += phase;
        ++m_event;
    }
    void alloc(char phase, const std::string& name, std::int64_t bytes)
    {
        if (!m_blocks.contains(name))
            m_blocks.emplace(name, std::pair{ 0x10000 * (m_blocks.size() + 1), bytes });
        log(phase, "alloc", name);
    }
    void free(char phase, const std::string& name)
    {
        log(phase, "free_requested", name);
        log(phase, "free_completed", name);
    }

    void row(Deep kind, const std::vector<std::string>& tensors, std::uint32_t saved = wire::kNone,
        const std::pair<std::string, std::string>& names = {})
    {
        if (!m_isDeep)
            return;
        if (!names.first.empty())
            m_names.emplace_back(m_deep.rows.size(), names);
        m_deep.rows.push_back(
            { kind, kind == Deep::Unpacked || kind == Deep::Released ? 2u : 1u, m_event, {}, {}, saved,
                static_cast<std::uint32_t>(m_deep.refs.size()), static_cast<std::uint32_t>(tensors.size()) });
        for (const std::string& name : tensors) {
            m_deep.refs.push_back(static_cast<std::uint32_t>(m_deep.tensors.size()));
            m_deep.tensors.push_back({ m_blocks.at(name).first, {} });
        }
    }

    /// An operator that makes a block, which backward will need.
    void compute(
        const std::vector<std::string>& from, const std::string& to, std::int64_t bytes, std::uint32_t saved)
    {
        row(Deep::Operator, from);
        alloc('F', to, bytes);
        row(Deep::Returns, { to });
        row(Deep::Saved, { to }, saved);
    }

    void forward()
    {
        const std::pair<std::string, std::string> model{ "Model", "Model" };
        row(Deep::Enters, { "input" }, wire::kNone, model);
        std::string from = "input";
        for (std::uint32_t i = 0; i < 2; ++i) {
            const std::string number = std::to_string(i);
            const std::pair<std::string, std::string> layer{ "layers." + number, "Layer" };
            row(Deep::Enters, { from }, wire::kNone, layer);
            compute({ from, "weight" + number }, "out" + number, 100 + i, i);
            row(Deep::Leaves, { "out" + number }, wire::kNone, layer);
            from = "out" + number;
        }
        compute({ from, "scale" }, "out", 20, 2);
        row(Deep::Leaves, { "out" }, wire::kNone, model);
    }

    /// What a node of backward makes of what it saved. Gradients stay where there are none yet.
    void differentiate(const std::string& out, std::uint32_t saved,
        const std::vector<std::pair<std::string, std::int64_t>>& gradients, bool first)
    {
        const std::string suffix = first && !m_options.copies ? ".grad" : ".more";
        row(Deep::Unpacked, { out }, saved);
        for (const auto& [name, bytes] : gradients)
            alloc('B', name + suffix, bytes);
        row(Deep::Released, {}, saved);
        free('B', out);
        for (const auto& [name, bytes] : gradients) {
            if (m_options.showsCalls)
                row(Deep::Operator, { name + suffix }, wire::kNone,
                    { "torch::autograd::AccumulateGrad", "" });
            if (first && m_options.copies)
                alloc('B', name + ".grad", bytes);
            if (m_options.showsCalls)
                row(Deep::Returns, {});
            if (suffix == ".more")
                free('B', name + suffix);
        }
    }

    static std::string nameOf(const std::string& name)
    {
        return name == "scale"
            ? std::string("scale.bias")
            : "layers." + name.substr(name.size() - 1) + "." + name.substr(0, name.size() - 1);
    }

    void step()
    {
        alloc('F', "input", 64);
        const bool first = !m_options.keeps || m_begins == 0;
        for (int backward = 0; backward < m_options.backwards; ++backward) {
            forward();
            differentiate("out", 2, { { "scale", 200 } }, first && backward == 0);
            for (std::uint32_t layer = 2; layer-- > 0;) {
                const std::string number = std::to_string(layer);
                differentiate("out" + number, layer, { { "weight" + number, 400 }, { "bias" + number, 40 } },
                    first && backward == 0);
            }
        }
        for (const auto& [name, elements] : kParameters)
            m_listed.push_back({ m_event, wire::RoleKind::Gradient,
                m_blocks.at(std::string(name) + ".grad").first, nameOf(name), elements });
        if (m_options.clips) {
            alloc('N', "scratch", 8);
            free('N', "scratch");
        }
        for (const auto& [name, elements] : kParameters)
            m_listed.push_back(
                { m_event, wire::RoleKind::Parameter, m_blocks.at(name).first, nameOf(name), elements });
        m_listed.push_back({ m_event, wire::RoleKind::Stepped, 0, "SGD", 0 });
        if (m_isDeep) {
            m_deep.beginEvent = m_begins;
            m_deep.endEvent = m_event;
        }
        m_begins = m_event;
        m_letters += '|';
        if (!m_options.keeps)
            for (const auto& [name, elements] : kParameters)
                free('N', std::string(name) + ".grad");
        free('N', "input");
    }

    std::string m_text, m_letters;
    model::EventIndex m_event = 0, m_begins = 0;
    bool m_isDeep = false;
    Options m_options;
    std::map<std::string, std::pair<std::uint64_t, std::int64_t>> m_blocks;
    std::vector<Listed> m_listed;
    std::vector<std::pair<std::size_t, std::pair<std::string, std::string>>> m_names;
    model::DeepStep m_deep;
    std::unique_ptr<Trained> m_trained;
    model::ReplayReport m_report;
    std::unique_ptr<model::Categories> m_categories;
    model::RecordedRun m_run;
};

} // namespace strata::test
