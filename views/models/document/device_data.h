// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/summary.h"
#include "model/session/session.h"
#include "model/timeline/annotation_spans.h"
#include "model/timeline/blocks_picture.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/layer_order.h"
#include "model/trace/rounded_sizes.h"
#include "views/models/document/replay_data.h"
#include "views/models/document/training_data.h"
#include "views/style/colour_table.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

namespace strata::views {

/// Everything derived from one device that the pages share. Immutable once published; the members marked
/// "later" come a moment after the rest and are announced by Document::deviceReady again.
///
/// Of a session that grows there is one after the other, each of a newer generation: pages that show one go
/// on with the next where follows() says so, and keep what their user made of them.
struct DeviceData {
    std::shared_ptr<const model::Session> session; ///< keeps the trace alive
    const model::DeviceTrace* trace = nullptr;
    std::shared_ptr<const void> source; ///< the same for all generations of what is shown; none: one alone
    std::shared_ptr<const model::DeviceTimeline> timeline;
    std::shared_ptr<const model::GroupTable> byLine, bySite;
    std::shared_ptr<const model::DeviceSummary> summary;
    std::shared_ptr<const model::LayerOrder> lineOrder; ///< by line: the colours of the session
    std::vector<int> lineRank; ///< group -> its colour in the window, for Palette::group()
    std::shared_ptr<DocumentColours> colours; ///< for other groupings; keeps those of lineRank
    std::shared_ptr<const std::vector<model::AnnotationSpan>> annotations; ///< annotationSpans()
    std::shared_ptr<const model::DriverCurve> driver; ///< without points where it was not recorded
    std::shared_ptr<const model::StripLayout> strips; ///< later
    std::shared_ptr<const model::BlocksIndex> blocksIndex; ///< later; coloured by line
    std::shared_ptr<const ReplayData> replay; ///< later, once nothing more is recorded
    std::shared_ptr<const TrainingData> training; ///< later; see there of which generation

    /// Whether this is of the same device of the same source: what is shown of `other` goes on.
    [[nodiscard]] bool follows(const DeviceData& other) const
    {
        return trace == other.trace
            || (source && source == other.source && trace->device() == other.trace->device());
    }
    /// Allocated and active at every event; nullptr where they are not known.
    [[nodiscard]] const model::RoundedCurves* rounded() const
    {
        return replay ? replay->rounded.get() : nullptr;
    }
    /// What the allocator handed out for each block, as far as this device or its replay tells it.
    [[nodiscard]] model::RoundedSizes sizes() const;
    /// By line and by site what is here, else built: O(blocks). By category and module nullptr until they are
    /// known of these blocks; those that came since they were looked for are "unknown".
    [[nodiscard]] std::shared_ptr<const model::GroupTable> groups(model::Grouping grouping) const;
    /// What is known of the blocks, for filters that ask for it.
    [[nodiscard]] model::DeviceLabels labels() const;
};

/// What is to be derived, of which session.
struct DeviceTask {
    std::shared_ptr<const model::Session> session;
    const model::DeviceTrace* trace = nullptr; ///< of the session
    std::shared_ptr<const void> source;
    std::shared_ptr<DocumentColours> colours;
    /// Of an earlier generation, complete, if there is one: what goes on from it costs what is new. One task
    /// at a time goes on from it.
    std::shared_ptr<const DeviceData> earlier;
};

/// Derives what the pages share, in the order in which they need it, and calls `publish` after each part; of
/// a later generation when all is there. Returns early once the token is set. Any thread.
void deriveDevice(const DeviceTask& task, const std::stop_token& stop,
    const std::function<void(std::shared_ptr<const DeviceData>)>& publish);

/// The colours of groups that have theirs whatever they weigh: categories, and what names nothing; for the
/// others a colour that is none.
[[nodiscard]] std::vector<int> fixedColoursOf(const model::GroupTable& groups);

/// The colours of the groups of a table of a device, whose share decides: group -> colour, for
/// Palette::group(). `colours` keeps them, from one generation to the next too.
[[nodiscard]] std::vector<int> coloursOf(DocumentColours& colours, int device,
    const model::GroupTable& groups, const std::vector<std::uint32_t>& largestFirst);

} // namespace strata::views
