// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

extern char** environ;

namespace strata::cli {

namespace {

constexpr int kLargest = 16384;

model::Failure wrongUsage(model::Sentence what, model::Sentence hint)
{
    return model::fail(model::Error::Kind::Usage, std::move(what), std::move(hint));
}

bool isSize(const std::string& text)
{
    int width = 0, height = 0;
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, width);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != 'x')
        return false;
    const auto second = std::from_chars(first.ptr + 1, end, height);
    return second.ec == std::errc{} && second.ptr == end && width > 0 && height > 0 && width <= kLargest
        && height <= kLargest;
}

/// strata-gui in the directory of this program; empty if it is not there.
std::filesystem::path windowProgram()
{
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error)
        return {};
    const std::filesystem::path gui = self.parent_path() / "strata-gui";
    return std::filesystem::exists(gui, error) ? gui : std::filesystem::path();
}

/// Our environment, with Qt drawing into memory unless told otherwise.
std::vector<std::string> windowEnvironment()
{
    std::vector<std::string> variables;
    for (char** variable = environ; *variable; ++variable)
        variables.emplace_back(*variable);
    if (!std::getenv("QT_QPA_PLATFORM"))
        variables.emplace_back("QT_QPA_PLATFORM=offscreen");
    return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts)
{
    std::vector<char*> list;
    for (std::string& text : texts)
        list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

class Render final : public FileCommand {
public:
    Render()
        : FileCommand("render", "Draws the pages of the window into picture files, without a screen")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        app.add_option("-o,--output", m_directory, "Directory for the pictures; made if missing")
            ->required()
            ->type_name("DIR");
        app.add_option("--page", m_page, "Only this page; else every page")->type_name("PAGE");
        app.add_option("--size", m_size, "Size of a picture in pixels (default 1280x800)")->type_name("WxH");
        app.add_option("--theme", m_theme, "light or dark")->type_name("THEME");
        app.add_option("--scale", m_scale, "Device pixel ratio, 1 to 4 (default 1)")->type_name("N");
        app.add_option("--change", m_changes,
               "What the page whatif is asked, as strata whatif takes it; may be repeated")
            ->type_name("KIND=VALUE")
            ->allow_extra_args(false);
        app.add_option("--table", m_table,
               "What stands below the picture of the page whatif: alternatives, peaks, cards, blocks, plan "
               "or "
               "confirm")
            ->type_name("TABLE");
        app.add_flag("--svg", m_svg, "Draws curves and the flame graph as SVG too");
        app.footer("\nRuns strata-gui, which must lie beside strata.\n" + footer(Footer::ExitCodes));
    }

    model::Result<void> checkOptions() override
    {
        if (!m_size.empty() && !isSize(m_size))
            return wrongUsage(model::say("--size does not understand '%1'", m_size),
                model::say("give WIDTHxHEIGHT, for example 1920x1080"));
        if (!m_theme.empty() && m_theme != "light" && m_theme != "dark")
            return wrongUsage(
                model::say("--theme does not know '%1'", m_theme), model::say("give light or dark"));
        if (m_scale < 1 || m_scale > 4)
            return wrongUsage(model::say("--scale cannot be %1", m_scale), model::say("give 1 to 4"));
        return {};
    }

    model::Result<int> runOn(const std::string& file, Output&, Output&) override
    {
        const std::filesystem::path program = windowProgram();
        if (program.empty())
            return model::fail(model::Error::Kind::Unreadable,
                model::say("strata-gui, which draws the pages, is not beside strata"),
                model::say("install or build it (it needs Qt 6); the other commands work without it"));

        std::vector<std::string> arguments = windowArguments(program.string(), file);
        std::vector<std::string> environment = windowEnvironment();
        pid_t child = 0;
        const int failure = posix_spawn(&child, program.c_str(), nullptr, nullptr, pointers(arguments).data(),
            pointers(environment).data());
        if (failure != 0)
            return model::fail(model::Error::Kind::Unreadable,
                model::say("%1 does not start (%2)", program, std::strerror(failure)),
                model::say("install it again"));
        int status = 0;
        while (waitpid(child, &status, 0) < 0) {
            if (errno != EINTR)
                return model::fail(model::Error::Kind::Unreadable,
                    model::say("strata-gui was lost (%1)", std::strerror(errno)), model::say("try again"));
        }
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        return model::fail(model::Error::Kind::Unreadable,
            model::say("strata-gui was stopped by signal %1", WTERMSIG(status)),
            model::say("please report this as a bug"));
    }

private:
    [[nodiscard]] std::vector<std::string> windowArguments(
        const std::string& program, const std::string& file) const
    {
        std::vector<std::string> arguments{ program, "--render", m_directory };
        const auto add = [&](const char* option, const std::string& value) {
            if (!value.empty()) {
                arguments.emplace_back(option);
                arguments.push_back(value);
            }
        };
        add("--page", m_page);
        add("--size", m_size);
        add("--theme", m_theme);
        for (const std::string& change : m_changes)
            add("--change", change);
        add("--table", m_table);
        add("--scale", m_scale == 1 ? std::string() : std::to_string(m_scale));
        if (m_svg)
            arguments.emplace_back("--svg");
        arguments.push_back(file.starts_with("-") ? "./" + file : file);
        return arguments;
    }

    std::string m_directory;
    std::string m_page; // empty: every page
    std::vector<std::string> m_changes;
    std::string m_table; // empty: the first
    std::string m_size; // "1280x800"
    std::string m_theme; // empty: as the window has it
    int m_scale = 1;
    bool m_svg = false;
};

} // namespace

std::unique_ptr<Command> makeRender()
{
    return std::make_unique<Render>();
}

} // namespace strata::cli
