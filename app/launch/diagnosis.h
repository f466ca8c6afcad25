// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/gpus.h"
#include "model/base/answer_fields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::launch {

/// What may be done with a command on this machine.
struct Ability {
    enum class Answer : std::uint8_t {
        Yes,
        Simulated, ///< on a simulated device alone
        No,
    };

    std::string id; ///< "dry_run", for programs
    std::string name; ///< "dry run", for people
    Answer answer = Answer::No;
    std::string remark; ///< why not, and what to do; of others what is to be known
};
[[nodiscard]] std::string_view answerWord(Ability::Answer answer); ///< "yes", "simulated", "no"

/// What the environment asks of PyTorch's allocator, and what PyTorch makes of it.
struct AllocatorEnvironment {
    std::vector<std::string> asked; ///< "PYTORCH_ALLOC_CONF=expandable_segments:True", of each variable
    std::string tookEffect; ///< settings as a snapshot of this PyTorch has them; empty: none, or not known
    std::string warning; ///< one is ignored, or both are set; empty: all is well
};

/// What this machine, and the PyTorch of one command, allow.
struct Diagnosis {
    std::vector<std::string> command;
    std::string program; ///< path of what is started; empty where it is not found
    std::string python; ///< path of the interpreter that tells the PyTorch; empty without one
    std::string pythonVersion; ///< "CPython 3.11.7"
    std::string torchVersion, torchFolder; ///< empty without one that can be followed
    std::string hook; ///< path; empty without one
    Gpus gpus;
    std::optional<AllocatorEnvironment> allocator; ///< none: no variable is set
    std::vector<Ability> abilities;

    /// The command can be recorded, on a simulated device at least, or dry-run.
    [[nodiscard]] bool isOfUse() const;
};

/// Which of both variables took effect, by what a snapshot of that PyTorch says; `made` none: not known.
[[nodiscard]] AllocatorEnvironment allocatorEnvironment(const std::optional<std::string>& generalConf,
    const std::optional<std::string>& cudaConf, const std::optional<std::string>& made, const std::string& torch);

/// Tries everything but the command itself: runs its Python without importing torch, makes stand-ins,
/// compiles the hook where there is none (ten seconds, once). Without words the Python in PATH is the
/// command.
[[nodiscard]] Diagnosis diagnose(std::vector<std::string> words);

} // namespace strata::launch

namespace strata::model {

template <> struct Fields<launch::Ability> {
    static constexpr std::tuple all{
        field("id", Unit::None,
            "`dry_run`, `record_python_stacks`, `record_native_stacks`, `kernels`, `driver_readings`, "
            "`attach` or `inject`",
            &launch::Ability::id),
        field("answer", Unit::None, "`yes`, `simulated` (on a simulated GPU only) or `no`",
            [](const launch::Ability& ability) { return launch::answerWord(ability.answer); }),
        field("remark", Unit::None, "reason for a `no` and what to do; null: nothing to add",
            unlessEmpty(&launch::Ability::remark)),
    };
};

template <> struct Fields<launch::AllocatorEnvironment> {
    static constexpr std::tuple all{
        field("asked", Unit::None, "variables that are set, such as `PYTORCH_ALLOC_CONF=...`",
            &launch::AllocatorEnvironment::asked),
        field("took_effect", Unit::None,
            "settings that PyTorch uses, from the `allocator_settings` of its snapshot; null: none, or unknown",
            unlessEmpty(&launch::AllocatorEnvironment::tookEffect)),
        field("warning", Unit::None, "a variable is ignored, or both are set; null: neither",
            unlessEmpty(&launch::AllocatorEnvironment::warning)),
    };
};

template <> struct Fields<launch::Diagnosis> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const launch::Diagnosis&) { return 1; }),
        field("command", Unit::None, "the command, by its words", &launch::Diagnosis::command),
        field("program", Unit::None, "path of the program that the command starts; null: not found",
            unlessEmpty(&launch::Diagnosis::program)),
        field("python", Unit::None, "path of the Python interpreter; null: none",
            unlessEmpty(&launch::Diagnosis::python)),
        field("python_version", Unit::None,
            "kind and version of Python, such as `CPython 3.11.7`; null: none",
            unlessEmpty(&launch::Diagnosis::pythonVersion)),
        field("torch", Unit::None, "version of PyTorch; null: unknown",
            unlessEmpty(&launch::Diagnosis::torchVersion)),
        field("torch_folder", Unit::None, "folder of PyTorch; null: none that Strata can record",
            unlessEmpty(&launch::Diagnosis::torchFolder)),
        field("hook", Unit::None, "path of the allocator hook for this PyTorch; null: none",
            unlessEmpty(&launch::Diagnosis::hook)),
        field("gpus", Unit::None, "names of the GPUs of this machine",
            within(&launch::Diagnosis::gpus, &launch::Gpus::names)),
        field("allocator", Unit::None,
            "allocator settings of the environment; null: neither variable is set",
            &launch::Diagnosis::allocator),
        field("abilities", Unit::None, "each use of Strata, and whether it works here",
            &launch::Diagnosis::abilities),
        field(
            "ok", Unit::None, "true: Strata can record or dry-run the command", &launch::Diagnosis::isOfUse),
    };
};

} // namespace strata::model
