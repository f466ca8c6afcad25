// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/device_data.h"

#include <map>
#include <memory>
#include <string>

namespace strata::test {

/// What a Document derives from a device of a session, all of it, on the calling thread: for tests and
/// benchmarks of widgets that need no document.
[[nodiscard]] std::shared_ptr<const views::DeviceData> makeDeviceData(
    const std::shared_ptr<const model::Session>& session, int device);

/// The same of a recording's default device.
[[nodiscard]] std::shared_ptr<const views::DeviceData> makeDeviceData(
    std::unique_ptr<model::Recording> recording);

/// The lines that have a colour of their own, with it.
[[nodiscard]] std::map<std::string, int> colouredNames(const views::DeviceData& device);

} // namespace strata::test
