// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/put_optimizers.h"

#include "model/whatif/run/optimizer_run.h"
#include "model/whatif/run/recorded_optimizers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace strata::model {

namespace {

using Size = OptimizerAsk::Size;

constexpr std::int64_t kFloat32 = 4;

/// What the states of PyTorch's optimizers are called, in the order in which a parameter's are made.
struct Parts {
    std::string_view optimizer;
    std::array<std::string_view, 3> names;
};
constexpr std::array kParts{
    Parts{ "Adadelta", { "square_avg", "acc_delta" } },
    Parts{ "Adagrad", { "sum" } },
    Parts{ "Adam", { "exp_avg", "exp_avg_sq", "max_exp_avg_sq" } },
    Parts{ "AdamW", { "exp_avg", "exp_avg_sq", "max_exp_avg_sq" } },
    Parts{ "Adamax", { "exp_avg", "exp_inf" } },
    Parts{ "NAdam", { "exp_avg", "exp_avg_sq" } },
    Parts{ "RAdam", { "exp_avg", "exp_avg_sq" } },
    Parts{ "RMSprop", { "square_avg", "momentum_buffer", "grad_avg" } },
    Parts{ "SGD", { "momentum_buffer" } },
};

/// Names what one parameter has of each sort: "state1", "state2", "absmax1", as bitsandbytes does.
class PartNames {
public:
    explicit PartNames(std::string_view optimizer)
        : m_known(std::ranges::find(kParts, optimizer, &Parts::optimizer))
    {
    }

    std::string next(const OptimizerEvent& made)
    {
        const bool isCounter = made.size == Size::Constant && made.bytes == kFloat32;
        if (isCounter) // on the device with fused=True or capturable=True
            return "step";
        const std::string sort = made.size == Size::Scales ? "absmax"
            : made.size == Size::Constant                  ? "qmap"
                                                           : "state";
        const std::size_t number = m_met[{ made.parameter, sort }]++;
        if (m_known != kParts.end() && sort == "state" && number < m_known->names.size()
            && !m_known->names[number].empty())
            return std::string(m_known->names[number]);
        return sort + std::to_string(number + 1);
    }

private:
    decltype(kParts)::const_iterator m_known;
    std::map<std::pair<std::uint32_t, std::string>, std::size_t> m_met;
};

} // namespace

std::vector<PutOptimizers::State> statesAmong(const std::vector<OptimizerEvent>& events,
    std::string_view name, const RecordedOptimizer& optimizer, const StringTable& strings)
{
    std::set<std::uint32_t> freed;
    for (const OptimizerEvent& event : events)
        if (!event.alloc)
            freed.insert(event.block);
    PartNames parts(name);
    std::vector<PutOptimizers::State> states;
    for (const OptimizerEvent& event : events) {
        if (!event.alloc || freed.contains(event.block))
            continue;
        const OptimizerParameter& parameter = optimizer.parameters[event.parameter];
        PutOptimizers::State state{ .block = event.block, .part = parts.next(event), .type = "float32" };
        if (event.parameter < optimizer.names.size())
            state.parameter = optimizer.names[event.parameter];
        if (event.size == Size::Bytes) {
            state.type = strings[StringId{ parameter.type }];
            state.elements = parameter.elements;
        } else if (event.size == Size::Int8) {
            state.type = "uint8";
            state.elements = event.bytes;
        } else {
            state.elements = event.bytes / kFloat32;
        }
        states.push_back(std::move(state));
    }
    return states;
}

std::string rangeName(const PutOptimizers& put, std::string_view recorded)
{
    std::string name(recorded);
    if (!recorded.starts_with("Optimizer."))
        return name;
    for (const PutOptimizers::Optimizer& each : put.all) {
        const std::string was = "#" + each.recorded + ".";
        if (const auto at = name.find(was); at != std::string::npos)
            return name.replace(at, was.size(), "#" + each.name + ".");
    }
    return name;
}

} // namespace strata::model
