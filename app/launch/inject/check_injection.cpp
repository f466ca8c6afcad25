// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/inject/check_injection.h"

#include "app/launch/hook_at_hand.h"
#include "app/launch/inject/process_image.h"
#include "app/launch/inject/process_status.h"
#include "app/launch/libraries.h"
#include "capture/agent/entry/injected.h"
#include "model/live/link_address.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace strata::launch {

namespace {

namespace fs = std::filesystem;
using model::Error;
using model::Result;

constexpr const char* kRecorder = "libstrata_capture.so";
constexpr const char* kAllocator = "libc10_cuda.so";

Result<void> isThere(pid_t process, const ProcessStatus& status, InjectionPurpose purpose)
{
    if (!status.isThere())
        return model::fail(Error::Kind::NotFound, model::say("there is no process %1", process),
            model::say("ps shows those that run"));
    if (status.state == 'Z' || status.state == 'X')
        return model::fail(
            Error::Kind::NotFound, model::say("process %1 has ended", process), model::say("start it again"));
    if (process == getpid())
        return model::fail(Error::Kind::Usage, model::say("process %1 is this strata", process),
            model::say("name the one that trains"));
    if (purpose == InjectionPurpose::Record && model::findAddress(std::to_string(process)))
        return model::fail(Error::Kind::Refused, model::say("process %1 is recorded already", process),
            model::say("watch it: strata attach %1", process));
    return {};
}

Result<void> mayBeTouched(pid_t process, const ProcessStatus& status)
{
    if (status.owner != geteuid() && geteuid() != 0)
        return model::fail(Error::Kind::Refused, model::say("process %1 belongs to another user", process),
            model::say("its user and root can: sudo strata attach --inject %1", process));
    if (status.tracer != 0)
        return model::fail(Error::Kind::Refused,
            model::say(
                "process %1 is in the hands of process %2, a debugger or strace", process, status.tracer),
            model::say("end that first"));
    if (status.state == 'T' || status.state == 't')
        return model::fail(Error::Kind::Refused, model::say("process %1 is stopped", process),
            model::say("let it go on: kill -CONT %1", process));
    return {};
}

std::string linkAt(const std::string& path)
{
    std::error_code error;
    return fs::read_symlink(path, error).string();
}

/// What it is told lies where we say: files, and the socket at which it meets us.
Result<void> seesWhatWeSee(pid_t process)
{
    const std::string own = "/proc/self/", its = "/proc/" + std::to_string(process) + "/";
    for (const char* link : { "ns/mnt", "ns/pid", "ns/net", "root" })
        if (linkAt(own + link) != linkAt(its + link))
            return model::fail(Error::Kind::Refused,
                model::say("process %1 runs in a container, or sees other files or networks than this shell",
                    process),
                model::say("install Strata in that container, and run strata attach --inject there"));
    return {};
}

Result<const LoadedFile*> findAllocator(const ProcessImage& image, pid_t process)
{
    if (const LoadedFile* file = image.find(kAllocator))
        return file;
    if (image.find("libc10_hip.so"))
        return model::fail(Error::Kind::NotFound,
            model::say(
                "process %1 has a PyTorch for AMD's GPUs, whose allocator cannot be followed yet", process),
            model::say("record one with a PyTorch for CUDA"));
    if (image.find("libtorch_cpu.so"))
        return model::fail(Error::Kind::NotFound,
            model::say(
                "process %1 has a PyTorch for the CPU alone: there is no GPU memory to record", process),
            model::say("install the CUDA build of PyTorch"));
    return model::fail(Error::Kind::NotFound,
        model::say("process %1 has not loaded PyTorch's libraries for CUDA (libc10_cuda.so)", process),
        model::say("name the process that trains, or try again when it has begun"));
}

/// That it has loaded already, from wherever; else ours.
Result<fs::path> recorderFor(const ProcessImage& image, pid_t process)
{
    for (const char* script : { "record_start.py", "record_roles.py", "patch_imports.py" })
        if (const auto path = libraryAt(script); !path)
            return model::Failure(path.error());
    const LoadedFile* const loaded = image.find(kRecorder);
    if (!loaded)
        return libraryAt(kRecorder);
    if (image.findFunction(*loaded, agent::injected::kEntry))
        return fs::path(loaded->path);
    return model::fail(Error::Kind::Refused,
        model::say("process %1 has the recorder of another Strata, %2", process, loaded->path),
        model::say("start the process again"));
}

std::uint64_t functionOfC(const ProcessImage& image, std::string_view name)
{
    for (const char* library : { "libc.so", "libc-", "libdl.so", "libdl-" })
        if (const LoadedFile* file = image.find(library))
            if (const auto found = image.findFunction(*file, name))
                return *found;
    return 0;
}

Result<InjectionPlaces> findPlaces(const ProcessImage& image, const LoadedFile& allocator, pid_t process)
{
    InjectionPlaces places;
    places.loadLibrary = functionOfC(image, "dlopen");
    places.findSymbol = functionOfC(image, "dlsym");
    places.lastError = functionOfC(image, "dlerror");
    if (places.loadLibrary == 0 || places.findSymbol == 0 || places.lastError == 0)
        return model::fail(Error::Kind::Refused,
            model::say("process %1 has another C library than glibc, which cannot be told to load anything",
                process),
            model::say("start it under strata record --live instead"));
    const auto callPlace = image.findCallPlace(allocator, "cudaGetDevice");
    if (!callPlace)
        return model::fail(Error::Kind::Refused,
            model::say("%1 has the CUDA runtime built in: its calls are not seen", allocator.path),
            model::say("use a PyTorch that links it as a library, as those of PyPI and conda do"));
    places.callPlace = *callPlace;
    places.allocator = allocator;
    return places;
}

/// Gives its version.
Result<std::string> hasHook(const fs::path& folder)
{
    const auto torch = simgpu::readLibTorch(folder);
    if (!torch)
        return model::fail(Error::Kind::NotFound, model::verbatim(torch.error()));
    if (const auto hook = hookFor(*torch); !hook)
        return model::Failure(hook.error());
    return versionOf(*torch);
}

constexpr const char* kScope = "/proc/sys/kernel/yama/ptrace_scope";

std::string ptraceScope()
{
    std::ifstream file(kScope);
    std::string line;
    std::getline(file, line);
    return line;
}

bool mayTrace()
{
    std::ifstream file("/proc/self/status");
    constexpr std::string_view kKey = "CapEff:";
    constexpr int kSysPtrace = 19;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(kKey))
            return (std::strtoull(line.c_str() + kKey.size(), nullptr, 16) >> kSysPtrace & 1) != 0;
    return false;
}

} // namespace

Error whyNoAccess(pid_t process, const std::string& scope, bool isRoot)
{
    const auto refused = [](model::Sentence what, model::Sentence hint) {
        return Error{ Error::Kind::Refused, std::move(what), std::move(hint), {} };
    };
    if (scope == "3")
        return refused(
            model::say("process %1: this system lets nobody into another process (%2 is 3)", process, kScope),
            model::say("start it under strata record --live instead"));
    if (isRoot)
        return refused(
            model::say("process %1: root may not look into it here: CAP_SYS_PTRACE is missing", process),
            model::say("start the container with --cap-add SYS_PTRACE"));
    if (scope == "1" || scope == "2")
        return refused(model::say("process %1: this system lets only root into another process (%2 is %3)",
                           process, kScope, scope),
            scope == "1" ? model::say(
                "sudo strata attach --inject %1, or, until the next start of the system: sudo sysctl "
                "kernel.yama.ptrace_scope=0",
                process)
                         : model::say("sudo strata attach --inject %1", process));
    return refused(model::say("process %1 does not let its user look into it", process),
        model::say("sudo strata attach --inject %1", process));
}

std::string whyNoInjection()
{
#if !defined(__x86_64__)
    return "only processes of x86-64 can be injected into: start them under strata record --live instead";
#endif
    const std::string scope = ptraceScope();
    if (scope == "3")
        return std::string("this system lets nobody into another process (") + kScope
            + " is 3): start programs under strata record --live instead";
    if (mayTrace() || (scope != "1" && scope != "2"))
        return {};
    return std::string("this system lets only root into another process (") + kScope + " is " + scope
        + "): sudo strata attach --inject PID"
        + (scope == "1" ? ", or, until its next start: sudo sysctl kernel.yama.ptrace_scope=0" : "");
}

std::vector<model::Sentence> InjectionPlan::sentences() const
{
    std::vector<model::Sentence> all;
    if (purpose == InjectionPurpose::End) {
        all.push_back(model::say("process %1: %2", process, command));
        all.push_back(
            model::say("Its recording is ended, whoever began it: its threads stand for about a millisecond, "
                       "then the next one that uses CUDA has the recorder do that."));
        return all;
    }
    all.push_back(model::say("process %1: %2, PyTorch %3", process, command,
        torchVersion.empty() ? std::string("?") : torchVersion));
    all.push_back(
        model::say("The recorder is brought into it: its threads stand for about a millisecond, then the "
                   "next one that uses CUDA loads %1, which stays there.",
            recorder.string()));
    all.push_back(model::say(
        "Memory that it has allocated until then is recorded as it stands, without the stacks that "
        "allocated it."));
    return all;
}

namespace {

Result<InjectionPlan> makePlan(pid_t process, const ProcessStatus& status, InjectionPurpose purpose)
{
    if (const auto may = mayBeTouched(process, status); !may)
        return model::Failure(may.error());
    int why = 0;
    const auto image = ProcessImage::open(process, why);
    if (!image)
        return model::Failure(whyNoAccess(process, ptraceScope(), geteuid() == 0));
    if (const auto same = seesWhatWeSee(process); !same)
        return model::Failure(same.error());
    const auto allocator = findAllocator(*image, process);
    if (!allocator)
        return model::Failure(allocator.error());
    if (!image->isOurArchitecture(**allocator))
        return model::fail(Error::Kind::Refused,
            model::say("process %1 is for another processor than this strata", process),
            model::say("use a Strata built for that"));
    if (purpose == InjectionPurpose::End && !image->find(kRecorder))
        return model::fail(Error::Kind::NotFound, model::say("process %1 is not recorded", process),
            model::say("strata list shows those that are and can be watched"));
    InjectionPlan plan;
    plan.purpose = purpose;
    plan.process = process;
    plan.startedAt = status.startedAt;
    plan.owner = status.owner;
    plan.command = commandOf(process);
    plan.isPython = image->find("python") || image->find("libpython");
    const auto places = findPlaces(*image, **allocator, process);
    const auto recorder = recorderFor(*image, process);
    if (!places || !recorder)
        return model::Failure(places ? recorder.error() : places.error());
    plan.places = *places;
    plan.recorder = *recorder;
    if (purpose == InjectionPurpose::End)
        return plan;
    const auto version = hasHook(fs::path((*allocator)->path).parent_path());
    if (!version)
        return model::Failure(version.error());
    plan.torchVersion = *version;
    return plan;
}

} // namespace

Result<InjectionPlan> checkInjection(pid_t process, InjectionPurpose purpose)
{
#if !defined(__x86_64__)
    return model::fail(Error::Kind::Refused, model::say("only processes of x86-64 can be injected into"),
        model::say("start process %1 under strata record --live instead", process));
#endif
    const ProcessStatus status = readStatus(process);
    if (const auto there = isThere(process, status, purpose); !there)
        return model::Failure(there.error());
    auto plan = makePlan(process, status, purpose);
    if (!plan) // it may have ended meanwhile
        if (const auto there = isThere(process, readStatus(process), purpose); !there)
            return model::Failure(there.error());
    return plan;
}

} // namespace strata::launch
