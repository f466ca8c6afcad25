// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/dry_run_result.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace strata::views {

namespace {

std::optional<qint64> optionalBytes(const QJsonValue& value)
{
    return value.isDouble() ? std::optional(value.toInteger()) : std::nullopt;
}

DryRunDevice readDevice(const QJsonObject& rank, const QJsonObject& json)
{
    DryRunDevice out;
    out.rank = rank[QLatin1String("rank")].toInt();
    out.worldSize = rank[QLatin1String("world_size")].toInt(1);
    out.device = json[QLatin1String("device")].toInt();
    out.requestedPeak = json[QLatin1String("requested_bytes_peak")].toInteger();
    out.allocatedPeak = json[QLatin1String("allocated_bytes_peak")].toInteger();
    out.reservedPeak = json[QLatin1String("reserved_bytes_peak")].toInteger();
    out.fits = json[QLatin1String("fits")].toBool();
    out.outOfMemories = json[QLatin1String("oom_count")].toInteger();
    out.firstRefused = optionalBytes(json[QLatin1String("first_refused_bytes")]);
    return out;
}

/// "tracked" has an entry for each device that was used, in the order of "ranks".
void addTracked(const QJsonArray& tracked, std::vector<DryRunDevice>& devices)
{
    auto device = devices.begin();
    for (const QJsonValue& entry : tracked) {
        const QJsonObject json = entry.toObject();
        device = std::find_if(device, devices.end(), [&](const DryRunDevice& each) {
            return each.rank == json[QLatin1String("rank")].toInt()
                && each.device == json[QLatin1String("device")].toInt() && each.used();
        });
        if (device == devices.end())
            return;
        device->events = json[QLatin1String("events")].toInteger(-1);
        device->allocatedIsLeast = json[QLatin1String("allocated_is_least")].toBool();
        device->allocations = json[QLatin1String("allocations")].toInteger(-1);
        const QJsonObject requested = json[QLatin1String("requested_peak_at")].toObject();
        device->requestedPeakEvent = requested[QLatin1String("event")].toInteger(-1);
        device->requestedPeakSteps = requested[QLatin1String("steps_begun")].toInteger(-1);
        const QJsonObject reserved = json[QLatin1String("reserved_peak_at")].toObject();
        device->reservedPeakEvent = reserved[QLatin1String("event")].toInteger(-1);
        device->reservedPeakSteps = reserved[QLatin1String("steps_begun")].toInteger(-1);
        ++device;
    }
}

DryRunFigures readFigures(const QJsonObject& json)
{
    DryRunFigures out;
    for (const QJsonValue& rank : json[QLatin1String("ranks")].toArray())
        for (const QJsonValue& device : rank[QLatin1String("devices")].toArray())
            out.devices.push_back(readDevice(rank.toObject(), device.toObject()));
    addTracked(json[QLatin1String("tracked")].toArray(), out.devices);
    const auto readCards = [&](const char* key) {
        std::vector<DryRunFigures::Card> cards;
        for (const QJsonValue& card : json[QLatin1String(key)].toArray())
            cards.push_back(
                { card[QLatin1String("name")].toString(), card[QLatin1String("margin_bytes")].toInteger() });
        return cards;
    };
    out.fitsOn = readCards("fits_on");
    out.tryOn = readCards("try_on");
    out.neededAtLeast = json[QLatin1String("needed_at_least_bytes")].toInteger();
    out.steps = json[QLatin1String("steps")].toInteger();
    out.exitStatus = json[QLatin1String("exit_status")].toInt();
    if (const QJsonValue failure = json[QLatin1String("failure")]; failure.isObject())
        out.failure = DryRunFailure{ failure[QLatin1String("kind")].toString(),
            failure[QLatin1String("what")].toString(), failure[QLatin1String("where")].toString(),
            failure[QLatin1String("hint")].toString() };
    return out;
}

DryRunStepTime readTime(const QJsonObject& json)
{
    DryRunStepTime out;
    out.card = json[QLatin1String("card")].toString();
    out.problem = json[QLatin1String("problem")].toString();
    out.step = optionalBytes(json[QLatin1String("step")]);
    out.leastNs = json[QLatin1String("least_ns")].toInteger();
    out.flops = json[QLatin1String("flops")].toDouble();
    out.bytes = json[QLatin1String("bytes")].toInteger();
    out.launches = json[QLatin1String("launches")].toInteger();
    for (const QJsonValue& kind : json[QLatin1String("kinds")].toArray())
        out.kinds.push_back({ kind[QLatin1String("kind")].toString(),
            kind[QLatin1String("launches")].toInteger(), kind[QLatin1String("flops")].toDouble(),
            kind[QLatin1String("bytes")].toInteger(), kind[QLatin1String("least_ns")].toInteger() });
    const QJsonObject unknown = json[QLatin1String("unknown")].toObject();
    out.unknownLaunches = unknown[QLatin1String("launches")].toInteger();
    out.outsideLaunches = unknown[QLatin1String("outside_launches")].toInteger();
    for (const QJsonValue& one : unknown[QLatin1String("operators")].toArray())
        out.unknown.emplace_back(
            one[QLatin1String("name")].toString(), one[QLatin1String("launches")].toInteger());
    for (const QJsonValue& one : json[QLatin1String("collectives")].toArray())
        out.collectives.push_back(
            { one[QLatin1String("name")].toString(), one[QLatin1String("bytes")].toInteger() });
    out.cpuStepNs = optionalBytes(json[QLatin1String("cpu_step_ns")]);
    out.stepsTimed = json[QLatin1String("steps_timed")].toInteger();
    for (const QJsonValue& card : json[QLatin1String("cards")].toArray())
        out.cards.push_back({ card[QLatin1String("name")].toString(),
            card[QLatin1String("least_ns")].toInteger(), card[QLatin1String("fits")].toBool() });
    return out;
}

void readFit(const QJsonObject& fit, DryRunResult& out)
{
    for (const QJsonValue& variable : fit[QLatin1String("variables")].toArray())
        out.variables.push_back({ variable[QLatin1String("name")].toString(),
            variable[QLatin1String("lowest")].toInteger(), variable[QLatin1String("highest")].toInteger() });
    const auto readTrials = [&](const char* key, std::vector<DryRunTrial>& into) {
        for (const QJsonValue& entry : fit[QLatin1String(key)].toArray()) {
            DryRunTrial trial;
            for (const DryRunResult::Variable& variable : out.variables)
                trial.values.push_back(entry[QLatin1String("values")][variable.name].toInteger());
            trial.fits = entry[QLatin1String("fits")].toBool();
            trial.requestedPeak = entry[QLatin1String("requested_bytes_peak")].toInteger();
            trial.reservedPeak = entry[QLatin1String("reserved_bytes_peak")].toInteger();
            trial.firstRefused = optionalBytes(entry[QLatin1String("first_refused_bytes")]);
            into.push_back(std::move(trial));
        }
    };
    readTrials("best", out.best);
    readTrials("tried", out.tried);
}

template <class Figure> qint64 highestOf(const std::vector<DryRunDevice>& devices, Figure figure)
{
    qint64 highest = 0;
    for (const DryRunDevice& device : devices)
        highest = std::max(highest, device.*figure);
    return highest;
}

} // namespace

bool DryRunFigures::fits() const
{
    return std::all_of(devices.begin(), devices.end(), [](const DryRunDevice& each) { return each.fits; });
}

const DryRunDevice* DryRunFigures::highest() const
{
    const auto found = std::max_element(devices.begin(), devices.end(),
        [](const DryRunDevice& a, const DryRunDevice& b) { return a.reservedPeak < b.reservedPeak; });
    return found == devices.end() ? nullptr : &*found;
}

qint64 DryRunFigures::requestedPeak() const
{
    return highestOf(devices, &DryRunDevice::requestedPeak);
}

qint64 DryRunFigures::reservedPeak() const
{
    return highestOf(devices, &DryRunDevice::reservedPeak);
}

qint64 DryRunFigures::allocations() const
{
    qint64 sum = 0;
    for (const DryRunDevice& device : devices)
        sum += std::max(device.allocations, qint64{ 0 });
    return sum;
}

const DryRunDevice* DryRunFigures::firstRefusing() const
{
    const auto found = std::find_if(
        devices.begin(), devices.end(), [](const DryRunDevice& each) { return each.outOfMemories > 0; });
    return found == devices.end() ? nullptr : &*found;
}

std::optional<DryRunResult> DryRunResult::parse(const QByteArray& json)
{
    const QJsonObject root = QJsonDocument::fromJson(json).object();
    if (root[QLatin1String("schema")].toInt() != 1 || !root[QLatin1String("simulated")].toBool())
        return std::nullopt;
    DryRunResult out;
    out.device = root[QLatin1String("device")].toString();
    out.capacityBytes = root[QLatin1String("capacity_bytes")].toInteger();
    out.stepsAreMarked = root[QLatin1String("steps_source")].toString() == QLatin1String("range");
    out.stepsNote = root[QLatin1String("steps_note")].toString();
    if (const QJsonValue fit = root[QLatin1String("fit")]; fit.isObject()) {
        readFit(fit.toObject(), out);
        return out.isFit() ? std::optional(out) : std::nullopt;
    }
    if (!root[QLatin1String("ranks")].isArray())
        return std::nullopt;
    out.torch = root[QLatin1String("torch")].toString();
    out.run = readFigures(root);
    for (const QJsonValue& group : root[QLatin1String("groups")].toArray())
        out.groups.push_back(
            { group[QLatin1String("key")].toString(), group[QLatin1String("bytes")].toInteger() });
    out.weightsSkipped
        = root[QLatin1String("weights_skipped")].toBool(root[QLatin1String("skip_init")].toBool(true));
    for (const QJsonValue& one : root[QLatin1String("outside")].toArray())
        out.outside.push_back({ one[QLatin1String("name")].toString(), one[QLatin1String("each")].toString(),
            one[QLatin1String("source")].toString(), one[QLatin1String("low_bytes")].toInteger(),
            one[QLatin1String("high_bytes")].toInteger(), one[QLatin1String("counted_bytes")].toInteger() });
    if (const QJsonValue time = root[QLatin1String("time")]; time.isObject())
        out.time = readTime(time.toObject());
    const QJsonValue changed = root[QLatin1String("changed")];
    if (!changed[QLatin1String("applied")].toBool(true))
        out.changesNote = changed[QLatin1String("note")].toString();
    else if (changed.isObject()) {
        for (const QJsonValue& change : changed[QLatin1String("changes")].toArray())
            out.changes << change.toString();
        out.changed = readFigures(changed.toObject());
    }
    return out;
}

} // namespace strata::views
