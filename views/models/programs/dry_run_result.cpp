// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/dry_run_result.h"

#include "model/dryrun/read_dry_run.h"

#include <algorithm>
#include <string_view>

namespace strata::views {

namespace {

QString words(const std::optional<std::string>& text)
{
    return QString::fromStdString(text.value_or(std::string()));
}

/// An entry for each device that was used, in the order of the ranks.
void addTracked(const std::vector<model::DryRunTracked>& tracked, std::vector<DryRunDevice>& devices)
{
    auto device = devices.begin();
    for (const model::DryRunTracked& entry : tracked) {
        device = std::find_if(device, devices.end(), [&](const DryRunDevice& each) {
            return each.rank == entry.rank && each.device == entry.device && each.used();
        });
        if (device == devices.end())
            return;
        device->events = entry.events;
        device->allocatedIsLeast = entry.allocatedIsLeast;
        device->allocations = entry.allocations;
        device->requestedPeakEvent = entry.requestedPeakAt.event;
        device->requestedPeakSteps = entry.requestedPeakAt.steps;
        device->reservedPeakEvent = entry.reservedPeakAt.event;
        device->reservedPeakSteps = entry.reservedPeakAt.steps;
        ++device;
    }
}

DryRunFigures figuresOf(const model::DryRunFigures& run)
{
    DryRunFigures out;
    for (const model::DryRunRank& rank : run.ranks.value_or(std::vector<model::DryRunRank>()))
        for (const model::DryRunDevice& device : rank.devices) {
            DryRunDevice& added = out.devices.emplace_back();
            added.rank = rank.rank;
            added.worldSize = rank.worldSize;
            added.device = device.device;
            added.requestedPeak = device.requestedPeak;
            added.allocatedPeak = device.allocatedPeak;
            added.reservedPeak = device.reservedPeak;
            added.fits = device.fits;
            added.outOfMemories = device.outOfMemories;
            added.firstRefused = device.firstRefused;
        }
    addTracked(run.tracked, out.devices);
    out.fit = run.fits;
    out.fitsOn = run.fitsOn;
    out.steps = run.steps;
    out.exitStatus = run.exitStatus;
    out.eachCard = run.eachCard.value;
    if (const auto& failure = run.failure)
        out.failure = DryRunFailure{ words(failure->kind), words(failure->what), words(failure->where),
            words(failure->hint) };
    return out;
}

std::vector<DryRunTrial> trialsOf(
    const std::vector<model::FitVariable>& variables, const std::vector<model::DryRunTrial>& trials)
{
    std::vector<DryRunTrial> out;
    for (model::DryRunTrial trial : trials) {
        DryRunTrial& added = out.emplace_back();
        for (const model::FitVariable& variable : variables)
            added.values.push_back(trial.values[variable.name]);
        added.fits = trial.fits;
        added.requestedPeak = trial.requestedPeak;
        added.reservedPeak = trial.reservedPeak;
        added.firstRefused = trial.firstRefused;
    }
    return out;
}

DryRunResult resultOf(const model::DryRunHead& head)
{
    DryRunResult out;
    out.device = words(head.device);
    out.capacityBytes = head.capacityBytes;
    out.stepsNote = words(head.stepsNote);
    return out;
}

DryRunResult resultOf(const model::DryRunFitAnswer& answer)
{
    DryRunResult out = resultOf(static_cast<const model::DryRunHead&>(answer));
    out.variables = answer.fit->variables;
    out.best = trialsOf(out.variables, answer.fit->best);
    out.tried = trialsOf(out.variables, answer.fit->tried);
    return out;
}

DryRunResult resultOf(const model::DryRunAnswer& answer)
{
    DryRunResult out = resultOf(static_cast<const model::DryRunHead&>(answer));
    out.torch = words(answer.torch);
    out.run = figuresOf(answer);
    out.run.tryOn = answer.tryOn;
    out.run.neededAtLeast = answer.neededAtLeast.value_or(0);
    out.groups = answer.groups;
    out.stepsAreMarked = answer.stepsSource == model::DryRunAnswer::kRangeSteps;
    out.weightsSkipped = answer.weightsSkipped.value_or(answer.skipInit);
    out.outside = answer.outside;
    out.time = answer.time.value;
    if (const auto& changed = answer.changed.value) {
        if (!changed->applied) {
            out.changesNote = words(changed->note);
            return out;
        }
        for (const std::string& change : changed->changes)
            out.changes << words(change);
        out.changed = figuresOf(*changed);
    }
    return out;
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
    return fit != model::fitWord(model::Fit::No)
        && std::all_of(devices.begin(), devices.end(), [](const DryRunDevice& each) { return each.fits; });
}

bool DryRunFigures::isTight() const
{
    return fit == model::fitWord(model::Fit::Tight);
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
    const auto read
        = model::readDryRun(std::string_view(json.constData(), static_cast<std::size_t>(json.size())));
    if (!read)
        return std::nullopt;
    return std::visit([](const auto& answer) { return resultOf(answer); }, *read);
}

} // namespace strata::views
