// SPDX-License-Identifier: Apache-2.0
// A program that marks its steps says so to the recorder that it links; a dry run hears of them on the way.
#include "capture/dryrun/steps.h"
#include "strata/capture_c.h"

#include <dlfcn.h>

namespace {

using Annotate = void (*)(int, const char*);

/// The recorder's own; what is loaded out of sight is found by its handle alone.
Annotate recorders()
{
    constexpr const char* kName = "strata_capture_annotate";
    if (void* found = dlsym(RTLD_NEXT, kName))
        return reinterpret_cast<Annotate>(found);
    void* const library = dlopen("libstrata_capture.so", RTLD_LAZY | RTLD_NOLOAD);
    return library ? reinterpret_cast<Annotate>(dlsym(library, kName)) : nullptr;
}

} // namespace

void strata_capture_annotate(int kind, const char* name)
{
    static const Annotate real = recorders();
    if (name && kind == STRATA_CAPTURE_BEGIN)
        strata::dryrun::rangeBegins(name);
    if (real)
        real(kind, name);
    // The recording has the end of the step that the program ends with.
    if (name && kind == STRATA_CAPTURE_END)
        strata::dryrun::rangeEnds(name);
}
