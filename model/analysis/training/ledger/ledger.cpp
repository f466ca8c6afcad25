// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/ledger/ledger.h"

#include "model/analysis/allocator/fragmentation.h"
#include "model/base/units.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <array>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

std::optional<std::int64_t> outsideAt(const Recording& recording, int device, EventIndex event)
{
    std::optional<std::int64_t> bytes;
    for (const DriverReading& reading : recording.driver)
        if (reading.device == device && reading.event <= event + 1 && reading.processBytes
            && reading.reservedBytes)
            bytes = wrapSub(*reading.processBytes, *reading.reservedBytes);
    return bytes;
}

void addExpected(
    const DeviceTrace& trace, const Categories& categories, const TensorSums& sums, Ledger& ledger)
{
    const auto count = static_cast<double>(*ledger.parameters);
    const TensorSums::Elements& all = sums.of(Kind::Parameter);
    for (LedgerRow& row : ledger.rows) {
        row.bytesPerParameter = static_cast<double>(row.bytes) / count;
        if (row.category == Category::Parameter && all.bytes > 0)
            row.expectedBytesPerParameter = static_cast<double>(all.bytes) / count;
        if (row.category == Category::Gradient && sums.trained.bytes > 0)
            row.expectedBytesPerParameter = static_cast<double>(sums.trained.bytes) / count;
        if (row.category == Category::OptimizerState)
            if (const auto bytes = stateBytesExpected(trace, categories.tensors(), sums))
                row.expectedBytesPerParameter = *bytes / count;
    }
}

void addFree(const DeviceTrace& trace, EventIndex event, std::span<const BlockId> active,
    const ReplayReport* report, Ledger& ledger)
{
    const AllocatorMap map = allocatorMapAt(trace, event, active, report);
    const Fragmentation found = fragmentationOf(trace, map, report ? report->settings : AllocatorSettings());
    ledger.reservedBytes = found.reservedBytes;
    ledger.fragmentationBytes = found.pinnedFreeBytes();
    ledger.cachedFreeBytes = found.cachedSegmentsBytes;
    ledger.cachedPrivateBytes = found.cachedPrivateBytes;
    if (found.exact) // of blocks whose frees are pending, too
        ledger.roundingBytes
            = found.roundingBytes + found.unsplitBytes + wrapSub(found.pendingBytes, ledger.pendingFreeBytes);
}

} // namespace

Sentence sourceOf(const LedgerRow& row)
{
    if (row.category == Category::Unknown || row.blocks == 0)
        return {};
    const std::int64_t recorded = row.recordedBytes();
    if (recorded == row.bytes)
        return say("recorded");
    if (row.certain.ofMost() == Certainty::Likely)
        return recorded == 0 ? say("probably")
                             : say("probably, %1 recorded", formatShare(recorded, row.bytes));
    return recorded == 0 ? say("shown by stack traces")
                         : say("%1 recorded", formatShare(recorded, row.bytes));
}

Ledger ledgerAt(const DeviceTrace& trace, const Categories& categories, EventIndex event,
    std::span<const BlockId> active, const ReplayReport* report, const TrainingSteps* steps)
{
    Ledger ledger;
    ledger.event = event;
    std::array<LedgerRow, kCategories> rows;
    const BlockColumns& blocks = trace.blocks();
    for (const BlockId block : active) {
        const BlockCategory& category = categories.of(block);
        const std::int64_t bytes = blocks.requestedBytes[block];
        LedgerRow& row = rows[static_cast<std::size_t>(category.category)];
        row.category = category.category;
        row.bytes = wrapAdd(row.bytes, bytes);
        row.blocks += 1;
        row.certain.add(category.certainty(), bytes);
        ledger.requestedBytes = wrapAdd(ledger.requestedBytes, bytes);
        if (blocks.pendingAt(block, event))
            ledger.pendingFreeBytes = wrapAdd(ledger.pendingFreeBytes, bytes);
    }
    rows.back().category = Category::Unknown; // always shown
    std::ranges::copy_if(rows, std::back_inserter(ledger.rows),
        [&](const LedgerRow& row) { return row.blocks > 0 || &row == &rows.back(); });
    std::ranges::stable_sort(ledger.rows, std::greater<>{}, &LedgerRow::bytes);
    const DeviceRecording* const device = trace.recording().find(trace.device());
    if (device == nullptr || !device->profiled)
        addFree(trace, event, active, report, ledger);
    else if (const auto& readings = trace.events().reservedReading; !readings.empty())
        ledger.reservedBytes
            = event < 0 ? trace.totals().reservedBytesStart : readings[static_cast<std::size_t>(event)];
    ledger.outsideBytes = outsideAt(trace.recording(), trace.device(), event);
    const TensorSums sums = tensorSums(trace, categories.tensors(), active);
    if (const std::int64_t count = sums.of(Kind::Parameter).count; count > 0) {
        ledger.parameters = count;
        addExpected(trace, categories, sums, ledger);
    }
    tellSurprises(trace, categories, active, steps, sums, ledger);
    return ledger;
}

} // namespace strata::model
