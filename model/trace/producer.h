// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace strata::model {

/// The kind of accelerator that a recording is of.
enum class Accelerator : std::uint8_t {
    Cuda, ///< NVIDIA; also where the recording says nothing else
    Rocm, ///< AMD
    Xpu, ///< Intel
    Npu, ///< Ascend
    Mtia, ///< Meta
    Other, ///< the file names another kind, or was not written by a caching allocator of PyTorch
};

/// From what the file calls its device, its allocator's settings variable, and the names of devices. O(settings + facts).
[[nodiscard]] Accelerator acceleratorOf(const Recording& recording);

/// For people: "an Intel XPU"; of Other "another accelerator than CUDA's".
[[nodiscard]] English acceleratorName(Accelerator accelerator);

/// The environment variable of its allocator's settings, which works in every version: "PYTORCH_CUDA_ALLOC_CONF". Empty: none is known.
[[nodiscard]] std::string_view settingsVariable(Accelerator accelerator);

/// The recorded text of allocator settings as JSON, under whichever variable the file names; nullptr: none.
[[nodiscard]] const std::string* recordedAllocConf(const std::vector<Setting>& settings);

/// Keys of Recording::facts that readers of snapshots fill in.
namespace snapshot_facts {

inline constexpr const char* kDeviceType = "device_type"; ///< as the file calls it: "xpu"; "other": see Accelerator::Other
inline constexpr const char* kMember = "snapshot."; ///< a prefix: a key of the snapshot that Strata does not use; its value as JSON

} // namespace snapshot_facts

/// A prefix in Recording::unknownKeys: the name of a state of blocks follows.
inline constexpr const char* kUnknownState = "block.state=";

/// Members of the file that Strata does not keep, by how often they came: a part of Recording::unknownKeys.
[[nodiscard]] std::map<std::string, std::int64_t> lostKeys(const Recording& recording);

} // namespace strata::model
