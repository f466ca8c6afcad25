// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// What the system tells of a process that has LibTorch for GPUs loaded, under /proc.
struct ProcessFiles {
    std::int64_t process = 0, parent = 0;
    std::string command; ///< its words, with blanks between them
    bool hasTorch = false; ///< libc10_cuda or libtorch_cuda
    bool hasRecorder = false; ///< ours is loaded, whether or not it records
    std::string session; ///< that it has open: it is recorded to it
    std::string job; ///< of its environment as it began, likewise the next two
    std::optional<std::int64_t> rank, worldSize;
};

/// The processes whose libraries this user may see and that have LibTorch for GPUs, by number; all for root.
/// Copies that a process made of itself (workers of a DataLoader) are left out, and who only starts ranks
/// (torchrun). A millisecond for each process of the user. Any thread.
[[nodiscard]] std::vector<ProcessFiles> findTorchProcesses(const std::filesystem::path& proc = "/proc");

/// The words of one process, with blanks between them; empty: there is none, or it is one of the kernel.
[[nodiscard]] std::string commandOf(std::int64_t process, const std::filesystem::path& proc = "/proc");

} // namespace strata::model
