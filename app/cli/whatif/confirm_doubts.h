// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/whatif/confirm.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::cli {

/// How far reserved peaks may be apart that calls confirm: a share.
inline constexpr double kMostReservedOff = 0.015;

/// How the unchanged run differs from the recording, and why as far as events show it. Empty: in nothing.
[[nodiscard]] std::string noteOf(
    const ConfirmAsked& asked, const ConfirmAsked::Device& device, const model::PeakFigures& unchanged);

/// Whether calls confirm what is requested: they request as much as was recorded.
[[nodiscard]] bool isRequestedConfirmedBy(
    const model::PeakFigures& recorded, const model::PeakFigures& unchanged);
/// Whether they confirm the reserved peak, too: it depends on what came before the step as well.
[[nodiscard]] bool isConfirmedBy(const model::PeakFigures& recorded, const model::PeakFigures& unchanged);

/// Takes confirmations back where other peaks, by device, are as likely and differ. `why` names what decides
/// between them.
void holdAgainst(const std::vector<model::PeakFigures>& other, double mostReservedApart, std::string_view why,
    std::vector<model::Confirmation>& confirmed);
/// Takes confirmations back where the program held so many bytes before it trained that no call makes.
void holdAgainst(std::int64_t otherBytes, std::vector<model::Confirmation>& confirmed);

} // namespace strata::cli
