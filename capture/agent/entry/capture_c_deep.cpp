// SPDX-License-Identifier: Apache-2.0
// The C interface for deep steps: whoever stands beside the program tells what LibTorch does not.
#include "capture/agent/agent.h"
#include "capture/agent/entry/process_agent.h"
#include "capture/agent/stacks/module_table.h"
#include "strata/capture_c.h"

namespace {

using namespace strata;
using agent::guarded;
using wire::DeepKind;

constexpr bool isCode(strata_capture_deep kind, DeepKind code)
{
    return static_cast<int>(kind) == static_cast<int>(code);
}
static_assert(isCode(STRATA_CAPTURE_DEEP_SAVED, DeepKind::Saved)
    && isCode(STRATA_CAPTURE_DEEP_UNPACKED, DeepKind::Unpacked)
    && isCode(STRATA_CAPTURE_DEEP_RELEASED, DeepKind::Released)
    && isCode(STRATA_CAPTURE_DEEP_ENTERS, DeepKind::Enters)
    && isCode(STRATA_CAPTURE_DEEP_LEAVES, DeepKind::Leaves));
constexpr bool isCode(strata_capture_call kind, wire::CallKind code)
{
    return static_cast<int>(kind) == static_cast<int>(code);
}
static_assert(isCode(STRATA_CAPTURE_CALL_BACKWARD, wire::CallKind::Backward)
    && isCode(STRATA_CAPTURE_CALL_BACKWARD_ENDS, wire::CallKind::BackwardEnds)
    && isCode(STRATA_CAPTURE_CALL_AUTOCAST, wire::CallKind::Autocast)
    && isCode(STRATA_CAPTURE_CALL_AUTOCAST_ENDS, wire::CallKind::AutocastEnds)
    && isCode(STRATA_CAPTURE_CALL_KNOWN, wire::CallKind::Known));

} // namespace

int strata_capture_deep_begin()
{
    int begun = 0;
    guarded([&] {
        agent::Agent* const agent = agent::agentOfProcess();
        begun = agent && agent->beginDeepStep() ? 1 : 0;
    });
    return begun;
}

int strata_capture_deep_begin_alone(const void* const* parameters, uint64_t count)
{
    const int begun = strata_capture_deep_begin();
    if (begun != 0)
        guarded([&] { agent::agentOfProcess()->deepStep().seeAlone({ parameters, count }); });
    return begun;
}

void strata_capture_deep_gradients()
{
    guarded([&] {
        if (agent::Agent* const agent = agent::agentOfProcess())
            agent->deepStep().listGradients();
    });
}

void strata_capture_deep_end(const char* unusable)
{
    guarded([&] {
        if (agent::Agent* const agent = agent::agentOfProcess())
            agent->deepStep().end(unusable ? unusable : "");
    });
}

void strata_capture_deep_saved(uint32_t kind, uint32_t number, const void* tensor)
{
    if (agent::Agent* const agent = agent::agentOfProcess())
        agent->deepStep().addSaved(static_cast<DeepKind>(kind), number, tensor);
}

void strata_capture_deep_module(
    uint32_t kind, uint64_t module, const char* type, const void* const* tensors, uint64_t count)
{
    guarded([&] {
        if (agent::Agent* const agent = agent::agentOfProcess())
            agent->deepStep().addModule(static_cast<DeepKind>(kind),
                agent::modulesOfProcess().path(module).value_or(""), type ? type : "", { tensors, count });
    });
}

void strata_capture_deep_call(
    uint32_t kind, const char* name, const char* detail, const void* const* tensors, uint64_t count)
{
    guarded([&] {
        if (agent::Agent* const agent = agent::agentOfProcess())
            agent->deepStep().addCall(static_cast<wire::CallKind>(kind), name ? name : "",
                detail ? detail : "", { tensors, count });
    });
}
