// SPDX-License-Identifier: Apache-2.0
// The C interface for what tensors are and where modules have them.
#include "capture/agent/agent.h"
#include "capture/agent/entry/process_agent.h"
#include "capture/agent/say.h"
#include "strata/capture_c.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace strata;
using agent::guarded;
using agent::say;

constexpr bool isCode(strata_capture_role role, wire::RoleKind code)
{
    return static_cast<int>(role) == static_cast<int>(code);
}
static_assert(isCode(STRATA_CAPTURE_PARAMETER, wire::RoleKind::Parameter)
    && isCode(STRATA_CAPTURE_BUFFER, wire::RoleKind::Buffer)
    && isCode(STRATA_CAPTURE_GRADIENT, wire::RoleKind::Gradient)
    && isCode(STRATA_CAPTURE_OPTIMIZER_STATE, wire::RoleKind::OptimizerState)
    && isCode(STRATA_CAPTURE_INPUT, wire::RoleKind::Input)
    && isCode(STRATA_CAPTURE_STEPPED, wire::RoleKind::Stepped)
    && isCode(STRATA_CAPTURE_STEPPED_UNLISTED, wire::RoleKind::SteppedUnlisted));

} // namespace

uint32_t strata_capture_optimizer()
{
    return agent::tensorsOfProcess().addOptimizer();
}

uint32_t strata_capture_add_tensor(const strata_capture_tensor* given)
{
    std::uint32_t number = 0;
    guarded([&] {
        strata_capture_tensor tensor{};
        std::memcpy(&tensor, given, std::min<std::size_t>(given->size, sizeof tensor));
        if (tensor.role >= wire::kRoleKinds)
            return;
        const auto text = [](const char* from) { return std::string(from ? from : ""); };
        agent::TensorTable& tensors = agent::tensorsOfProcess();
        number = tensors.add({ tensor.device, static_cast<wire::RoleKind>(tensor.role), text(tensor.name),
            text(tensor.part), text(tensor.dtype), tensor.elements, tensor.optimizer });
        if (number == 0 && tensors.refused() == 1)
            say("there are too many names and sizes of tensors: those to come are not recorded");
    });
    return number;
}

void strata_capture_list(const uint64_t* pairs, uint64_t count)
{
    guarded([&] {
        std::vector<agent::PlacedTensor> placed;
        for (std::uint64_t i = 0; i < count; ++i)
            if (const auto tensor = agent::tensorsOfProcess().place(pairs[2 * i], pairs[2 * i + 1]))
                placed.push_back(*tensor);
        if (agent::Agent* const agent = agent::agentOfProcess())
            agent->list(placed);
    });
}

void strata_capture_optimizer_stepped(
    const void* optimizer, const char* type, const void* const* parameters, uint64_t count)
{
    guarded([&] {
        agent::Agent* const agent = agent::agentOfProcess();
        agent::TensorTable& tensors = agent::tensorsOfProcess();
        const auto number = agent ? tensors.unlistedOptimizer(optimizer) : std::nullopt;
        if (!number)
            return;
        std::vector<agent::PlacedTensor> placed;
        for (const std::int32_t device : agent->devicesOf({ parameters, count }))
            if (const auto step = tensors.place(tensors.add({ .device = device,
                                                    .kind = wire::RoleKind::SteppedUnlisted,
                                                    .name = type ? type : "",
                                                    .optimizer = *number }),
                    0))
                placed.push_back(*step);
        agent->list(placed);
    });
}

void strata_capture_module(uint64_t module, uint64_t parent, const char* name, const char* type)
{
    guarded([&] { agent::modulesOfProcess().add(module, parent, name ? name : "", type ? type : ""); });
}

void strata_capture_module_gone(uint64_t module)
{
    guarded([&] { agent::modulesOfProcess().remove(module); });
}

void strata_capture_name_in(uint64_t module, const char* name, char* full, uint64_t room)
{
    guarded([&] {
        const std::string text = agent::modulesOfProcess().nameIn(module, name);
        if (room > 0)
            full[text.copy(full, room - 1)] = '\0';
    });
}
