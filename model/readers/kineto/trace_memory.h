// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

namespace strata::model {

/// Makes devices of what a profiler's trace tells of memory (Work::memory), each with one event for each
/// block that came or went, by time; and annotations of those on threads. Nothing where the trace tells of no
/// device's memory with addresses and totals: sizes alone pair nothing.
///
/// - Bytes are rounded ones, so those requested are at most these.
/// - A free is one free_completed where PyTorch was asked to free: that is when Total Allocated falls, and
///   nothing tells when other streams had finished.
/// - The level before the first event is its Total Allocated less its own bytes. What of it no free names is
///   one block of unknown place (ProfiledMemory::unnamedBytes).
/// - Reserved is Total Reserved, read at each event.
/// - The stack of an allocation is what was open on its thread: operators, annotations, Python functions.
///
/// Other devices than CPUs count as GPUs (c10::DeviceType 1 CUDA, 6 HIP, 12 XPU, 20 PrivateUse1). Sources:
/// torch/csrc/profiler/collection.cpp (RawAllocation), c10/cuda/CUDACachingAllocator.cpp
/// (reportMemoryUsageToProfiler). O(n log n) in spans and readings; once, when a trace has been read.
void addMemoryOfTrace(Recording& recording);

} // namespace strata::model
