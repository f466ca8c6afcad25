// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/workspaces.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace strata::simgpu {

namespace {

constexpr std::int64_t kVectorBytes = 16; ///< tensor cores are fed in these
constexpr std::int64_t kHeaderBytes = 16;

std::int64_t product(
    std::vector<std::int64_t>::const_iterator begin, std::vector<std::int64_t>::const_iterator end)
{
    return std::accumulate(begin, end, std::int64_t{ 1 }, std::multiplies<>());
}

std::int64_t roundUp(std::int64_t value, std::int64_t step)
{
    return (value + step - 1) / step * step;
}

std::int64_t positions(const DnnTensor& tensor)
{
    return product(tensor.size.begin() + 2, tensor.size.end());
}

bool isChannelsLast(const DnnTensor& tensor)
{
    return tensor.stride[1] == 1 && tensor.size[1] > 1;
}

/// Of a copy with channels last, padded to whole vectors; 0 where the tensor can be read as it is.
std::int64_t copyBytes(const DnnTensor& tensor, std::int64_t elementBytes, bool padsFirst)
{
    const std::int64_t vector = kVectorBytes / elementBytes;
    const auto pad = [vector](std::int64_t count) { return roundUp(count, vector); };
    const bool lies = isChannelsLast(tensor) || positions(tensor) == 1;
    const bool fits = tensor.size[1] % vector == 0 && (!padsFirst || tensor.size[0] % vector == 0);
    if (lies && fits)
        return 0;
    const std::int64_t first = padsFirst ? pad(tensor.size[0]) : tensor.size[0];
    return first * pad(tensor.size[1]) * positions(tensor) * elementBytes;
}

bool allAre(const std::vector<std::int64_t>& values, std::int64_t wanted)
{
    return std::all_of(values.begin(), values.end(), [&](std::int64_t value) { return value == wanted; });
}

/// A plain product of matrices: no copy, but gradients of filters are kept for each picture until they are
/// summed.
std::uint64_t pointwiseWorkspace(const Convolution& c)
{
    const bool keeps = c.pass == Convolution::Pass::FilterGradient && c.x.size[0] > 1 && !isChannelsLast(c.x)
        && !isChannelsLast(c.y);
    return keeps ? static_cast<std::uint64_t>(c.x.size[0] * c.w.size[0] * c.w.size[1] * 4) : 0;
}

/// Where cuDNN mostly takes an engine that reads tensors as they lie.
bool readsInPlace(const Convolution& c)
{
    using Pass = Convolution::Pass;
    const std::int64_t channels = c.w.size[1];
    const std::int64_t products = c.y.size[0] * positions(c.y) * c.w.size[0] * channels * positions(c.w);
    const bool strides
        = std::any_of(c.stride.begin(), c.stride.end(), [](std::int64_t step) { return step >= 4; });
    if (channels <= 8 && (isChannelsLast(c.x) || isChannelsLast(c.y)))
        return true;
    if (c.elementBytes == 2) {
        switch (c.pass) {
        case Pass::Forward:
            return channels <= 8;
        case Pass::DataGradient:
            return strides;
        case Pass::FilterGradient:
            return products < 9'000'000 && channels <= 52;
        }
    }
    switch (c.pass) {
    case Pass::Forward:
        return channels <= 3 || (channels <= 40 && products < 110'000'000);
    case Pass::DataGradient:
        return strides || products < 150'000'000 || std::min(c.x.size[1], c.y.size[1]) <= 4;
    case Pass::FilterGradient:
        break;
    }
    return products < 30'000'000;
}

std::int64_t gatesOf(const Recurrence& r)
{
    return r.mode == Recurrence::kLstm ? 4 : r.mode == Recurrence::kGru ? 3 : 1;
}

} // namespace

int dnnElementBytes(int type)
{
    switch (type) {
    case 0: // float
        return 4;
    case 1: // double
        return 8;
    case 2: // half
    case 9: // bfloat16
        return 2;
    default:
        return 0;
    }
}

std::uint64_t convolutionWorkspace(const Convolution& c, int capability)
{
    const bool hasTensorCores
        = (c.elementBytes == 2 && capability >= 70) || (c.elementBytes == 4 && capability >= 80);
    const auto described
        = [](const DnnTensor& t) { return t.size.size() >= 3 && t.size.size() == t.stride.size(); };
    if (!hasTensorCores || !described(c.x) || !described(c.y) || !described(c.w))
        return 0;
    if (positions(c.w) == 1 && allAre(c.stride, 1) && allAre(c.padding, 0))
        return pointwiseWorkspace(c);
    if (readsInPlace(c))
        return 0;
    const std::int64_t copies = copyBytes(c.x, c.elementBytes, false) + copyBytes(c.y, c.elementBytes, false)
        + copyBytes(c.w, c.elementBytes, true);
    return copies > 0 ? static_cast<std::uint64_t>(copies + kHeaderBytes) : 0;
}

std::uint64_t recurrenceReserve(const Recurrence& r)
{
    // An LSTM keeps its four gates and the cell, a GRU three gates and three of what they are made of.
    const std::int64_t kept = r.mode == Recurrence::kLstm ? 5 : r.mode == Recurrence::kGru ? 6 : 1;
    const std::int64_t steps = r.length * r.batch * r.directions;
    std::int64_t values = r.hidden * (kept * r.layers + r.layers - 1);
    if (r.projected != r.hidden)
        values += r.layers * (r.hidden + r.projected);
    std::int64_t bytes = steps * values * r.elementBytes + 256;
    if (r.dropout) // a bit for each value that goes up to the next layer
        bytes += steps * r.projected * r.directions * (r.layers - 1) / 8;
    return static_cast<std::uint64_t>(bytes);
}

std::uint64_t recurrenceWorkspace(const Recurrence& r)
{
    constexpr double kLayerBytes = 8 << 20;
    const auto gates = static_cast<double>(gatesOf(r));
    const double outputs = static_cast<double>(r.length * r.batch * r.hidden * r.directions * r.elementBytes);
    const double inputs = static_cast<double>(r.length * r.batch * r.input * r.elementBytes);
    const auto weights = static_cast<double>(r.weightBytes);
    const double work = r.persistent ? (2 * gates + 4.5) * outputs + 3 * inputs + 2 * weights
                                     : (gates + 1.7) * outputs + 1.5 * inputs + weights;
    return static_cast<std::uint64_t>(kLayerBytes * static_cast<double>(r.layers * r.directions) + work);
}

} // namespace strata::simgpu
