// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/tensor_placing.h"
#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/roles.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace strata::model {

class ListedTensors;

/// Those of an earlier generation of a trace; by itself none.
struct EarlierTensors {
    const DeviceTrace* trace = nullptr;
    const ListedTensors* listed = nullptr;
};

/// Which blocks of a device hold the tensors that its program told of (RoleListings): the live block that
/// contains the address of a listing after as many events as it says. A listing stands until it is replaced,
/// and each Stepped of its optimizer says it again, so that a gradient freed and made anew at the same
/// address is found in its new block:
///
///     events    | a0 ........ f0 | a1 ........ f1 |          blocks at one address
///     listings       ^ gradient         ^ Stepped           both blocks hold that gradient
///
/// Built in one pass over the events, in which only blocks that lie over a listed address are followed;
/// immutable. 8 bytes a tensor and block, which may be as many as four an event: what steps say again beyond
/// that, as no program does, is left out. O(events + listings), times a logarithm; of a trace that grew, of
/// those that are new, and O(blocks) once where they name new addresses.
class ListedTensors {
public:
    using Placed = PlacedTensor;

    ListedTensors() = default;
    /// Keeps a pointer to listings of the recording. Goes on from what was known of `earlier` where that
    /// leads to the same as all from the beginning; copies what it takes of it. Fails only when cancelled.
    [[nodiscard]] static Result<ListedTensors> of(
        const DeviceTrace& trace, const Progress& progress = {}, const EarlierTensors& earlier = {});

    /// By block, then in the order in which they were found there: one row for each tensor and block.
    [[nodiscard]] std::span<const Placed> all() const { return m_placed; }
    [[nodiscard]] std::span<const Placed> in(BlockId block) const; ///< O(log)
    [[nodiscard]] const RoleListing& listing(const Placed& placed) const { return (*m_rows)[placed.row]; }
    [[nodiscard]] const RoleListings::Rows& listings() const { return *m_rows; }

    [[nodiscard]] bool has(wire::RoleKind kind) const
    {
        return (m_kinds & (1U << static_cast<unsigned>(kind))) != 0;
    }
    /// How many events came before the last Stepped; -1: there is none.
    [[nodiscard]] EventIndex lastStepped() const { return m_lastStepped; }

    /// The first event that was looked at for it: 0, or where it went on from an earlier one.
    [[nodiscard]] EventIndex begun() const { return m_begun; }
    [[nodiscard]] std::size_t bytesResident() const;

private:
    struct Known;
    static const RoleListings::Rows kNone;

    [[nodiscard]] bool mayGoOnFrom(const DeviceTrace& trace, const EarlierTensors& earlier) const;

    const RoleListings::Rows* m_rows = &kNone;
    std::vector<Placed> m_placed;
    std::shared_ptr<const Known> m_known; // none where nothing can go on from it
    unsigned m_kinds = 0; // bits of kinds that were found in a block, and of Stepped
    EventIndex m_lastStepped = -1, m_begun = 0;
};

} // namespace strata::model
