// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace strata::simgpu {

/// Sizes in bytes of what cuDNN asks LibTorch to lay aside, by rule: seen on an H100 with cuDNN 9.19
/// (tests/gpu/RESULTS.md tells how often each is met). cuDNN's own choice among its engines is not known
/// here; what an engine needs follows from the operation.

/// Of an element of cudnnDataType_t `type`; 0 for types that are no floating point of 16 bits or more.
int dnnElementBytes(int type);

/// Channels second, as PyTorch and cuDNN count: batch, channels, extents of space.
struct DnnTensor {
    std::vector<std::int64_t> size;
    std::vector<std::int64_t> stride;
};

struct Convolution {
    enum class Pass { Forward, DataGradient, FilterGradient };

    Pass pass = Pass::Forward;
    int elementBytes = 4;
    DnnTensor x; ///< what a forward pass reads
    DnnTensor y; ///< what it writes
    DnnTensor w; ///< filters, channels of a group, extents
    std::vector<std::int64_t> stride;
    std::vector<std::int64_t> padding;
};

/// Tensor cores read channels last and in vectors of 16 bytes: what lies otherwise is copied into the
/// workspace first,
///
///     | x, channels last and padded | y | w | 16 |
///
/// unless the operation is a plain matrix product or too small to be worth it. `capability` is 10 * major +
/// minor: older devices have no tensor cores for the type and get 0.
std::uint64_t convolutionWorkspace(const Convolution& convolution, int capability);

/// Of a graph with scaled dot product attention in it, beyond what the frontend counts by itself.
constexpr std::uint64_t kAttentionWorkspace = 256;

struct Recurrence {
    enum Mode { kRelu = 0, kTanh = 1, kLstm = 2, kGru = 3 };

    int mode = kTanh;
    bool persistent = false; ///< an algorithm that keeps weights on the multiprocessors
    bool dropout = false;
    int elementBytes = 4;
    std::int64_t input = 0, hidden = 0, projected = 0; ///< `projected` is `hidden` where nothing projects
    std::int64_t layers = 1, directions = 1;
    std::int64_t length = 0, batch = 0; ///< of the longest sequence; sequences
    std::int64_t weightBytes = 0;
};

/// What a forward pass keeps for backward: gates, cells and outputs between layers. Exact but for roundings
/// below 300 bytes.
std::uint64_t recurrenceReserve(const Recurrence& recurrence);

/// What a pass works in: mostly 8 MiB for each layer and direction. Within 8 % in the middle, within 23 % for
/// nine of ten.
std::uint64_t recurrenceWorkspace(const Recurrence& recurrence);

} // namespace strata::simgpu
