// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/roofline.h"

#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/device/launchers.h"
#include "model/base/units.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace strata::model {

namespace {

/// Of no roof of the device: what its links or the host limit.
bool isElsewhere(const WorkSpan& span, std::string_view name)
{
    return span.kind == WorkKind::Copy ? name.find("DtoD") == std::string_view::npos
                                       : useOf(name) == WorkUse::Communication;
}

/// The device of a piece of work.
int deviceOf(const Work& work, const WorkSpan& span)
{
    return span.lane < work.lanes.size() ? work.lanes[span.lane].device.value_or(-1) : -1;
}

/// Costs of calls, worked out once for each that differs.
class Costs {
public:
    Costs(const Work& work, const StringTable& strings)
        : m_work(work)
        , m_strings(strings)
    {
    }

    const std::optional<OperatorCost>& of(const WorkSpan& call)
    {
        if (call.detail >= m_work.operators.size())
            return m_none;
        const OperatorDetail& detail = m_work.operators[call.detail];
        const std::array key{ call.name.value, detail.shapes.value, detail.types.value, detail.values.value,
            detail.strides.value };
        const auto [found, isNew] = m_known.try_emplace(key);
        if (isNew)
            if (const auto inputs = readOperatorInputs(
                    text(detail.shapes), text(detail.types), text(detail.values), text(detail.strides)))
                found->second = costOf(m_strings[call.name], *inputs);
        return found->second;
    }

private:
    [[nodiscard]] std::string_view text(StringId id) const
    {
        return id.valid() ? m_strings[id] : std::string_view();
    }

    const Work& m_work;
    const StringTable& m_strings;
    std::map<std::array<std::uint32_t, 5>, std::optional<OperatorCost>> m_known;
    std::optional<OperatorCost> m_none;
};

/// "[[2,3],[]]" of a call, if its sizes were recorded.
StringId shapesOf(const Work& work, const StringTable& strings, const WorkSpan& call)
{
    if (call.detail >= work.operators.size())
        return {};
    const StringId shapes = work.operators[call.detail].shapes;
    return shapes.valid() && !strings[shapes].empty() ? shapes : StringId{};
}

/// A kernel of FP32 that works in TF32 says so in its name, as those of cuBLAS, cuDNN and CUTLASS do.
bool isTf32(std::string_view kernel)
{
    return kernel.find("tf32") != std::string_view::npos
        || kernel.find("tensorop_s1688") != std::string_view::npos;
}

/// What the trace says of a device. Work may bear a number by which nothing is described, as with ROCm: where
/// all devices are alike, it is one of them. nullptr: not told.
const WorkDevice* describedDevice(const Work& work, int device)
{
    const auto found = std::ranges::find(work.devices, device, &WorkDevice::device);
    if (found != work.devices.end())
        return &*found;
    const bool areAlike = std::ranges::all_of(work.devices, [&](const WorkDevice& each) {
        return each.name == work.devices.front().name && each.totalBytes == work.devices.front().totalBytes;
    });
    return !work.devices.empty() && areAlike ? &work.devices.front() : nullptr;
}

double perSecond(double amount, std::int64_t ns)
{
    return ns > 0 ? amount / static_cast<double>(ns) * 1e9 : 0;
}

/// The rows that grow while calls are added.
class RooflineRows {
public:
    RooflineRows(const Work& work, const StringTable& strings, Roofline& into)
        : m_work(work)
        , m_strings(strings)
        , m_into(into)
    {
    }

    void add(const LaunchedCall& call)
    {
        const WorkSpan& span = m_work.spans[call.call];
        const StringId shapes = shapesOf(m_work, m_strings, span);
        NumberType type = call.cost ? call.cost->type : NumberType::Other;
        if (type == NumberType::Fp32 && call.cost->flops > 0
            && std::ranges::any_of(
                call.work, [&](std::uint32_t piece) { return isTf32(m_strings[m_work.spans[piece].name]); }))
            type = NumberType::Tf32;
        RooflineRow& row = rowOf(span.name, shapes, type, call.cost.has_value());
        ++row.calls;
        row.deviceNs = wrapAdd(row.deviceNs, call.deviceNs);
        row.work.insert(row.work.end(), call.work.begin(), call.work.end());
        m_into.workNs = wrapAdd(m_into.workNs, call.deviceNs);
        if (!call.cost) {
            ++m_into.unknownCalls;
            std::int64_t& notKnown = shapes.valid() ? m_into.unknownNs : m_into.noShapesNs;
            notKnown = wrapAdd(notKnown, call.deviceNs);
            return;
        }
        ++m_into.knownCalls;
        m_into.knownNs = wrapAdd(m_into.knownNs, call.deviceNs);
        OperatorCost cost = *call.cost;
        cost.type = type;
        row.kind = cost.kind;
        addTo(row, cost);
        addTo(m_into, cost);
        if (m_into.card) {
            const double least = leastNs(*call.cost, *m_into.card);
            row.leastNs += least;
            m_into.leastNs += least;
            row.roofNs += rooflineNs(cost, *m_into.card);
            if (const double peak = m_into.card->peak(type); peak > 0 && m_into.spanNs > 0 && cost.flops > 0)
                m_into.utilisation = m_into.utilisation.value_or(0)
                    + cost.flops / peak * 1e9 / static_cast<double>(m_into.spanNs);
        }
    }

private:
    template <class Sums> static void addTo(Sums& sums, const OperatorCost& cost)
    {
        sums.flops += cost.flops;
        sums.doneFlops += cost.doneFlops;
        sums.bytes += cost.bytes();
    }

    RooflineRow& rowOf(StringId name, StringId shapes, NumberType type, bool isKnown)
    {
        const auto [found, isNew] = m_places.try_emplace(
            std::tuple(name.value, shapes.value, static_cast<int>(type), isKnown), m_into.rows.size());
        if (isNew) {
            RooflineRow& row = m_into.rows.emplace_back();
            row.name = name;
            row.shapes = shapes;
            row.type = type;
            row.isKnown = isKnown;
        }
        return m_into.rows[found->second];
    }

    const Work& m_work;
    const StringTable& m_strings;
    Roofline& m_into;
    std::map<std::tuple<std::uint32_t, std::uint32_t, int, bool>, std::size_t> m_places;
};

SentenceArgument strongText(const std::string& text)
{
    SentenceArgument of = model::argument(text);
    of.strong = true;
    return of;
}

std::string rateText(double flopsPerSecond)
{
    return fmt::format("{:.3g} TFLOP/s", flopsPerSecond / 1e12);
}

/// Why there is no more to say.
RooflineLack lackOf(const Roofline& roofline)
{
    if (roofline.workNs == 0)
        return RooflineLack::Work;
    if (roofline.knownCalls == 0)
        return roofline.unknownNs == 0 ? RooflineLack::Shapes : RooflineLack::Costs;
    return roofline.card ? RooflineLack::None : RooflineLack::Card;
}

} // namespace

std::string_view rooflineLackWord(RooflineLack lack)
{
    static constexpr std::array<std::string_view, 5> kWords{ "none", "work", "shapes", "costs", "card" };
    return kWords[static_cast<std::size_t>(lack)];
}

double RooflineRow::flopRate() const
{
    return perSecond(doneFlops, deviceNs);
}

double RooflineRow::byteRate() const
{
    return perSecond(bytes, deviceNs);
}

double RooflineRow::intensity() const
{
    return bytes > 0 ? doneFlops / bytes : 0;
}

std::optional<bool> Roofline::isComputeBound(const RooflineRow& row) const
{
    if (!card || !row.isKnown || row.bytes <= 0)
        return std::nullopt;
    if (row.doneFlops <= 0)
        return false;
    const double ridge = card->ridge(row.type);
    return ridge > 0 ? std::optional(row.intensity() >= ridge) : std::nullopt;
}

std::string_view Roofline::boundWord(const RooflineRow& row) const
{
    const auto isCompute = isComputeBound(row);
    return !isCompute ? "" : *isCompute ? "compute" : "memory";
}

std::vector<LaunchedCall> launchedCallsOf(
    const Work& work, const StringTable& strings, std::span<const std::uint32_t> nested, int device)
{
    const std::vector<std::uint32_t> launchers = launchersOf(work, nested);
    boost::unordered_flat_map<std::uint32_t, std::size_t> places;
    std::vector<LaunchedCall> calls;
    Costs costs(work, strings);
    for (std::uint32_t row = 0; row < work.spans.size(); ++row) {
        const WorkSpan& span = work.spans[row];
        if (launchers[row] == kNoLauncher || deviceOf(work, span) != device
            || isElsewhere(span, strings[span.name]))
            continue;
        const auto [found, isNew] = places.try_emplace(launchers[row], calls.size());
        if (isNew)
            calls.push_back({ launchers[row], {}, span.startNs, 0, costs.of(work.spans[launchers[row]]) });
        LaunchedCall& call = calls[found->second];
        call.work.push_back(row);
        call.firstNs = std::min(call.firstNs, span.startNs);
        call.deviceNs = wrapAdd(call.deviceNs, span.durationNs);
    }
    std::ranges::stable_sort(calls, {}, &LaunchedCall::firstNs);
    return calls;
}

Roofline rooflineOf(const Work& work, const StringTable& strings, std::span<const DeviceWork> devices,
    std::span<const std::uint32_t> nested, const std::optional<TimeSpan>& range)
{
    Roofline roofline;
    const auto busiest = std::ranges::max_element(devices, {}, &DeviceWork::busyNs);
    if (busiest == devices.end())
        return roofline;
    roofline.device = busiest->device;
    roofline.spanNs = range ? range->ns() : busiest->span.ns();
    if (const WorkDevice* const described = describedDevice(work, busiest->device)) {
        roofline.deviceName = described->name;
        roofline.card = cardOfDevice(described->name, described->totalBytes);
    }
    const auto isWithin
        = [&](std::int64_t ns) { return !range || (ns >= range->beginNs && ns < range->endNs); };
    RooflineRows rows(work, strings, roofline);
    std::vector<bool> isLaunched(work.spans.size()); // by an operator
    for (const LaunchedCall& call : launchedCallsOf(work, strings, nested, busiest->device)) {
        for (const std::uint32_t piece : call.work)
            isLaunched[piece] = true;
        if (isWithin(call.firstNs))
            rows.add(call);
    }
    for (std::size_t row = 0; row < work.spans.size(); ++row) {
        const WorkSpan& span = work.spans[row];
        if (!isDeviceWork(span.kind) || deviceOf(work, span) != busiest->device || isLaunched[row]
            || !isWithin(span.startNs))
            continue;
        if (isElsewhere(span, strings[span.name])) {
            roofline.elsewhereNs = wrapAdd(roofline.elsewhereNs, span.durationNs);
        } else {
            roofline.noOperatorNs = wrapAdd(roofline.noOperatorNs, span.durationNs);
            roofline.workNs = wrapAdd(roofline.workNs, span.durationNs);
        }
    }
    std::ranges::stable_sort(roofline.rows, std::greater<>(), &RooflineRow::deviceNs);
    roofline.lack = lackOf(roofline);
    return roofline;
}

std::vector<Sentence> sayRoofline(const Roofline& roofline, bool isSimulated)
{
    switch (roofline.lack) {
    case RooflineLack::Work:
        return { say("No kernels of a GPU are in it.") };
    case RooflineLack::Shapes:
        return { say("Sizes of tensors were not recorded, so nobody knows what operators had to do: profile "
                     "with record_shapes=True.") };
    case RooflineLack::Costs:
        return { say("Of no operator that launched kernels is it known what it costs.") };
    case RooflineLack::None:
    case RooflineLack::Card:
        break;
    }
    if (isSimulated)
        return { say("Times of the simulated device are no card's: operators are here with what they have to "
                     "do, not with how fast they are.") };
    const SentenceArgument known = strongText(formatShare(roofline.knownNs, roofline.workNs));
    std::vector<Sentence> said;
    if (!roofline.card) {
        said.push_back(roofline.deviceName.empty()
                ? say("The trace does not tell which GPU it is: there are figures, and no roof.")
                : say("The peaks of %1 are not known here: there are figures, and no roof.",
                    roofline.deviceName));
        said.push_back(say("Operators whose costs are known take %1 of its time.", known));
        return said;
    }
    if (roofline.utilisation)
        said.push_back(say("GPU %1 does %2, %3 of its peak.", *roofline.device,
            rateText(perSecond(roofline.flops, roofline.spanNs)),
            strongText(fmt::format("{:.1f} %", *roofline.utilisation * 100))));
    else
        said.push_back(say("GPU %1 multiplies nothing.", *roofline.device));
    said.push_back(say("Operators whose costs are known take %1 of its time; at its peaks they would take %2 "
                       "of that at least.",
        known,
        strongText(fmt::format("{:.1f} %",
            roofline.knownNs > 0 ? 100 * roofline.leastNs / static_cast<double>(roofline.knownNs) : 0.0))));
    return said;
}

} // namespace strata::model
