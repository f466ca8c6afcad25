// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/diagnosis.h"

#include "app/launch/command.h"
#include "app/launch/hook_at_hand.h"
#include "app/launch/inject/check_injection.h"
#include "app/launch/libraries.h"
#include "app/launch/simulated_card.h"
#include "capture/agent/stacks/python_layout.h"
#include "capture/hook_maker/compile.h"
#include "model/base/words.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace strata::launch {

namespace {

using Answer = Ability::Answer;
using model::Result;

constexpr const char* kPythonFacts = "import platform, sysconfig\n"
                                     "print(platform.python_implementation())\n"
                                     "print(platform.python_version())\n"
                                     "print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)\n";

/// Why stacks of this Python are not read; empty where they are. Fills in what it is.
std::string whyNoPythonStacks(const Command& command, Diagnosis& diagnosis)
{
    const std::string python = command.program.interpreter.string();
    if (python.empty())
        return "the command is no Python: a program of C++ has stacks of C++; of a script name the Python "
               "that it starts";
    diagnosis.python = python;
    const hook::ToolRun run = hook::runTool({ python, "-c", kPythonFacts });
    std::istringstream lines(run.output);
    std::string kind, version, withoutLock;
    lines >> kind >> version >> withoutLock;
    diagnosis.pythonVersion = kind + " " + version;
    if (kind == "CPython" && withoutLock == "0" && agent::pythonLayout(version))
        return {};
    return diagnosis.pythonVersion + (withoutLock == "1" ? " without the global lock" : "")
        + " keeps its frames where they are not read: use CPython 3.10 to 3.14, or take stacks of C++ "
          "(--stacks native)";
}

/// Everything that is preloaded or started is there.
Result<void> haveParts(const std::vector<std::string>& names)
{
    for (const std::string& name : names) {
        if (const auto path = preloadable(name); !path)
            return model::Failure(path.error());
    }
    return {};
}

Result<void> canDryRun(const Command& command)
{
    if (const auto parts = haveParts({ kPreloaded, "dryrun_start.py", "patch_imports.py" }); !parts)
        return parts;
    if (const auto device = deviceFor(command, {}, libraryFolder() / kPreloaded); !device)
        return model::Failure(device.error());
    return {};
}

/// Gives the hook; none for a command that starts who knows what: the recorder sees to it there.
Result<std::filesystem::path> canRecord(const Command& command)
{
    if (const auto parts = haveParts(
            { kPreloaded, "libstrata_capture.so", "record_start.py", "record_roles.py", "patch_imports.py" });
        !parts)
        return model::Failure(parts.error());
    if (command.torch)
        return hookFor(*command.torch);
    if (command.isCertain())
        return model::fail(model::Error::Kind::NotFound, model::verbatim(command.whyNoTorch));
    return std::filesystem::path();
}

Ability no(std::string id, std::string name, std::string why)
{
    return { std::move(id), std::move(name), Answer::No, std::move(why) };
}

/// On a GPU, or on a simulated one: `why` and `whyNotSimulated` are empty where that works.
Ability recording(std::string id, std::string name, const std::string& why,
    const std::string& whyNotSimulated, const Diagnosis& diagnosis)
{
    if (!why.empty())
        return no(std::move(id), std::move(name), why);
    if (diagnosis.gpus.whyNone.empty())
        return { std::move(id), std::move(name), Answer::Yes, {} };
    if (!whyNotSimulated.empty())
        return no(std::move(id), std::move(name),
            diagnosis.gpus.whyNone + "; on a simulated one: " + whyNotSimulated);
    return { std::move(id), std::move(name), Answer::Simulated,
        diagnosis.gpus.whyNone + "; strata record --simulated A100-80GB records on a simulated one" };
}

Ability driverReadings(const Diagnosis& diagnosis)
{
    const std::string& why = diagnosis.gpus.whyNoReadings;
    return { "driver_readings", "what the driver says is in use", why.empty() ? Answer::Yes : Answer::No,
        why };
}

constexpr const char* kGeneralConf = "PYTORCH_ALLOC_CONF";
constexpr const char* kCudaConf = "PYTORCH_CUDA_ALLOC_CONF";

constexpr const char* kAllocatorFacts
    = "import torch\n"
      "torch.cuda.init()\n"
      "s = torch.cuda.memory._snapshot()['allocator_settings']\n"
      "print('strata=' + str(s.get('PYTORCH_CUDA_ALLOC_CONF') or s.get('PYTORCH_ALLOC_CONF') or ''))\n";

constexpr const char* kLongestProbe = "60"; // seconds; some 4 on 2 cores

/// What PyTorch makes of the environment: asked of itself in a dry run, seconds. None where it does not run.
std::optional<std::string> settingsMade(const Command& command)
{
    if (command.program.interpreter.empty())
        return std::nullopt;
    const hook::ToolRun run = hook::runTool({ "timeout", kLongestProbe, (programFolder() / "strata").string(),
        "dryrun", "--", command.program.interpreter.string(), "-c", kAllocatorFacts });
    constexpr std::string_view kMark = "strata=";
    const auto at = run.output.rfind(kMark);
    if (!run.done || at == run.output.npos)
        return std::nullopt;
    const std::string rest = run.output.substr(at + kMark.size());
    return rest.substr(0, rest.find('\n'));
}

std::optional<std::string> environmentOf(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

void examineAllocator(const Command& command, Diagnosis& diagnosis)
{
    const auto general = environmentOf(kGeneralConf), cuda = environmentOf(kCudaConf);
    if ((general || cuda) && command.torch)
        diagnosis.allocator
            = allocatorEnvironment(general, cuda, settingsMade(command), diagnosis.torchVersion);
}

void examine(const Command& command, Diagnosis& diagnosis)
{
    diagnosis.program = command.program.executable.string();
    if (command.torch) {
        diagnosis.torchVersion = versionOf(*command.torch);
        diagnosis.torchFolder = command.torch->folder.string();
    }
    examineAllocator(command, diagnosis);
    const std::string noPythonStacks = whyNoPythonStacks(command, diagnosis);
    const auto dryRun = canDryRun(command);
    const auto hook = canRecord(command);
    if (hook)
        diagnosis.hook = hook->string();
    const std::string noRecord = hook ? std::string() : hook.error().text();
    const std::string noDryRun = dryRun ? std::string() : dryRun.error().text();
    const std::string guessed
        = command.isCertain() ? "" : "with the PyTorch of whatever the command starts, found as that begins";
    diagnosis.abilities = {
        dryRun ? Ability{ "dry_run", "dry run", Answer::Yes, guessed } : no("dry_run", "dry run", noDryRun),
        recording("record_python_stacks", "record, with stacks of Python", hook ? noPythonStacks : noRecord,
            noDryRun, diagnosis),
        recording("record_native_stacks", "record, with stacks of C++", noRecord, noDryRun, diagnosis),
        recording("kernels", "record kernels and operators too", noRecord, noDryRun, diagnosis),
        driverReadings(diagnosis),
    };
}

/// Of processes that run: what the command loads is what they have loaded.
void addRunning(Diagnosis& diagnosis)
{
    diagnosis.abilities.push_back({ "attach", "watch a program that is recorded", Answer::Yes, {} });
    const auto recorded = std::ranges::find(diagnosis.abilities, "record_native_stacks", &Ability::id);
    const std::string why = recorded != diagnosis.abilities.end() && recorded->answer == Answer::No
        ? recorded->remark
        : whyNoInjection();
    diagnosis.abilities.push_back(
        { "inject", "record a program that runs already", why.empty() ? Answer::Yes : Answer::No, why });
}

} // namespace

std::string_view answerWord(Answer answer)
{
    switch (answer) {
    case Answer::Yes:
        return "yes";
    case Answer::Simulated:
        return "simulated";
    case Answer::No:
        break;
    }
    return "no";
}

AllocatorEnvironment allocatorEnvironment(const std::optional<std::string>& generalConf,
    const std::optional<std::string>& cudaConf, const std::optional<std::string>& made,
    const std::string& torch)
{
    AllocatorEnvironment out;
    if (generalConf)
        out.asked.push_back(std::string(kGeneralConf) + "=" + *generalConf);
    if (cudaConf)
        out.asked.push_back(std::string(kCudaConf) + "=" + *cudaConf);
    const std::string version = "torch " + torch;
    if (!made) {
        out.warning = version + " does not say which settings it uses";
        return out;
    }
    out.tookEffect = *made;
    const bool usesGeneral = generalConf == made, usesCuda = cudaConf == made;
    const std::string instead = std::string(": use ") + kCudaConf + ", which works in every version";
    if (generalConf && cudaConf)
        out.warning = std::string(kGeneralConf) + " and " + kCudaConf + " are both set: "
            + (usesGeneral && usesCuda ? std::string("keep one of them")
                    : usesGeneral      ? version + " uses " + kGeneralConf
                    : usesCuda         ? version + " uses " + kCudaConf
                                       : version + " uses neither");
    else if (generalConf && !usesGeneral)
        out.warning = version + " ignores " + kGeneralConf + instead;
    else if (cudaConf && !usesCuda)
        out.warning = version + " does not use " + kCudaConf + " as it is set";
    return out;
}

bool Diagnosis::isOfUse() const
{
    return std::any_of(abilities.begin(), abilities.end(), [](const Ability& ability) {
        return (ability.id == "dry_run" || ability.id.starts_with("record_"))
            && (ability.answer == Answer::Yes || ability.answer == Answer::Simulated);
    });
}

Diagnosis diagnose(std::vector<std::string> words)
{
    Diagnosis diagnosis;
    if (words.empty())
        words = { simgpu::findProgram("python") ? "python" : "python3" };
    diagnosis.command = words;
    diagnosis.gpus = findGpus();
    if (const auto command = findCommand(words); command)
        examine(*command, diagnosis);
    else {
        const std::string why = command.error().text();
        diagnosis.abilities = { no("dry_run", "dry run", why),
            no("record_python_stacks", "record, with stacks of Python", why),
            no("record_native_stacks", "record, with stacks of C++", why), driverReadings(diagnosis) };
    }
    addRunning(diagnosis);
    return diagnosis;
}

} // namespace strata::launch
