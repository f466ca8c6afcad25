// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/launch.h"

#include "capture/inject/variables.h"

#include <string_view>
#include <unistd.h>

namespace strata::cli {

model::Result<bool> parseWithCommand(CLI::App& app, int argc, const char* const* argv,
    const std::string& example, std::string& help, std::vector<std::string>& command)
{
    using model::Error;
    int split = 1;
    while (split < argc && std::string_view(argv[split]) != "--")
        ++split;
    try {
        app.parse(split, argv);
    } catch (const CLI::CallForHelp&) {
        help = app.help(app.get_name());
        return false;
    } catch (const CLI::ParseError& error) {
        const std::string what = error.what();
        const bool isCommand = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)
            && what.find(": -") == what.npos;
        return model::fail(Error::Kind::Usage, what,
            isCommand ? "a command goes behind --, as in " + example : app.get_name() + " --help");
    }
    for (int i = split + 1; i < argc; ++i)
        command.emplace_back(argv[i]);
    if (command.empty())
        return model::fail(Error::Kind::Usage, "no command", "put it behind --, as in " + example);
    return true;
}

std::filesystem::path libraryFolder()
{
    std::error_code error;
    const auto prefix = std::filesystem::read_symlink("/proc/self/exe", error).parent_path().parent_path();
    for (const char* lib : { "lib", "lib64", "lib/x86_64-linux-gnu" })
        if (std::filesystem::exists(prefix / lib / "strata", error))
            return prefix / lib / "strata";
    return prefix / "lib" / "strata";
}

std::set<std::string> hookVersions()
{
    constexpr std::string_view kPrefix = "libstrata_torch";
    std::set<std::string> versions;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(libraryFolder(), error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kPrefix))
            versions.insert(name.substr(kPrefix.size(), name.find('-') - kPrefix.size()));
    }
    return versions;
}

bool hasHook(const simgpu::LibTorch& torch)
{
    const std::set<std::string> versions = hookVersions();
    if (torch.version.empty())
        return !versions.empty();
    return versions.contains(torch.version.substr(0, torch.version.find('.', torch.version.find('.') + 1)));
}

void addRecorder(const std::string& file, const std::string& stacks, simgpu::Variables& variables)
{
    const std::filesystem::path libraries = libraryFolder();
    variables.emplace_back(inject::kFileVariable, file);
    variables.emplace_back(inject::kAgentVariable, (libraries / "libstrata_capture.so").string());
    variables.emplace_back(inject::kScriptVariable, (libraries / "record_start.py").string());
    variables.emplace_back(inject::kStacksVariable, stacks);
}

simgpu::Settings settingsOf(const Card& card, std::optional<std::int64_t> capacityBytes, int devices)
{
    simgpu::Settings settings;
    settings.devices = devices;
    settings.name = card.product;
    settings.capacityBytes = static_cast<std::uint64_t>(capacityBytes.value_or(card.capacityBytes));
    settings.computeMajor = card.computeMajor;
    settings.computeMinor = card.computeMinor;
    settings.multiprocessors = card.multiprocessors;
    settings.l2Bytes = static_cast<std::uint64_t>(card.l2Bytes);
    settings.memoryBusBits = card.memoryBusBits;
    return settings;
}

void become(const std::filesystem::path& executable, const std::vector<std::string>& command)
{
    std::vector<char*> arguments;
    for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(executable.c_str(), arguments.data());
    _exit(127);
}

} // namespace strata::cli
