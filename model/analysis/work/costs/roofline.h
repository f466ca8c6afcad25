// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/costs/operator_cost.h"
#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/device/intervals.h"
#include "model/base/sentence.h"
#include "model/trace/strings.h"
#include "model/trace/work.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// A call of an operator that launched work itself.
struct LaunchedCall {
    std::uint32_t call = 0; ///< row of Work::spans
    std::vector<std::uint32_t> work; ///< what it launched, in the file's order: likewise
    std::int64_t firstNs = 0; ///< when the first of that began
    std::int64_t deviceNs = 0; ///< of all of it: streams are added up
    std::optional<OperatorCost> cost; ///< nullopt: not known
};

/// Why there is nothing that could be put to a roofline, or no more.
enum class RooflineLack : std::uint8_t {
    None,
    Work, ///< no kernels of a device
    Shapes, ///< sizes were not recorded
    Costs, ///< none of the operators is known
    Card, ///< the device is none whose peaks are known: figures, and no roof
};
[[nodiscard]] std::string_view rooflineLackWord(RooflineLack lack); ///< "shapes"

/// Calls of an operator with the same sizes and types. FLOPs are those that were done (OperatorCost), bytes
/// those of each operand and result once, from memory: what L2 held was faster.
struct RooflineRow {
    StringId name, shapes; ///< shapes: the JSON text of the file; "": not recorded
    NumberType type = NumberType::Other; ///< whose roof it stands under: TF32 where a kernel's name tells it
    CostKind kind = CostKind::View; ///< of those that are known
    bool isKnown = false;
    std::int64_t calls = 0;
    std::int64_t deviceNs = 0; ///< of what it launched itself: streams are added up
    double flops = 0, doneFlops = 0; ///< as torch's counter has them; as they were done
    double bytes = 0;
    double leastNs = 0; ///< a bound that is never above deviceNs; 0: no card
    double roofNs = 0; ///< at the card's peaks, with all bytes from memory: rooflineNs()
    std::vector<std::uint32_t> work; ///< what it launched: rows of Work::spans

    /// FLOPs a second; bytes a second; FLOPs for a byte. 0: there are none.
    [[nodiscard]] double flopRate() const;
    [[nodiscard]] double byteRate() const;
    [[nodiscard]] double intensity() const;
};

/// What operators make of the busiest device: by rows, longest device time first.
struct Roofline {
    RooflineLack lack = RooflineLack::Work;
    std::optional<int> device;
    std::string deviceName; ///< as the trace has it; empty: it does not tell it
    const Card* card = nullptr; ///< nullptr: it is not in the catalogue
    std::int64_t spanNs = 0; ///< the range, else from the device's first start to its last end
    /// Kernels, sets and copies within the device, added up, by whether their operators' costs are known.
    /// Kernels of communication and copies to and from elsewhere are `elsewhereNs`: no roof of the device's
    /// is theirs.
    std::int64_t workNs = 0, knownNs = 0, elsewhereNs = 0;
    /// Of what is not known: launched by no operator, as from graphs; without sizes; of an operator that is
    /// not known.
    std::int64_t noOperatorNs = 0, noShapesNs = 0, unknownNs = 0;
    std::int64_t knownCalls = 0, unknownCalls = 0;
    double flops = 0, doneFlops = 0, bytes = 0, leastNs = 0;
    /// What share of the span the device would need at its peaks for all FLOPs as torch's counter has them:
    /// FLOPs / (span x peak). What was recomputed counts as often as it ran. nullopt: no card, or no FLOPs.
    std::optional<double> utilisation;
    std::vector<RooflineRow> rows;

    /// Whether computing limits a row, by the ridge of its type; nullopt: it is not known.
    [[nodiscard]] std::optional<bool> isComputeBound(const RooflineRow& row) const;
    [[nodiscard]] std::string_view boundWord(const RooflineRow& row) const; ///< "compute", "memory"; or ""
};

/// Of a device, without what is limited elsewhere (Roofline::elsewhereNs). In the order of what they
/// launched first. `nested`: nestedCallsOf(work), here and below. O(n log n).
[[nodiscard]] std::vector<LaunchedCall> launchedCallsOf(
    const Work& work, const StringTable& strings, std::span<const std::uint32_t> nested, int device);

/// Of all, or of calls whose first piece of work begins in `range`. `devices`: deviceWorkOf() of the same.
/// O(n log n).
[[nodiscard]] Roofline rooflineOf(const Work& work, const StringTable& strings,
    std::span<const DeviceWork> devices, std::span<const std::uint32_t> nested,
    const std::optional<TimeSpan>& range = {});

/// How far the device is used, or why that is not known and what would help. `isSimulated`: times are no
/// card's.
[[nodiscard]] std::vector<Sentence> sayRoofline(const Roofline& roofline, bool isSimulated);

} // namespace strata::model
