// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

extern char** environ;

namespace strata::cli {

namespace {

constexpr int kLargest = 16384;

model::Failure usage(std::string what, std::string hint)
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

std::vector<std::string> windowArguments(
    const std::string& program, const std::string& file, const Options& options)
{
    std::vector<std::string> arguments{ program, "--render", options.outputDirectory };
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty()) {
            arguments.emplace_back(option);
            arguments.push_back(value);
        }
    };
    add("--page", options.page);
    add("--size", options.size);
    add("--theme", options.theme);
    add("--scale", options.scale == 1 ? std::string() : std::to_string(options.scale));
    if (options.svg)
        arguments.emplace_back("--svg");
    arguments.push_back(file.starts_with("-") ? "./" + file : file);
    return arguments;
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

} // namespace

model::Result<int> runRender(const std::string& file, const Options& options, Output&, Output&)
{
    if (!options.size.empty() && !isSize(options.size))
        return usage(fmt::format("--size does not understand '{}'", options.size),
            "give WIDTHxHEIGHT, for example 1920x1080");
    if (!options.theme.empty() && options.theme != "light" && options.theme != "dark")
        return usage(fmt::format("--theme does not know '{}'", options.theme), "give light or dark");
    if (options.scale < 1 || options.scale > 4)
        return usage(fmt::format("--scale cannot be {}", options.scale), "give 1 to 4");
    const std::filesystem::path program = windowProgram();
    if (program.empty())
        return model::fail(model::Error::Kind::Unreadable,
            "strata-gui, which draws the pages, is not beside strata",
            "install or build it (it needs Qt 6); the other commands work without it");

    std::vector<std::string> arguments = windowArguments(program.string(), file, options);
    std::vector<std::string> environment = windowEnvironment();
    pid_t child = 0;
    const int failure = posix_spawn(
        &child, program.c_str(), nullptr, nullptr, pointers(arguments).data(), pointers(environment).data());
    if (failure != 0)
        return model::fail(model::Error::Kind::Unreadable,
            fmt::format("{} does not start ({})", program.string(), std::strerror(failure)),
            "install it again");
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return model::fail(model::Error::Kind::Unreadable,
                fmt::format("strata-gui was lost ({})", std::strerror(errno)), "try again");
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    return model::fail(model::Error::Kind::Unreadable,
        fmt::format("strata-gui was stopped by signal {}", WTERMSIG(status)), "please report this as a bug");
}

} // namespace strata::cli
