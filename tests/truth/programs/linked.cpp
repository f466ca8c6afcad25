// SPDX-License-Identifier: GPL-3.0-or-later
// Beside any other source: that program records itself from before main() on, into $STRATA_TEST_SESSION.
#include <cstdlib>
#include <strata/capture.h>

namespace {

strata::capture::Options options()
{
    const char* const file = std::getenv("STRATA_TEST_SESSION");
    strata::capture::Options options;
    options.file = file ? file : "";
    options.existing = strata::capture::Existing::Replace;
    return options;
}

const strata::capture::Recording g_recording(options());

} // namespace
