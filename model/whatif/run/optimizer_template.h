// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

/// An event of a loop of a rule: it asks for a block, or gives one back.
struct OptimizerAsk {
    enum class Size : std::uint8_t {
        Bytes, ///< those of the parameter
        Float32, ///< four for each of its elements
        Int8, ///< one for each
        Scales, ///< four for each 256 of them, and for what is left
        Constant,
    };
    /// Some keep states in another way from a least number of elements on.
    enum class When : std::uint8_t {
        Always,
        Large, ///< of a parameter that has as many
        Small,
        Once, ///< of the first large one, in all groups: the optimizer's own
    };

    bool alloc = true;
    std::uint32_t slot = 0; ///< with the parameter it names the block
    Size size = Size::Bytes;
    When when = When::Always;
    std::int64_t constantBytes = 0;
    bool ofBefore = false; ///< gives back the block of the parameter before in the loop; the first has none
};

/// A loop over parameters that have a gradient, or over their types, with loops in it.
struct OptimizerLoop {
    enum class Over : std::uint8_t {
        All,
        Types, ///< `loops` for each
        Group, ///< within Types: those of the type that it is at
        Before, ///< within Types: those of the type before it, if there is one
        Last, ///< behind Types: those of the last type
    };
    enum class Order : std::uint8_t {
        Up,
        Down,
        End, ///< the last one alone
    };

    Over over = Over::All;
    Order order = Order::Up;
    std::vector<OptimizerAsk> asks;
    std::vector<OptimizerLoop> loops;
    bool makesState = false; ///< asks for state, and does nothing else
};

using OptimizerRule = std::vector<OptimizerLoop>;

/// What an optimizer of torch.optim, or of bitsandbytes, asks of the allocator with one choice of its
/// options, as its own run on the simulated device told (tests/truth/tools/make_optimizer_templates.py; each rule
/// led to what other runs did, event by event). Rules are of one group of parameters.
struct OptimizerTemplate {
    bool typesBack = false; ///< Types goes from the type that is met last to the first
    OptimizerRule made; ///< when the optimizer is made, over all of its parameters
    OptimizerRule first; ///< the first step of parameters
    std::vector<std::pair<int, OptimizerRule>> later; ///< from that step on, which counts from 1
    /// A step that is the first of some parameters alone is `first`, with loops that make state over those.
    bool mixes = false;
    std::uint32_t slots = 0;

    [[nodiscard]] const OptimizerRule& laterRule(int step) const;
};

/// A class with options.
struct OptimizerChoice {
    std::string name; ///< "AdamW"
    std::string package; ///< "bitsandbytes 0.50.2"; empty: it is one of PyTorch's
    const OptimizerTemplate* made = nullptr; ///< of the catalogue: it outlives all
    std::int64_t least = 0; ///< elements of a large parameter
    bool inBackward = false; ///< one for each parameter, which steps as its gradient comes, and lets that go
    /// Whether it raises in a step of such a parameter.
    [[nodiscard]] bool refuses(std::string_view type, std::int64_t elements) const;
    std::map<std::string, bool, std::less<>> refused; ///< types, and whether of small ones alone
    /// The same with a weight decay, where that was left open, may be kept from the optimizer that it
    /// replaces, and makes a difference; else nullptr.
    const OptimizerTemplate* decaying = nullptr;
};

/// The templates of resources/optimizers.json and optimizers_bitsandbytes.json. Immutable; any thread.
class OptimizerTemplates {
public:
    [[nodiscard]] static const OptimizerTemplates& builtIn();

    /// "adamw", "SGD,momentum=0.9,foreach=False": a class, whose case does not matter, and options as
    /// `strata dryrun --change optimizer=` takes them. Usage: no such class or option; names those that there
    /// are. Refused: its templates tell nothing of that.
    [[nodiscard]] Result<OptimizerChoice> find(std::string_view value) const;
    /// All that a class of that name (case matters) may do, each once; nothing where it is not known. Whether
    /// it decays weights comes with it.
    struct Manner {
        const OptimizerTemplate* made = nullptr;
        bool decays = false; ///< in all ways that lead to it, but for maximizing, a weight decay was given
        std::int64_t least = 0; ///< elements of a large parameter, unless an option says another number
    };
    [[nodiscard]] std::vector<Manner> mannersOf(std::string_view name) const;
    /// "bitsandbytes 0.50.2" of a class of that name (case matters); empty: it is PyTorch's, or not known.
    [[nodiscard]] std::string packageOf(std::string_view name) const;
    /// Of one on the host: it asks nothing of the device.
    [[nodiscard]] static const OptimizerTemplate& onHost();
    [[nodiscard]] const std::string& torchVersion() const { return m_torch; } ///< "2.15.0"
    /// "Adadelta, Adam, ... and SGD, and of bitsandbytes Adam8bit, ... and SGD8bit"
    [[nodiscard]] std::string names() const;

private:
    OptimizerTemplates();
    void read(const char* text);

    struct Class {
        std::string package; // "bitsandbytes 0.50.2"
        std::map<std::string, std::string, std::less<>>
            defaults; // option -> "True", "None", "zero", "number"
        std::map<std::string, std::size_t, std::less<>> variants; // what differs -> row of m_templates
        std::string leastOption; // which says how many elements a large parameter has
        std::int64_t least = 0;
        std::map<std::string, bool, std::less<>> refused;
    };
    /// Why a class of that name has no template.
    struct Untold {
        enum class Why : std::uint8_t { ByMore, Paged, Raises };
        std::string name;
        std::string package;
        Why why = Why::ByMore;
    };
    [[nodiscard]] Failure refuse(const Untold& untold) const;
    [[nodiscard]] const OptimizerTemplate* variant(
        const Class& known, std::map<std::string, std::string, std::less<>> given) const;

    std::string m_torch;
    std::vector<Untold> m_untold;
    std::map<std::string, Class, std::less<>> m_classes;
    std::vector<OptimizerTemplate> m_templates;
};

} // namespace strata::model
