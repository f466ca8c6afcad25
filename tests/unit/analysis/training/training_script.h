// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/trace/program/roles.h"
#include "tests/unit/analysis/opened.h"

#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::test {

/// What a recording of a program tells beside its events.
struct Told {
    bool bits = false; ///< autograd's state with each event
    bool ranges = false; ///< of optimizers
    bool listings = false; ///< parameters, gradients and steps of optimizers
    bool marks = false; ///< names of steps
    bool frames = false; ///< Python's stacks
    bool modules = false; ///< whose forward runs
};

/// A program that trains, with a letter for each thing that it does, and its recording:
///
///     p  a parameter is made, and stays            o  an optimizer works
///     x  a batch, in place of the one before       s  it makes a state, which stays
///     f  a forward makes an activation             k  gradients are clipped
///     h  it asks for something and gives it back   z  all gradients go
///     l  a loss                                    e  a forward without gradients, i under inference_mode
///     b  a backward takes an activation, makes     c  a parameter is copied, C the copies go
///        a gradient where there is none            d  another thread draws a batch
///     r  a checkpoint's forward again              !  a request is refused
///     a  an optimizer works within a backward      q  the graph of a second derivative
///     g  a backward makes what is sharded          w  which goes
///     u  an optimizer works, in the size of a state
///                                                  t  all that is left but parameters and states goes
///
///     ( )  the range of one optimizer, [ ] of another one         @ &  their steps are listed
///     { }  the range of a step that the program names, # a moment that does
class TrainingScript {
public:
    TrainingScript(std::string_view script, Told told)
        : m_told(told)
    {
        for (const char letter : script)
            if (letter != ' ')
                take(letter);
    }

    [[nodiscard]] std::unique_ptr<model::Recording> recording() const
    {
        auto made = makeRecording(m_text);
        if (m_told.bits)
            for (const model::EventPhase phase : m_phases)
                made->devices.at(0).events.phase.push_back(phase);
        if (m_told.modules) {
            const model::StringId linear = made->strings.intern("net.linear");
            made->modules.push_back(linear);
            for (const bool isIn : m_inModule)
                made->devices.at(0).events.module.push_back(isIn ? 0 : model::kNoIndex);
        }
        for (const Listed& listed : m_listed) {
            model::RoleListing listing;
            listing.event = listed.event;
            listing.kind = listed.kind;
            listing.address = listed.address;
            listing.optimizer = listed.optimizer;
            listing.name = made->strings.intern(listed.name);
            listing.dtype = made->strings.intern("float32");
            listing.elements = 1024;
            made->parts.get<model::RoleListings>().byDevice[0].push_back(listing);
        }
        return made;
    }

    /// Where steps end alone: "setup ppp | train xffbbo | ...".
    [[nodiscard]] std::string cuts(const model::TrainingSteps& found) const
    {
        std::string text;
        for (const model::TrainingStep& step : found.steps)
            text += fmt::format("{}{} {}", text.empty() ? "" : " | ", model::stepKindWord(step.kind),
                letters(step.first, step.last));
        return text;
    }

    /// Steps a line each, `*` behind those that warm up, the number of micro-steps where there are several,
    /// then the letters of each phase: "train* x2 F:xff B:bb O:o". A letter that is cut in two shows twice.
    [[nodiscard]] std::string text(const model::TrainingSteps& found) const
    {
        std::string text;
        for (const model::TrainingStep& step : found.steps) {
            text += model::stepKindWord(step.kind);
            text += step.warmup ? "*" : "";
            text += step.microSteps > 1 ? fmt::format(" x{}", step.microSteps) : "";
            for (const model::PhaseSpan& span : step.phases)
                text
                    += fmt::format(" {}:{}", std::string_view("-FBRON")[static_cast<std::size_t>(span.phase)],
                        letters(span.first, span.last));
            text += "\n";
        }
        return text;
    }

private:
    [[nodiscard]] std::string letters(model::EventIndex first, model::EventIndex last) const
    {
        std::string text;
        std::size_t before = m_letters.size(); // which letter the last event came of
        for (model::EventIndex event = first; event <= last; ++event)
            if (const std::size_t of = m_letterOf.at(static_cast<std::size_t>(event)); of != before) {
                text += m_letters[of];
                before = of;
            }
        return text;
    }

    using Bits = model::EventPhase;
    struct Block {
        std::uint64_t address = 0;
        std::int64_t bytes = 0;
    };

    void take(char letter)
    {
        m_letters += letter;
        switch (letter) {
        case '(':
            return annotate(m_told.ranges, "start Optimizer.step#Adam.step");
        case ')':
            return annotate(m_told.ranges, "end Optimizer.step#Adam.step");
        case '[':
            return annotate(m_told.ranges, "start Optimizer.step#SGD.step");
        case ']':
            return annotate(m_told.ranges, "end Optimizer.step#SGD.step");
        case '{':
            return annotate(m_told.marks, fmt::format("start ProfilerStep#{}", m_steps));
        case '}':
            return annotate(m_told.marks, fmt::format("end ProfilerStep#{}", m_steps++));
        case '#':
            return annotate(m_told.marks, fmt::format("mark \"step {}\"", m_steps++));
        case '@':
        case '&':
            return list(letter == '@' ? 0 : 1);
        default:
            work(letter);
        }
    }

    struct Listed {
        model::EventIndex event = 0;
        wire::RoleKind kind = wire::RoleKind::Stepped;
        std::uint64_t address = 0;
        std::string name;
        std::uint32_t optimizer = 0;
    };

    void list(std::uint32_t optimizer)
    {
        if (!m_told.listings)
            return;
        const auto add = [&](wire::RoleKind kind, const std::vector<Block>& blocks) {
            for (std::size_t i = 0; i < blocks.size(); ++i)
                m_listed.push_back(
                    { count(), kind, blocks[i].address, fmt::format("net.{}.weight", i), optimizer });
        };
        add(wire::RoleKind::Gradient, m_gradients);
        add(wire::RoleKind::Parameter, m_parameters);
        m_listed.push_back({ count(), wire::RoleKind::Stepped, 0, "SGD", optimizer });
    }

    void work(char letter)
    {
        static constexpr std::string_view kModule
            = "linear@/lib/torch/nn/functional.py:9|forward@/app/model.py:5|"
              "_call_impl@/lib/torch/nn/modules/module.py:7|main@/app/train.py:3";
        switch (letter) {
        case 'p':
            m_parameters.push_back(alloc(4096 * (std::ssize(m_parameters) + 1), Bits::Grad,
                "__init__@/app/model.py:1|main@/app/train.py:1"));
            break;
        case 'x':
        case 'd': {
            const Block old = std::exchange(m_batch,
                alloc(700, Bits::Grad, letter == 'x' ? "main@/app/train.py:2" : "load@/app/data.py:9"));
            if (old.bytes > 0)
                free(old, Bits::Grad);
            break;
        }
        case 'f':
            m_graph.push_back(alloc(10'000 + 100 * std::ssize(m_graph), Bits::Grad, kModule));
            break;
        case 'h':
            pass(2'000, Bits::Grad, kModule);
            break;
        case 'l':
            m_graph.push_back(alloc(4, Bits::Grad, kModule));
            break;
        case 'b':
            backward();
            break;
        case 'r':
            pass(9'000, Bits::BackwardGrad,
                std::string(kModule) + "|recompute_fn@/lib/torch/utils/checkpoint.py:8|main@/app/train.py:4");
            break;
        case 'q':
            m_graph.push_back(alloc(6'000, Bits::BackwardGradKeep, "grad@/lib/torch/autograd/__init__.py:3"));
            break;
        case 'o':
            pass(3'000, Bits::NoGrad, "step@/lib/torch/optim/adam.py:2|main@/app/train.py:5");
            break;
        case 'u':
            pass(4'096, Bits::NoGrad, "step@/lib/torch/optim/adam.py:3|main@/app/train.py:5");
            break;
        case 'a':
            pass(3'000, Bits::Backward, "step@/lib/torch/optim/adam.py:2");
            break;
        case 's':
            alloc(4'096, Bits::NoGrad, "step@/lib/torch/optim/adam.py:1|main@/app/train.py:5");
            break;
        case 'k':
            pass(8, Bits::NoGrad, "clip_grad_norm_@/lib/torch/nn/utils/clip_grad.py:1|main@/app/train.py:4");
            break;
        case 'e':
            pass(9'500, Bits::NoGrad,
                std::string(kModule) + "|decorate_context@/lib/torch/utils/_contextlib.py:6");
            break;
        case 'i':
            pass(9'500, Bits::Inference,
                std::string(kModule) + "|decorate_context@/lib/torch/utils/_contextlib.py:6");
            break;
        case 'c':
            m_copies.push_back(alloc(
                4096 * (std::ssize(m_copies) + 1), Bits::Grad, "save@/app/train.py:7|main@/app/train.py:6"));
            break;
        case 'C':
            freeAll(m_copies);
            break;
        case 'z':
            freeAll(m_gradients);
            break;
        case 'g':
            m_unsharded.push_back(alloc(7'000, Bits::Backward, {}));
            break;
        case 'w':
            freeAll(m_unsharded);
            break;
        case 't':
            freeAll(m_gradients);
            freeAll(m_graph);
            freeAll(m_copies);
            break;
        case '!':
            add("oom size=1000000 free=0", m_phases.empty() ? Bits::Grad : m_phases.back(), kModule);
            break;
        default:
            throw std::invalid_argument(std::string("no such thing: ") + letter);
        }
    }

    void backward()
    {
        if (m_gradients.size() < m_parameters.size())
            m_gradients.push_back(alloc(4096 * (std::ssize(m_gradients) + 1), Bits::Backward, {}));
        else
            pass(5'000, Bits::Backward, {});
        if (m_graph.empty())
            return;
        free(m_graph.back(), Bits::Backward);
        m_graph.pop_back();
    }

    [[nodiscard]] model::EventIndex count() const { return std::ssize(m_phases); }
    void add(std::string_view event, Bits bits, std::string_view stack)
    {
        m_text += fmt::format("{} time={}{}\n", event, 1000 * (count() + 1),
            m_told.frames && !stack.empty() ? fmt::format(" stack={}|<module>@/app/train.py:99", stack) : "");
        m_phases.push_back(bits);
        m_inModule.push_back(stack.starts_with("linear@"));
        m_letterOf.push_back(m_letters.size() - 1);
        m_behind = 0;
    }
    Block alloc(std::int64_t bytes, Bits bits, std::string_view stack)
    {
        const Block block{ m_next += 1 << 20, bytes };
        add(fmt::format("alloc {} {}", block.address, bytes), bits, stack);
        return block;
    }
    void free(const Block& block, Bits bits)
    {
        add(fmt::format("free_requested {} {}", block.address, block.bytes), bits, {});
        add(fmt::format("free_completed {} {}", block.address, block.bytes), bits, {});
    }
    void pass(std::int64_t bytes, Bits bits, std::string_view stack)
    {
        free(alloc(bytes, bits, stack), bits);
    }
    void freeAll(std::vector<Block>& blocks)
    {
        for (const Block& block : std::exchange(blocks, {}))
            free(block, Bits::Grad);
    }
    /// Behind the event before, one after the other.
    void annotate(bool told, std::string_view what)
    {
        if (told)
            m_text += fmt::format("annotation {} time={}\n", what, 1000 * count() + 100 + m_behind++);
    }

    Told m_told;
    std::string m_text, m_letters;
    std::vector<std::size_t> m_letterOf; // by event
    std::vector<Bits> m_phases; // by event
    std::vector<bool> m_inModule; // likewise
    std::vector<Listed> m_listed;
    std::vector<Block> m_parameters, m_gradients, m_graph, m_copies, m_unsharded;
    Block m_batch;
    std::uint64_t m_next = std::uint64_t{ 1 } << 40;
    int m_steps = 0, m_behind = 0;
};

} // namespace strata::test
