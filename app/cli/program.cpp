// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/program.h"

#include "app/cli/options.h"
#include "model/base/spelling.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <span>
#include <string_view>

namespace strata::cli {

namespace {

constexpr std::size_t kColumnWidth = 26;

constexpr const char* kOverview = R"(
Examples:
  strata summary snapshot.pickle                 what filled the GPU, in a page
  strata summary --max-peak 70GiB snapshot.pickle   exit 1 if it needs more
  strata at snapshot.pickle peak --by site       every byte at the peak, by stack
  strata events snapshot.pickle --json | jq      the trace as JSON lines
  strata render snapshot.pickle -o pictures      every page of the window as PNG
  strata convert snapshot.pickle -o run.strata   a tenth of the size, opens the same
  strata record -o run.strata -- python train.py     every allocation of a program, from its first on
  strata attach 4711 -o seen.strata              a process that was started with record --live, as it runs
  strata dryrun --device T4-16GB -- python train.py   what a program would need there, without a GPU

"strata COMMAND --help" tells the options of a command.
)";

model::Failure usageError(model::Sentence what, model::Sentence hint)
{
    return model::fail(model::Error::Kind::Usage, std::move(what), std::move(hint));
}

int complain(Output& err, const model::Error& error)
{
    printError(err, error);
    return kUsage;
}

std::string listOf(const Commands& commands)
{
    std::string list;
    for (const auto& command : commands)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", command->name());
    return list;
}

Command* find(const Commands& commands, std::string_view name)
{
    const auto found = std::find_if(
        commands.begin(), commands.end(), [&](const auto& command) { return command->name() == name; });
    return found == commands.end() ? nullptr : found->get();
}

model::Sentence theCommandsAre(const Commands& commands)
{
    return model::say("the commands are %1; see strata --help", listOf(commands));
}

model::Failure unknownCommand(const Commands& commands, const std::string& word)
{
    std::error_code ignored;
    if (std::filesystem::exists(word, ignored))
        return usageError(
            model::say("'%1' is a file, not a command", word), model::say("try: strata summary %1", word));
    const auto far = [&](const auto& command) { return model::editDistance(word, command->name()); };
    const auto nearest = std::min_element(
        commands.begin(), commands.end(), [&](const auto& a, const auto& b) { return far(a) < far(b); });
    return usageError(model::say("there is no command '%1'", word),
        far(*nearest) <= 2 ? model::say("did you mean '%1'?", (*nearest)->name()) : theCommandsAre(commands));
}

/// Shows in the first line of a help that words of a program follow.
class ProgramWordsFormatter : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App* app, std::string name) const override
    {
        std::string line = Formatter::make_usage(app, std::move(name));
        constexpr std::string_view kOptions = "[OPTIONS]";
        if (const auto at = line.find(kOptions); at != line.npos)
            line.insert(at + kOptions.size(), " -- PROGRAM...");
        return line;
    }
};

/// The words of one command: its options, and what goes wrong with them.
class CommandLine {
public:
    explicit CommandLine(Command& command)
        : m_command(command)
        , m_app(command.purpose(), "strata " + command.name())
    {
        if (command.programWords())
            m_app.formatter(std::make_shared<ProgramWordsFormatter>());
        m_app.set_help_flag("--help,-h", "Prints this help");
        m_app.get_formatter()->column_width(kColumnWidth);
        command.declare(m_app);
    }

    /// False: `help` was asked for.
    model::Result<bool> read(std::span<const char* const> words, std::string& help)
    {
        ProgramWords* const program = m_command.programWords();
        const auto split = program ? std::ranges::find(words, std::string_view("--"),
                               [](const char* word) { return std::string_view(word); })
                                   : words.end();
        try {
            m_app.parse(static_cast<int>(split - words.begin()), words.data());
        } catch (const CLI::Success&) {
            help = m_app.help();
            return false;
        } catch (const CLI::ParseError& error) {
            return complaint(error);
        }
        if (program) {
            program->words.assign(split == words.end() ? split : split + 1, words.end());
            if (program->required && program->words.empty())
                return atItsPlace(usageError(
                    model::say("no command"), model::say("put it behind --, as in %1", program->example))
                                      .value());
        }
        if (const auto checked = m_command.check(); !checked)
            return atItsPlace(checked.error());
        return true;
    }

private:
    [[nodiscard]] model::Failure atItsPlace(model::Error error) const
    {
        if (error.where.empty())
            error.where = m_command.place();
        return model::Failure(std::move(error));
    }

    model::Failure complaint(const CLI::ParseError& error)
    {
        const model::Sentence help = model::say("see %1 --help", m_app.get_name());
        const auto inCommand = [&](model::Sentence what, model::Sentence hint) {
            return model::Failure(model::Error{
                model::Error::Kind::Usage, std::move(what), std::move(hint), m_command.name() });
        };
        const std::vector<std::string> extras = m_app.remaining(true);
        if (extras.empty())
            return inCommand(model::verbatim(error.what()), help);
        if (extras.front().starts_with("-"))
            return inCommand(model::say("there is no option '%1'", extras.front()), help);
        const ProgramWords* const program = m_command.programWords();
        std::error_code ignored;
        const bool isFile = std::filesystem::is_regular_file(extras.front(), ignored);
        return inCommand(model::say("unexpected argument '%1'", extras.front()),
            program == nullptr ? help
                : isFile && !program->beside.empty()
                ? program->beside
                : model::say("a command goes behind --, as in %1", program->example));
    }

    Command& m_command;
    CLI::App m_app;
};

/// Reads the words, the first of which is the command's name, and runs it.
int run(Command& command, std::span<const char* const> words, Output& out, Output& err)
{
    std::string help;
    const auto isToRun = CommandLine(command).read(words, help);
    if (!isToRun)
        return complain(err, isToRun.error());
    out.write(help);
    return *isToRun ? runCommand(command, out, err) : kDone;
}

/// What is asked without a command: help and version.
int runOverview(std::span<const char* const> words, const Commands& commands, Output& out, Output& err)
{
    CLI::App app("Shows where GPU memory goes in PyTorch programs.", "strata");
    app.set_version_flag("--version,-V", fmt::format("strata {}", STRATA_VERSION), "Prints the version");
    app.set_help_flag("--help,-h", "Prints this help");
    app.footer(fmt::format("{}{}", kOverview, footer(Footer::ExitCodes)));
    app.get_formatter()->column_width(kColumnWidth);
    app.require_subcommand(1, 1);
    for (const auto& command : commands)
        app.add_subcommand(command->name(), command->purpose());
    try {
        app.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::CallForVersion& version) {
        out.line(version.what());
        return kDone;
    } catch (const CLI::Success&) {
        const auto asked = app.get_subcommands();
        if (asked.empty()) {
            out.write(app.help());
            return kDone;
        }
        const std::string name = asked.front()->get_name();
        const char* const help[] = { name.c_str(), "--help" };
        return run(*find(commands, name), help, out, err);
    } catch (const CLI::ParseError&) {
        const std::vector<std::string> extras = app.remaining(true);
        if (!extras.empty())
            return complain(err,
                usageError(
                    model::say("there is no option '%1'", extras.front()), model::say("see strata --help"))
                    .value());
    }
    return complain(err, usageError(model::say("a command is missing"), theCommandsAre(commands)).value());
}

} // namespace

int runProgram(int argc, const char* const* argv, const Commands& commands, Output& out, Output& err)
{
    const std::span words(argv, static_cast<std::size_t>(argc));
    if (words.size() < 2 || words[1][0] == '-')
        return runOverview(words, commands, out, err);
    Command* const command = find(commands, words[1]);
    if (!command)
        return complain(err, unknownCommand(commands, words[1]).value());
    return run(*command, words.subspan(1), out, err);
}

} // namespace strata::cli
