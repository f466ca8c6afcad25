// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"

#include "model/base/units.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace strata::cli {

namespace {

constexpr const char* kPositions = R"(Positions:
  EVENT       index in the device's trace: the state after it; -1 is before the first
  peak        the first event of the highest requested bytes
  oom, oom:K  after the last, or the K-th, out-of-memory (exit 1 if there is none)
  t:SECONDS   from the first event
  us:EPOCH    microseconds since 1970
)";

constexpr const char* kExitCodes = R"(Exit codes:
  0 done   1 a check or limit failed   2 bad usage   3 unreadable input
)";

constexpr const char* kOverview = R"(
Examples:
  strata summary snapshot.pickle                 what filled the GPU, in a page
  strata summary --max-peak 70GiB snapshot.pickle   exit 1 if it needs more
  strata at snapshot.pickle peak --by site       every byte at the peak, by stack
  strata events snapshot.pickle --json | jq      the trace as JSON lines
  strata render snapshot.pickle -o pictures      every page of the window as PNG
  strata convert snapshot.pickle -o run.strata   a tenth of the size, opens the same
  strata record -o run.strata -- python train.py     every allocation of a program, from its first on
  strata dryrun --device T4-16GB -- python train.py   what a program would need there, without a GPU

"strata COMMAND --help" tells the options of a command.

)";

struct CommandName {
    const char* name;
    const char* purpose;
    Command command;
};

constexpr std::array<CommandName, 10> kCommands{ {
    { "summary", "What filled the device: verdict, peak by line of code, out-of-memory, waste, settings",
        Command::Summary },
    { "check", "Whether the figures of a recording agree with each other; exit 1 if not", Command::Check },
    { "at", "What was live at one instant, by line, site, stream, pool or size", Command::At },
    { "blocks", "Every block with its life, one row each", Command::Blocks },
    { "events", "Every event of the trace, one row each", Command::Events },
    { "render", "Draws the pages of the window into picture files, without a screen", Command::Render },
    { "convert", "Writes a recording as a Strata session (.strata) or as a PyTorch snapshot (.pickle)",
        Command::Convert },
    { "share", "Writes a small session to give away: a part of a recording, without paths and names",
        Command::Share },
    { "notes", "Lists notes, named ranges and saved filters; adds or removes one", Command::Notes },
    { "symbolize", "Finds source and line of the C++ frames in a session, where its programs lie",
        Command::Symbolize },
} };

/// Their words are read by dryRunMain() and recordMain(): behind -- they are another program's.
constexpr const char* kDryRun = "dryrun";
constexpr const char* kRecord = "record";

std::string commandList()
{
    std::string list;
    for (const CommandName& command : kCommands)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", command.name);
    return fmt::format("{}, {}, {}", list, kRecord, kDryRun);
}

/// Edits (one character more, less or other) between two words.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{ 0 });
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t other = std::min(row[j], row[j + 1]) + 1;
            diagonal = std::exchange(row[j + 1], std::min(other, diagonal + (a[i] == b[j] ? 0 : 1)));
        }
    }
    return row.back();
}

model::Failure unknownCommand(const std::string& word)
{
    std::error_code ignored;
    if (std::filesystem::exists(word, ignored))
        return model::fail(model::Error::Kind::Usage, fmt::format("'{}' is a file, not a command", word),
            fmt::format("try: strata summary {}", word));
    for (const char* command : { kRecord, kDryRun }) {
        if (distance(word, command) <= 2)
            return model::fail(model::Error::Kind::Usage, fmt::format("there is no command '{}'", word),
                fmt::format("did you mean '{}'?", command));
    }
    const auto* nearest = std::min_element(
        kCommands.begin(), kCommands.end(), [&](const CommandName& a, const CommandName& b) {
            return distance(word, a.name) < distance(word, b.name);
        });
    const std::string hint = distance(word, nearest->name) <= 2
        ? fmt::format("did you mean '{}'?", nearest->name)
        : fmt::format("the commands are {}; see strata --help", commandList());
    return model::fail(model::Error::Kind::Usage, fmt::format("there is no command '{}'", word), hint);
}

class Parser {
public:
    Parser()
        : m_app("Shows where GPU memory goes in PyTorch programs.", "strata")
    {
        m_app.set_version_flag(
            "--version,-V", fmt::format("strata {}", STRATA_VERSION), "Prints the version");
        m_app.set_help_flag("--help,-h", "Prints this help");
        m_app.footer(fmt::format("{}{}", kOverview, kExitCodes));
        m_app.get_formatter()->column_width(26);
        m_app.require_subcommand(1, 1);
        for (const CommandName& command : kCommands)
            add(command);
        m_app.add_subcommand(
            kRecord, "Runs a program and records the GPU memory of its processes as sessions");
        m_app.add_subcommand(kDryRun, "Runs a training program without a GPU: what it needs, where it fits");
    }

    model::Result<Parsed> parse(int argc, const char* const* argv)
    {
        try {
            m_app.parse(argc, argv);
        } catch (const CLI::CallForVersion& version) {
            return Parsed{ {}, fmt::format("{}\n", version.what()) };
        } catch (const CLI::Success&) { // help
            const auto asked = m_app.get_subcommands();
            return Parsed{ {}, asked.empty() ? m_app.help() : asked.front()->help("strata") };
        } catch (const CLI::ParseError& error) {
            return complaint(error);
        }
        return finish();
    }

private:
    void add(const CommandName& name)
    {
        CLI::App& sub = *m_app.add_subcommand(name.name, name.purpose);
        sub.callback([this, name] { m_options.command = name.command; });
        const bool several = name.command == Command::Summary || name.command == Command::Check;
        if (several)
            sub.add_option("FILE", m_options.files, "Recordings to open")->required()->type_name("");
        else
            sub.add_option("FILE", m_file, "Recording to open")->required()->type_name("");
        if (name.command == Command::Render) {
            addRender(sub);
            return;
        }
        if (name.command == Command::Convert) {
            addConvert(sub);
            return;
        }
        if (name.command == Command::Symbolize) {
            sub.footer(fmt::format(
                "\nWhat it finds is added to the session; nothing that was recorded changes. strata "
                "record and strata\ndryrun do this by themselves.\n\n{}",
                kExitCodes));
            return;
        }
        if (name.command == Command::Share)
            addShare(sub);
        if (name.command == Command::At)
            sub.add_option("POSITION", m_options.position, "The instant, see below")
                ->required()
                ->type_name("");

        if (name.command == Command::Notes)
            addNotes(sub);

        const bool all = several || name.command == Command::Share;
        const char* whichDevice = all ? "Only this device; else all of them"
                                      : "Device number; else the one with the highest reserved peak";
        sub.add_option("--device", m_options.device, whichDevice)->type_name("D");
        sub.add_flag("--json", m_options.json, "Prints JSON for programs");
        sub.add_flag(
            "--force", m_options.force, "Reads even what unpacks to more than half of this machine's memory");
        if (name.command != Command::At)
            addRange(sub, name.command);
        if (name.command == Command::Summary)
            sub.add_option("--max-peak", m_maxPeak,
                   "Fails with exit 1 if a device needs more than this: its reserved peak, within "
                   "--from/--to "
                   "if given. For example 70GiB")
                ->type_name("BYTES");
        if (name.command == Command::At) {
            sub.add_option("--by", m_grouping, "line (default), site, stream, pool or size")
                ->type_name("GROUP");
            addLimit(sub, "groups");
        }
        if (name.command == Command::Blocks || name.command == Command::Events) {
            sub.add_flag("--frames", m_options.frames, "Adds the whole stack to each row of --json");
            addLimit(sub, "rows");
        }
        sub.footer(fmt::format("\n{}\n{}", kPositions, kExitCodes));
    }

    void addRange(CLI::App& sub, Command command)
    {
        const char* from = "";
        const char* to = "";
        switch (command) {
        case Command::Summary:
            from = "Looks for the peak (and --max-peak) only in the states from this position";
            to = "... to this one; totals stay those of the whole trace";
            break;
        case Command::Check:
            from = "Reports only what shows at or after this position";
            to = "... and at or before this one";
            break;
        case Command::Share:
            from = "First event to keep, as a position; events are numbered anew from it";
            to = "Last event to keep; other devices keep what happened in the same time";
            break;
        case Command::Notes:
            from = "Where --add puts the note, as a position; else lists only what ends at or after it";
            to = "... to this position, for a note on a range; else only what begins at or before it";
            break;
        case Command::Blocks:
            from = "Only blocks that are alive at or after this position";
            to = "... and at or before this one";
            break;
        default:
            from = "First event to print, as a position";
            to = "Last event to print";
        }
        sub.add_option("--from", m_options.from, from)->type_name("POSITION");
        sub.add_option("--to", m_options.to, to)->type_name("POSITION");
    }

    void addLimit(CLI::App& sub, const char* what)
    {
        sub.add_option("--limit", m_options.limit,
               fmt::format("Prints at most N {}, 0 all of them (default: 40 on a terminal, else all)", what))
            ->type_name("N");
    }

    void addRender(CLI::App& sub)
    {
        sub.add_option(
               "-o,--output", m_options.outputDirectory, "Directory for the pictures; made if missing")
            ->required()
            ->type_name("DIR");
        sub.add_option("--page", m_options.page, "Only this page; else every page")->type_name("PAGE");
        sub.add_option("--size", m_options.size, "Size of a picture in pixels (default 1920x1080)")
            ->type_name("WxH");
        sub.add_option("--theme", m_options.theme, "light or dark")->type_name("THEME");
        sub.add_option("--scale", m_options.scale, "Device pixel ratio, 1 to 4 (default 1)")->type_name("N");
        sub.add_flag("--svg", m_options.svg, "Draws curves and the flame graph as SVG too");
        sub.footer(fmt::format("\nRuns strata-gui, which must lie beside strata.\n\n{}", kExitCodes));
    }

    void addConvert(CLI::App& sub)
    {
        sub.add_option("-o,--output", m_options.outputFile,
               "File to write: NAME.strata for a session, NAME.pickle for PyTorch's own tools")
            ->required()
            ->type_name("FILE");
        sub.add_flag(
            "--force", m_options.force, "Reads even what unpacks to more than half of this machine's memory");
        sub.footer(fmt::format("\n{}", kExitCodes));
    }

    void addShare(CLI::App& sub)
    {
        sub.add_option("-o,--output", m_options.outputFile, "Session to write: NAME.strata")
            ->required()
            ->type_name("FILE");
        sub.add_option("--drop", m_options.drop,
               "Leaves out: paths (directories of source files), names (of users, of the host), commands "
               "(command "
               "lines), metadata (texts that the program wrote beside events), notes (with named ranges and "
               "filters), or all; with commas between them")
            ->delimiter(',')
            ->type_name("WHAT");
    }

    void addNotes(CLI::App& sub)
    {
        sub.add_option("--add", m_options.addNote,
               "Adds a note with this text, at the position of --from; kept in the session itself, or "
               "beside your own files where the recording is no finished session that can be written")
            ->type_name("TEXT");
        sub.add_option("--remove", m_options.removeNote, "Removes the one with this id, as --json prints it")
            ->type_name("ID");
    }

    std::string helpCommand() const
    {
        const auto asked = m_app.get_subcommands();
        return asked.empty() ? "strata --help" : fmt::format("strata {} --help", asked.front()->get_name());
    }

    model::Failure usage(std::string what, std::string hint = {}) const
    {
        return model::fail(model::Error::Kind::Usage, std::move(what),
            hint.empty() ? fmt::format("see {}", helpCommand()) : std::move(hint));
    }

    model::Failure complaint(const CLI::ParseError& error) const
    {
        const auto asked = m_app.get_subcommands();
        const std::string command
            = asked.empty() ? "strata" : fmt::format("strata {}", asked.front()->get_name());
        const std::vector<std::string> extras = m_app.remaining(true);
        if (!extras.empty() && extras.front().starts_with("-"))
            return usage(fmt::format("{} has no option '{}'", command, extras.front()));
        if (!extras.empty())
            return usage(fmt::format("{} does not know what to do with '{}'", command, extras.front()));
        if (asked.empty())
            return usage(
                "a command is missing", fmt::format("the commands are {}; see strata --help", commandList()));
        return usage(fmt::format("{}: {}", command, error.what()));
    }

    model::Result<Parsed> finish()
    {
        const auto grouping = model::groupingFromName(m_grouping);
        if (!grouping)
            return usage(
                fmt::format("--by does not know '{}'", m_grouping), "give line, site, stream, pool or size");
        m_options.grouping = *grouping;
        if (m_options.files.empty())
            m_options.files.push_back(m_file);
        if (!m_maxPeak.empty()) {
            m_options.maxPeakBytes = model::parseBytes(m_maxPeak);
            if (!m_options.maxPeakBytes)
                return usage(fmt::format("--max-peak does not understand '{}'", m_maxPeak),
                    "give bytes with a unit, for example 70GiB");
        }
        if (m_options.limit && *m_options.limit < 0)
            return usage("--limit cannot be negative", "give 0 for all");
        for (const std::string& file : m_options.files) {
            if (file == "-")
                return usage(
                    "standard input cannot be opened, since reading a recording needs to go back in it",
                    "save it to a file and give that");
        }
        return Parsed{ m_options, {} };
    }

    CLI::App m_app;
    Options m_options;
    std::string m_file; // of a command that takes one
    std::string m_grouping = "line";
    std::string m_maxPeak;
};

} // namespace

model::Result<Parsed> parseArguments(int argc, const char* const* argv)
{
    if (argc > 1 && argv[1][0] != '-') {
        const std::string word = argv[1];
        if (std::ranges::none_of(kCommands, [&](const CommandName& command) { return word == command.name; }))
            return unknownCommand(word);
    }
    return Parser().parse(argc, argv);
}

} // namespace strata::cli
