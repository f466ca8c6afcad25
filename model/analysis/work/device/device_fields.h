// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/device/launches.h"
#include "model/base/answer_fields.h"

namespace strata::model {

template <> struct Fields<StreamWork> {
    static constexpr std::tuple all{
        field("stream", Unit::None, "number of the stream", &StreamWork::stream),
        field("events", Unit::Count, "kernels, copies and sets", &StreamWork::events),
        field("busy_ns", Unit::Nanoseconds, "time in which at least one of them runs", &StreamWork::busyNs),
        field("host_wait_ns", Unit::Nanoseconds,
            "idle time before work that was launched only after the work before it had ended",
            &StreamWork::hostWaitNs),
        field("kernel_wait_ns", Unit::Nanoseconds,
            "idle time of less than 30 us each, before work that was already launched",
            &StreamWork::kernelWaitNs),
        field("other_ns", Unit::Nanoseconds,
            "idle time of 30 us or more each, before work that was already launched", &StreamWork::otherNs),
    };
};

template <> struct Fields<DeviceWork> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the GPU", &DeviceWork::device),
        field("span_ns", Unit::Nanoseconds, "from its first to its last piece of work",
            [](const DeviceWork& device) { return device.span.ns(); }),
        field("busy_ns", Unit::Nanoseconds, "time in which at least one stream works", &DeviceWork::busyNs),
        field("idle_ns", Unit::Nanoseconds, "`span_ns` less `busy_ns`", &DeviceWork::idleNs),
        field(
            "computation_ns", Unit::Nanoseconds, "time in which kernels compute", &DeviceWork::computationNs),
        field("communication_ns", Unit::Nanoseconds, "time in which kernels of NCCL or RCCL run",
            &DeviceWork::communicationNs),
        field("memory_ns", Unit::Nanoseconds, "time in which copies and sets run", &DeviceWork::memoryNs),
        field("communication_under_computation_ns", Unit::Nanoseconds,
            "time in which collectives run while other kernels compute",
            &DeviceWork::communicationUnderComputationNs),
        field("exposed_communication_ns", Unit::Nanoseconds,
            "time in which collectives run with no computation beside them, waiting for other ranks included",
            &DeviceWork::exposedCommunicationNs),
        field("streams", Unit::None, "the streams of the GPU, by number", &DeviceWork::streams),
    };
};

template <> struct Fields<LaunchCounts> {
    static constexpr std::tuple all{
        field("calls", Unit::Count, "calls that launch kernels or graphs", &LaunchCounts::calls),
        field(
            "without_work", Unit::Count, "calls that no work of a GPU refers to", &LaunchCounts::withoutWork),
        field("captured", Unit::Count,
            "calls of these that were captured into a graph, which runs when the graph is launched",
            &LaunchCounts::captured),
        field("lost", Unit::Count, "the others of these: the work that they launched was not recorded",
            &LaunchCounts::lost),
    };
};

} // namespace strata::model
