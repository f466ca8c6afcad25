// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "model/base/ids.h"
#include "model/base/result.h"
#include "model/session/opener.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// Opens a recording for figures alone: without the notes that lie beside it.
[[nodiscard]] model::Result<model::Opener> openFile(const std::string& file, bool force);
/// Reads all of it; shows on `err` how far it is, where that is a terminal and it takes long.
[[nodiscard]] model::Result<std::shared_ptr<const model::Session>> readAll(
    model::Opener& opener, Output& err);

/// Why a recording is not complete, and what its figures are of; in sentences.
[[nodiscard]] std::string whatIsMissing(const model::Truncation& truncation);

/// Opens a recording with its notes and reads all of it, as readAll() does; says on `err` if it is not
/// complete.
[[nodiscard]] model::Result<std::shared_ptr<const model::Session>> openSession(
    const std::string& file, bool force, Output& err);

/// The device that was asked for, else the default one. Error::Kind::Usage names those that exist.
[[nodiscard]] model::Result<const model::DeviceTrace*> chooseDevice(
    const model::Session& session, std::optional<int> device);

/// A recording that was opened for one device of it.
struct OpenTrace {
    std::shared_ptr<const model::Session> session; ///< keeps the trace alive
    const model::DeviceTrace* trace = nullptr;
};
/// openSession() and chooseDevice(), as the options say.
[[nodiscard]] model::Result<OpenTrace> openTrace(
    const std::string& file, const ReadOptions& read, Output& err);

/// The device that was asked for, else all of them.
[[nodiscard]] model::Result<std::vector<const model::DeviceTrace*>> chooseDevices(
    const model::Session& session, std::optional<int> device);

/// First and last event whose states (or which themselves) are asked for.
struct EventRange {
    model::EventIndex from = -1;
    model::EventIndex to = -1;
};

/// The range of --from and --to: the whole trace where neither is given.
[[nodiscard]] model::Result<EventRange> parseRange(
    const model::DeviceTrace& trace, const RangeOptions& asked);

/// "GPU 0".
[[nodiscard]] std::string deviceName(int device);

/// "event 41,207 (12.384 s)", "before the first event".
[[nodiscard]] std::string momentName(const model::DeviceTrace& trace, model::EventIndex event);
/// The same from what is known of the event: its time, and that of the first one, where there are times.
[[nodiscard]] std::string momentName(model::EventIndex event, std::int64_t events,
    std::optional<std::int64_t> timeNs, std::optional<std::int64_t> firstTimeNs);
/// The state that an event leads to: "after event 3 (...)", "before the first event".
[[nodiscard]] std::string stateName(const model::DeviceTrace& trace, model::EventIndex event);

} // namespace strata::cli
