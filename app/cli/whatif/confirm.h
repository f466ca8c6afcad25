// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/plan/whatif_report.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// A program that is run, twice, to know what its changes come to.
struct ConfirmAsked {
    struct Device {
        const model::DeviceTrace* trace = nullptr;
        model::PeakFigures recorded;
        model::EventIndex firstStep = 0; ///< where its first training step begins; 0: not known
        model::EventIndex stepWithin = 0; ///< model::CallsAsked
    };

    std::vector<std::string> command; ///< with {BATCH} where the items of the batch stand, and {SEQUENCE}
                                      ///< where the length of sequences does; empty: the recording's calls
                                      ///< are made again, without the program
    std::string python = "python3"; ///< whose torch makes the calls
    int steps = 0; ///< 0: until it ends
    std::string card; ///< of the catalogue; empty: that of the recording
    /// Of the same program with another batch: calls tell by two what follows it.
    struct Other {
        const model::DeviceTrace* trace = nullptr;
        model::EventIndex firstStep = 0;
        std::optional<std::int64_t> items;
    };
    std::vector<Other> others;
    std::vector<Device> devices; ///< what it is held against, of one recording; one at least
    std::optional<std::int64_t> batchBefore, batchAfter; ///< items; none: nobody told
    std::optional<std::int64_t> sequenceBefore, sequenceAfter; ///< lengths; none: nobody told
    std::string output; ///< where the recording of the changed run goes, .strata or .pickle; empty: nowhere
    std::string settings; ///< of the allocator, as they were recorded
    std::optional<std::int64_t> capacityBytes; ///< of the card, as it was recorded
};

/// Runs of one program or of its calls under several scenarios; unchanged it runs once. Errors as confirm().
class Confirming {
public:
    [[nodiscard]] static model::Result<Confirming> of(const ConfirmAsked& asked);
    ~Confirming();
    Confirming(Confirming&&) noexcept;
    Confirming& operator=(Confirming&&) = delete;

    [[nodiscard]] model::Result<std::vector<model::Confirmation>> with(const model::Scenario& scenario);

private:
    struct Parts;
    explicit Confirming(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> m_parts;
};

/// Runs the command as it was recorded and as the scenario has it, on simulated cards of the recording's
/// kind and capacity; by device, in the order asked for. What the program prints goes to stderr, and how far
/// it is. Nothing that stands in the recording is run: calls are made of operators on a list of ours, in a
/// child with limits of time and memory. Fails with Usage (what is missing in the command, a
/// card that nobody knows), NotFound (the program failed, or the change met nothing in it), Refused
/// (the recording has no calls that can be made again, or they do not tell this change), Cancelled.
[[nodiscard]] model::Result<std::vector<model::Confirmation>> confirm(
    const ConfirmAsked& asked, const model::Scenario& scenario);

} // namespace strata::cli
