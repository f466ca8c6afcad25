// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/work_callers.h"

#include "model/trace/filter/frame_origin.h"

#include <charconv>

namespace strata::views {

namespace {

using model::WorkKind;
using model::WorkSpan;

/// The piece itself and what holds it on its lane, innermost first.
template <class See> void seeAround(const LanesData& lanes, std::uint32_t piece, See&& see)
{
    const model::WorkTracks& tracks = lanes.tracks();
    see(piece);
    const auto place = tracks.placeOf(piece);
    if (!place || lanes.work().lanes[lanes.work().spans[piece].lane].device)
        return;
    for (std::size_t row = place->second; row-- > 0;)
        if (const auto above = tracks.pick(tracks.tracks()[place->first].rows[row], tracks.beginOf(piece), 0);
            above && tracks.endOf(*above) > tracks.beginOf(piece))
            see(*above);
}

/// The last operator of forward before it with its number of autograd: the innermost of them.
std::optional<std::uint32_t> forwardOf(const LanesData& lanes, std::uint32_t piece)
{
    const model::Work& work = lanes.work();
    const auto sequenceOf = [&](const WorkSpan& span) {
        return span.kind == WorkKind::Operator && span.detail < work.operators.size()
            ? work.operators[span.detail].sequence
            : -1;
    };
    const WorkSpan& backward = work.spans[piece];
    const std::int64_t sequence = sequenceOf(backward);
    std::optional<std::uint32_t> found;
    if (sequence < 0)
        return found;
    for (std::uint32_t at = 0; at < work.spans.size(); ++at) {
        const WorkSpan& span = work.spans[at];
        if (sequenceOf(span) == sequence && span.lane != backward.lane && span.startNs < backward.startNs
            && (!found || work.spans[*found].startNs <= span.startNs))
            found = at;
    }
    return found;
}

/// `operators`: all around it, innermost first.
void addCallers(
    const LanesData& lanes, std::uint32_t piece, WorkCallers& callers, std::vector<std::uint32_t>& operators)
{
    bool isOwnCode = false;
    seeAround(lanes, piece, [&](std::uint32_t around) {
        const WorkKind kind = lanes.work().spans[around].kind;
        const std::string_view name = lanes.nameOf(around);
        if (kind == WorkKind::Operator)
            operators.push_back(around);
        if (kind != WorkKind::Python)
            return;
        if (name.starts_with(kModulePrefix) && !callers.module)
            callers.module = around;
        const auto place = pythonPlaceOf(name);
        if (!place)
            return;
        callers.functions.push_back(around);
        if (const bool isOwn = model::originOf(place->file) == model::FrameOrigin::User;
            !callers.line || (isOwn && !isOwnCode)) {
            callers.line = around;
            isOwnCode = isOwn;
        }
    });
}

} // namespace

std::optional<PythonPlace> pythonPlaceOf(std::string_view name)
{
    const std::size_t open = name.find("): ");
    const std::size_t begin = open == std::string_view::npos ? open : name.rfind('(', open);
    if (begin == std::string_view::npos || begin == 0)
        return std::nullopt;
    PythonPlace place{ name.substr(0, begin), name.substr(open + 3), 0 };
    const auto [end, error] = std::from_chars(name.data() + begin + 1, name.data() + open, place.line);
    if (error != std::errc() || end != name.data() + open || place.file.starts_with('<'))
        return std::nullopt;
    return place;
}

WorkCallers callersOf(const LanesData& lanes, std::uint32_t piece)
{
    WorkCallers callers;
    std::uint32_t from = piece;
    if (model::isDeviceWork(lanes.work().spans[piece].kind)) {
        callers.launch = lanes.partnerOf(piece);
        if (!callers.launch)
            return callers;
        from = *callers.launch;
    }
    std::vector<std::uint32_t> operators, others;
    addCallers(lanes, from, callers, operators);
    if (!operators.empty())
        callers.op = operators.front();
    if (!callers.functions.empty() || callers.module)
        return callers;
    // Of those in backward the one that autograd called has the number.
    for (auto op = operators.begin(); op != operators.end() && !callers.forward; ++op)
        callers.forward = forwardOf(lanes, *op);
    if (callers.forward)
        addCallers(lanes, *callers.forward, callers, others);
    return callers;
}

} // namespace strata::views
