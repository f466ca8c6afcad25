// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/entry/activity_log.h"
#include "capture/simgpu/entry/api_calls.h"
#include "capture/simgpu/entry/launch_count.h"
#include "capture/simgpu/entry/process.h"
#include "capture/simgpu/machine/device_work.h"

#include <string>

namespace strata::simgpu {

/// Which node of which instantiated graph a piece of work is; 0 for none.
struct GraphPlace {
    std::uint32_t graph = 0;
    std::uint64_t node = 0;
};

/// One call of the runtime or driver by the program, for as long as it lasts: its record, and those of the
/// work that it issues, where somebody listens. Where nobody does it is one load. A call within a call is
/// part of the outer one, as with CUPTI. On the stack of the calling thread; its methods take the machine's
/// lock, so it is made before that.
class ApiCall {
public:
    explicit ApiCall(Api call)
    {
        if (anybodyListens())
            begin(call);
    }
    ~ApiCall()
    {
        if (m_part != Part::None)
            end();
    }
    ApiCall(const ApiCall&) = delete;
    ApiCall& operator=(const ApiCall&) = delete;

    bool isHeard() const { return m_part != Part::None; }

    /// A piece of work goes onto a stream. What CUDA lets the caller wait for, a copy that is not
    /// asynchronous or one to pageable memory, is waited for.
    void issue(void* stream, const DeviceWork& work, GraphPlace place = {}) const;
    /// All of an instantiated graph, in order: a record for each node.
    void launch(void* stream, const GraphExec& graph) const;
    /// Memory came or went; `device`: of pinned memory the current one. Nothing of an address of 0.
    void tellMemory(cupti::MemoryOperation operation, cupti::MemoryKind kind, int device, Address address,
        std::size_t bytes) const;
    void record(Streams::Event& event, void* stream) const;
    void wait(void* stream, const Streams::Event& event) const;
    /// These return when the simulated work is done by the client's clock.
    void synchronize(void* stream) const;
    void synchronize(const Streams::Event& event) const;
    void synchronizeDevice() const;

private:
    enum class Part : std::uint8_t { None, Inner, Outer };

    void begin(Api call);
    void end();

    Part m_part = Part::None;
    Api m_call{};
};

/// Work that does nothing but take its place: a node where the stream captures, else issued.
void perform(const ApiCall& call, void* stream, const DeviceWork& work);
/// A call of a library that runs at least one kernel. `name` stays for the life of the process.
void performLibrary(
    const char* name, void* stream, const WorkSize& size = {}, Extent grid = {}, Extent block = {});
/// Whether perform() and performLibrary() would do anything: names and sizes need not be made where it would
/// not.
inline bool isWorkSeen()
{
    return anybodyListens() || launchesAreCounted() || machine().streams.anyCapture();
}
/// The same text for the life of the process.
const char* keptName(const std::string& name);

/// The external correlations of this thread, innermost last. False from pop() where none of the kind is left.
void pushExternal(std::uint32_t kind, std::uint64_t id);
bool popExternal(std::uint32_t kind, std::uint64_t& id);
/// nullptr: nanoseconds since the epoch.
void setActivityClock(ActivityLog::Clock clock);

} // namespace strata::simgpu
