// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/launch/diagnosis.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::cli {

namespace {

using launch::Ability;
using Answer = Ability::Answer;

std::string coloured(Answer answer, const Output& out)
{
    const std::string word = fmt::format("{:<9}", launch::answerWord(answer));
    return answer == Answer::No ? out.bad(word) : out.good(word);
}

std::string orElse(const std::string& text, const char* none)
{
    return text.empty() ? none : text;
}

void print(const launch::Diagnosis& found, Output& out)
{
    out.line(fmt::format("command  {}", fmt::join(found.command, " ")));
    if (!found.python.empty())
        out.line(fmt::format("Python   {} ({})", found.python, found.pythonVersion));
    out.line(found.torchFolder.empty()
            ? "PyTorch  none that can be followed"
            : fmt::format(
                "PyTorch  {} in {}", orElse(found.torchVersion, "of unknown version"), found.torchFolder));
    if (!found.hook.empty())
        out.line(fmt::format("hook     {}", found.hook));
    out.line(fmt::format("GPU      {}",
        found.gpus.names.empty() ? "none" : fmt::format("{}", fmt::join(found.gpus.names, ", "))));
    if (const auto& allocator = found.allocator) {
        out.line(fmt::format("settings {}", fmt::join(allocator->asked, ", ")));
        out.line(fmt::format("         in effect: {}", orElse(allocator->tookEffect, "PyTorch's defaults")));
        if (!allocator->warning.empty())
            out.line("         " + out.bad(allocator->warning));
    }
    out.line("");
    for (std::size_t i = 0; i < found.abilities.size(); ++i) {
        const Ability& ability = found.abilities[i];
        out.line(fmt::format("{}  {}", coloured(ability.answer, out), out.strong(ability.name)));
        // What holds for several is said once, below the last.
        const bool again = i + 1 < found.abilities.size() && found.abilities[i + 1].remark == ability.remark;
        if (!again && !ability.remark.empty())
            out.line(fmt::format("           {}", ability.remark));
    }
}

class DoctorCommand final : public Command {
public:
    DoctorCommand()
        : Command("doctor", "What this machine and a program's PyTorch allow, and what to do for the rest")
    {
        m_program.example = "strata doctor -- python train.py";
        m_program.required = false;
    }

    ProgramWords* programWords() override { return &m_program; }
    std::string_view place() const override { return "doctor"; }

    void declare(CLI::App& app) override
    {
        app.description("Tells what this machine and the PyTorch of a command allow, and what to do for the "
                        "rest: dry run, "
                        "recording, readings of the driver. The command is not run; without one it is the "
                        "Python in PATH.");
        app.add_flag("--json", m_json, "Prints JSON for programs");
        app.footer("\nExample:\n  strata doctor -- python train.py\n\n"
                   "Exit codes:\n  0 the command can be recorded or dry-run   1 it cannot   2 bad usage\n");
    }

    model::Result<int> run(Output& out, Output&) override
    {
        const launch::Diagnosis found = launch::diagnose(m_program.words);
        if (m_json)
            out.write(jsonLine(found));
        else
            print(found, out);
        return found.isOfUse() ? kDone : kFailed;
    }

private:
    ProgramWords m_program;
    bool m_json = false;
};

} // namespace

std::unique_ptr<Command> makeDoctor()
{
    return std::make_unique<DoctorCommand>();
}

} // namespace strata::cli
