// SPDX-License-Identifier: Apache-2.0
// The library that `strata record` and `strata dryrun` preload. It stands between the program and the calls
// that tell when LibTorch is there, and starts what it was told to: a recording, following peaks and steps
// for a dry run, or both, and Python's side of each. A program that needs a simulated device gets it first.
// Whatever fails here is said once and never ends the program.
#include "capture/dryrun/follow.h"
#include "capture/dryrun/step_work.h"
#include "capture/dryrun/steps.h"
#include "capture/inject/cpp_deep.h"
#include "capture/inject/record.h"
#include "capture/inject/start_again.h"
#include "capture/interpose/cpp_training.h"
#include "capture/interpose/device_asked.h"
#include "capture/interpose/next_function.h"
#include "capture/interpose/process_exit.h"
#include "capture/interpose/python_start.h"

#include <atomic>

namespace strata::interpose {

void onDeviceAsked() noexcept
{
    // The recorder first: its trackers see what ours does.
    inject::recordWhenReady();
    dryrun::followWhenReady();
}

void onImmediateExit() noexcept
{
    inject::keepBeforeExit();
    dryrun::keepWork();
}

void onOptimizerMade(const void* optimizer) noexcept
{
    dryrun::optimizerMade(optimizer);
}

void onOptimizerSteps(const void* optimizer) noexcept
{
    dryrun::optimizerSteps(optimizer);
}

void onOptimizerStepped(const void* optimizer, const char* type) noexcept
{
    inject::optimizerStepped(optimizer, type);
}

void onGradientsZeroed(const void* optimizer) noexcept
{
    dryrun::gradientsZeroed(optimizer);
}

bool onBackward(const Backward& call) noexcept
{
    return inject::goesBackward(call);
}

void onBackwardEnds(Tensors returned) noexcept
{
    inject::goneBackward(returned);
}

void onAutocast(bool enabled) noexcept
{
    inject::autocastSet(enabled);
}

void onGraphUsed() noexcept
{
    inject::graphUsed();
}

} // namespace strata::interpose

// glibc hands a library's constructors what main() gets.
extern "C" __attribute__((constructor)) void strataPreloaded(int, char** arguments, char**)
{
    strata::inject::startAgainWithDevice(arguments);
}

// Python's side knows of a range before the program asks for a device: the recorder is to wait by then.
extern "C" __attribute__((visibility("default"))) void strata_inject_ready()
{
    strata::inject::recordWhenReady();
}

// LibTorch registers its kernels while it is loaded.
extern "C" __attribute__((visibility("default"))) void** __cudaRegisterFatBinary(void* wrapper)
{
    using namespace strata;
    using Register = void** (*)(void*);
    static const auto real = interpose::nextFunction<Register>("__cudaRegisterFatBinary");
    static std::atomic<bool> started{ false };
    if (!started.exchange(true)) {
        // A dry run asks the recorder's script whether it can do without torch's own.
        interpose::startPython(inject::recordScript());
        interpose::startPython(dryrun::startScript());
    }
    return real ? real(wrapper) : nullptr;
}
