// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/program/deep_step.h"
#include "tests/unit/analysis/training/trained.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace strata::test {

/// A training in which every block has a count of those who have it, with a deep step, and the same training
/// with checkpoints around its layers, or with what it saves on the host, done and not predicted.
///
///     layer(x): [saves x]  h = alloc  t = alloc, let go  [saves h]  y = alloc
struct MadeTraining {
    struct Options {
        std::uint64_t seed = 1;
        int layers = 3, steps = 5, deep = 3; ///< `deep` from 1 on; 0: none
        bool checkpointed = false;
        bool offloaded = false;
        bool hasGaps = false; ///< what is saved lies with gaps
        bool extraInFirstStep = false; ///< a workspace that stays
        bool evaluates = false; ///< before every other step, the deep one among them
        bool otherFirstStep = false; ///< in which all is larger, as where libraries try algorithms
        bool allocatesStatesAlone = false; ///< the optimizer, in the first step, and nothing in others
        bool isOfTwo = false; ///< two forwards and backwards a step, the first one of all layers but the last
        bool beginsWithin = false; ///< the first step, behind the first of two
        bool keepsHidden = false; ///< the program has h until the forward ends
        /// That all layers take: once, as autocast does, and again in what is checkpointed.
        bool castsWeight = false;
        /// Layers work with a copy of what they take, as under autocast, and save that.
        bool copiesInput = false;
        /// In backward, what was broadcast, when it has used and not released what was saved.
        bool addsUp = false;
        bool letsGoOfOutput
            = false; ///< before it goes backward, as by a del; else it has it until the next step
        bool namesLines = false; ///< events have stacks
        bool savesOutput = false; ///< twice, as two losses do
        bool keepsTemporary = false; ///< t goes as y is there, where the statement ends
        bool isInCpp = false; ///< in these, each call of a line returns to a place of its own
        std::int64_t unit = 512; ///< of which all sizes are multiples, bytes
    };

    explicit MadeTraining(const Options& asked)
        : options(asked)
    {
        std::mt19937_64 random(asked.seed);
        for (int i = 0; i < 3 * asked.layers + 2; ++i)
            bytes.push_back(asked.unit * static_cast<std::int64_t>(1 + random() % 64));
        for (number = 1; number <= asked.steps; ++number) {
            begins.push_back(event);
            step();
        }
        begins.push_back(event);
    }

    /// The recording of it, with its deep step.
    [[nodiscard]] std::unique_ptr<Trained> recorded()
    {
        auto trained = std::make_unique<Trained>(text, letters);
        for (std::size_t i = 1; i < begins.size(); ++i)
            trained->list(begins[i], wire::RoleKind::Stepped, 0, "SGD");
        if (options.deep > 0) {
            model::Recording& recording = trained->recording();
            for (auto& [row, names] : named) {
                deep.rows[row].name = recording.strings.intern(names.first);
                deep.rows[row].detail = recording.strings.intern(names.second);
            }
            for (model::DeepStep::Tensor& one : deep.tensors)
                one.type = recording.strings.intern("float");
            recording.parts.get<model::DeepSteps>().steps.push_back(deep);
        }
        return trained;
    }

    Options options;
    std::vector<std::int64_t> bytes;
    std::string text, letters;
    std::vector<std::pair<std::int64_t, std::int64_t>> curve; ///< of each request its bytes, and all of then
    model::DeepStep deep;
    std::vector<model::EventIndex> begins;

private:
    using Kind = model::DeepStep::Kind;
    struct Block {
        std::int64_t bytes = 0;
        std::uint64_t address = 0;
        int owners = 0;
    };

    void log(const char* action, const Block& block)
    {
        text += (text.empty() ? "" : "\n") + std::string(action) + " " + std::to_string(block.address) + " "
            + std::to_string(block.bytes);
        if (options.namesLines && phase != 'B') // which is in a thread of its own
            text += std::string(" stack=") + line + (options.isInCpp ? "+" + std::to_string(event) : "");
        letters += phase;
        ++event;
    }

    int alloc(std::size_t size)
    {
        return allocBytes(bytes[size] + (options.otherFirstStep && number == 1 ? options.unit : 0));
    }
    int allocBytes(std::int64_t asked)
    {
        const auto apart = static_cast<std::uint64_t>(128 * options.unit);
        std::uint64_t address = apart;
        while (!used.insert(address).second)
            address += apart;
        blocks.push_back({ asked, address, 1 });
        log("alloc", blocks.back());
        live += asked;
        curve.emplace_back(asked, live);
        return static_cast<int>(blocks.size()) - 1;
    }

    void own(int block) { ++blocks[static_cast<std::size_t>(block)].owners; }
    void drop(int index)
    {
        Block& block = blocks[static_cast<std::size_t>(index)];
        if (--block.owners > 0)
            return;
        log("free_requested", block);
        log("free_completed", block);
        used.erase(block.address);
        live -= block.bytes;
    }

    [[nodiscard]] bool isDeep() const { return number == options.deep; }
    std::size_t row(Kind kind, std::vector<std::uint32_t> tensors, std::uint32_t saved = wire::kNone)
    {
        if (!isDeep())
            return 0;
        deep.rows.push_back({ kind, phase == 'F' ? 1u : 2u, event, {}, {}, saved,
            static_cast<std::uint32_t>(deep.refs.size()), static_cast<std::uint32_t>(tensors.size()) });
        deep.refs.insert(deep.refs.end(), tensors.begin(), tensors.end());
        return deep.rows.size() - 1;
    }
    /// A new tensor of a block.
    std::uint32_t tensor(int block)
    {
        deep.tensors.push_back({ blocks[static_cast<std::size_t>(block)].address, {} });
        return static_cast<std::uint32_t>(deep.tensors.size() - 1);
    }

    struct Tensor {
        int block = -1;
        std::uint32_t tensor = 0;
    };
    Tensor made(std::size_t size)
    {
        row(Kind::Operator, {});
        const int block = alloc(size);
        const Tensor it{ block, isDeep() ? tensor(block) : 0 };
        row(Kind::Returns, { it.tensor });
        return it;
    }
    void letGo(const Tensor& it)
    {
        drop(it.block);
        row(Kind::Gone, { it.tensor });
    }

    struct Saved {
        int block = -1;
        std::uint32_t number = 0;
    };
    Saved save(const Tensor& it)
    {
        const std::int64_t size = blocks[static_cast<std::size_t>(it.block)].bytes;
        if (options.offloaded) {
            if (options.hasGaps)
                drop(allocBytes(size));
        } else if (!options.checkpointed) { // else a checkpoint sees what is saved, and nobody behind it
            const std::uint32_t at = isDeep() ? tensor(it.block) : 0;
            const std::size_t saved = row(Kind::Saved, { at }, saves);
            if (isDeep()) {
                deep.rows[saved].layout
                    = options.hasGaps ? wire::DeepLayout::Otherwise : wire::DeepLayout::InOrder;
                deep.rows[saved].elements = static_cast<std::uint64_t>(size) / 4;
            }
            own(it.block);
        }
        return { it.block, saves++ };
    }

    struct Layer {
        int input = -1; ///< the checkpoint has it
        std::uint32_t savedInput = 0; ///< its number
        Saved x, w, h;
        std::optional<Tensor> kept;
    };

    Tensor forward(int index, const Tensor& x, Layer& layer)
    {
        const auto size = static_cast<std::size_t>(3 * index);
        if (options.checkpointed) {
            layer.input = x.block;
            layer.savedInput = saves++;
            row(Kind::Saved, { x.tensor }, layer.savedInput);
            own(x.block);
        }
        const std::size_t entered = row(Kind::Enters, { x.tensor });
        const std::size_t takes = row(Kind::Operator, { x.tensor });
        std::optional<Tensor> copy;
        if (options.copiesInput) {
            copy = copyOf(size, takes);
        } else {
            row(Kind::Returns, {});
        }
        layer.x = save(copy.value_or(x));
        if (copy)
            letGo(*copy);
        if (options.castsWeight)
            layer.w = takeCast();
        const Tensor h = made(size);
        const Tensor t = made(size + 1);
        if (!options.keepsTemporary)
            letGo(t);
        layer.h = save(h);
        const Tensor y = made(size + 2);
        if (options.keepsTemporary)
            letGo(t);
        if (options.keepsHidden)
            layer.kept = h;
        else
            letGo(h);
        const std::size_t left = row(Kind::Leaves, { y.tensor });
        if (isDeep())
            for (const std::size_t at : { entered, left })
                named[at] = { "layers." + std::to_string(index), "Layer" };
        return y;
    }

    /// An operator saves it where it is computed again: the checkpoint takes an alias.
    void saveAgain(std::uint32_t tensor)
    {
        row(Kind::Operator, { tensor });
        const std::size_t alias = row(Kind::Operator, { tensor });
        if (isDeep())
            named[alias] = { "aten::detach", "" };
        row(Kind::Returns, {});
        row(Kind::Returns, {});
    }

    /// Of what the operator of that row takes.
    Tensor copyOf(std::size_t size, std::size_t takes)
    {
        const int block = alloc(size);
        const Tensor copy{ block, isDeep() ? tensor(block) : 0 };
        row(Kind::Returns, { copy.tensor });
        if (isDeep())
            named[takes] = { "aten::_to_copy", "" };
        return copy;
    }

    Saved takeCast()
    {
        if (!cast) {
            const std::size_t copies = row(Kind::Operator, { isDeep() ? tensor(weight) : 0 });
            if (isDeep())
                named[copies] = { "aten::_to_copy", "" };
            cast = made(bytes.size() - 2);
        }
        row(Kind::Operator, { cast->tensor });
        row(Kind::Returns, {});
        return save(*cast);
    }

    /// Takes out what was saved, works with it, and releases it.
    void use(const Saved& saved, int again, std::size_t size)
    {
        const int block = again < 0 ? saved.block : again;
        const std::size_t node = row(Kind::Operator, {});
        if (isDeep())
            named[node] = { "autograd::engine::evaluate_function: LayerBackward0", "" };
        const bool isSeen = isDeep() && !options.checkpointed && !options.offloaded;
        const std::uint32_t unpacked = isSeen ? tensor(block) : 0;
        const int back = options.offloaded ? allocBytes(blocks[static_cast<std::size_t>(block)].bytes) : -1;
        if (isSeen) {
            row(Kind::Operator, {});
            row(Kind::Unpacked, { unpacked }, saved.number);
        }
        const int gradient = alloc(size);
        if (isSeen) {
            row(Kind::Returns, {});
            row(Kind::Gone, { unpacked });
        }
        if (back >= 0)
            drop(back);
        if (options.checkpointed && again >= 0) // nobody else has the copy
            drop(block);
        const int sum = options.addsUp ? alloc(size + 1) : -1;
        if (!options.checkpointed && !options.offloaded)
            drop(block);
        if (isSeen)
            row(Kind::Released, {}, saved.number);
        row(Kind::Returns, {});
        if (sum >= 0)
            drop(sum);
        drop(gradient);
    }

    /// A forward of which nothing is saved.
    void evaluate()
    {
        phase = 'N';
        int x = alloc(bytes.size() - 2);
        for (int i = 0; i < options.layers; ++i) {
            const auto size = static_cast<std::size_t>(3 * i);
            const int h = alloc(size);
            drop(alloc(size + 1));
            const int y = alloc(size + 2);
            drop(h);
            drop(std::exchange(x, y));
        }
        drop(x);
    }

    /// Forward and backward of these layers.
    void train(int first, int end)
    {
        phase = 'F';
        line = "draw@data.py:5|main@train.py:10";
        std::vector<Layer> layers(static_cast<std::size_t>(options.layers));
        if (options.castsWeight && weight < 0)
            weight = alloc(bytes.size() - 1); // nobody lets go of it
        Tensor x = made(bytes.size() - 2);
        if (options.extraInFirstStep && number == 1)
            alloc(bytes.size() - 1); // nobody lets go of it
        line = "forward@model.py:7|main@train.py:11";
        for (int i = first; i < end; ++i) {
            const Tensor y = forward(i, x, layers[static_cast<std::size_t>(i)]);
            letGo(x);
            x = y;
        }
        for (Layer& layer : layers)
            if (layer.kept)
                letGo(*layer.kept);
        if (cast)
            letGo(*std::exchange(cast, std::nullopt));
        std::vector<Saved> ofLosses;
        if (options.savesOutput)
            ofLosses = { save(x), save(x) };
        line = "main@train.py:12";
        if (options.letsGoOfOutput)
            letGo(x);
        phase = 'B';
        for (const Saved& saved : std::views::reverse(ofLosses))
            use(saved, -1, 0);
        for (int i = end - 1; i >= first; --i) {
            const Layer& layer = layers[static_cast<std::size_t>(i)];
            const auto size = static_cast<std::size_t>(3 * i);
            int again = -1, castAgain = -1, copyAgain = -1;
            if (options.checkpointed) { // its forward again, up to what it saved last
                phase = 'R';
                const std::uint32_t input = isDeep() ? tensor(layer.input) : 0;
                row(Kind::Unpacked, { input }, layer.savedInput);
                const std::size_t entered = row(Kind::Enters, {});
                if (options.copiesInput) {
                    const Tensor copy = copyOf(size, row(Kind::Operator, { input }));
                    copyAgain = copy.block;
                    saveAgain(copy.tensor);
                } else {
                    saveAgain(input);
                }
                if (options.castsWeight)
                    castAgain = alloc(bytes.size() - 2);
                again = alloc(size);
                drop(alloc(size + 1));
                const std::size_t left = row(Kind::Leaves, {});
                row(Kind::Gone, { input });
                phase = 'B';
                if (isDeep())
                    for (const std::size_t at : { entered, left })
                        named[at] = { "layers." + std::to_string(i), "Layer" };
            }
            use(layer.h, again, size);
            if (options.castsWeight)
                use(layer.w, castAgain, size);
            use(layer.x, copyAgain, size + 2);
            if (options.checkpointed) {
                drop(layer.input);
                row(Kind::Released, {}, layer.savedInput);
            }
        }
        phase = options.namesLines ? 'O' : 'B';
        if (!options.letsGoOfOutput)
            letGo(x);
    }

    void step()
    {
        if (isDeep())
            deep.beginEvent = event;
        saves = 0;
        if (options.evaluates && number > 1 && number % 2 == options.deep % 2)
            evaluate();
        const int last = options.layers - 1;
        if (options.isOfTwo && !(options.beginsWithin && number == 1))
            train(0, last);
        train(options.isOfTwo ? last : 0, options.layers);
        phase = 'O';
        line = "step@optimizer.py:3|main@train.py:13";
        if (!options.allocatesStatesAlone)
            drop(alloc(bytes.size() - 1));
        else if (number == 1)
            for (int i = 0; i < options.layers; ++i)
                alloc(bytes.size() - 1);
        letters += '|';
        if (isDeep())
            deep.endEvent = event;
    }

    std::map<std::size_t, std::pair<std::string, std::string>> named;
    std::vector<Block> blocks;
    std::set<std::uint64_t> used;
    int weight = -1;
    std::optional<Tensor> cast;
    std::int64_t live = 0;
    model::EventIndex event = 0;
    int number = 0;
    std::uint32_t saves = 0;
    char phase = 'F';
    const char* line = "";
};

} // namespace strata::test
