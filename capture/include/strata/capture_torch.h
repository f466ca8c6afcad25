// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/capture.h"

#include <ATen/ATen.h>
#include <torch/optim.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

/// Tells a recording which tensors of a C++ program are what: capture/README.md. For Python programs Strata
/// does so by itself.
namespace strata::capture {

enum class Role : std::uint32_t {
    Parameter = STRATA_CAPTURE_PARAMETER,
    Buffer = STRATA_CAPTURE_BUFFER,
    Gradient = STRATA_CAPTURE_GRADIENT,
    OptimizerState = STRATA_CAPTURE_OPTIMIZER_STATE,
    Input = STRATA_CAPTURE_INPUT
};

/// Tensors by name. Keeps none alive; told again where they are, it passes on what changed. One thread.
class Tensors {
public:
    /// Where a tensor is now: a name and a part ("exp_avg") are one tensor of its role. Undefined tensors,
    /// and those that are not on a GPU, are nowhere.
    void list(Role role, const std::string& name, const at::Tensor& tensor, const std::string& part = {},
        std::uint32_t optimizer = STRATA_CAPTURE_NO_OPTIMIZER)
    {
        const bool there = tensor.defined() && tensor.is_cuda() && tensor.layout() == at::kStrided;
        Known& known = m_known[{ role, name, part, optimizer }];
        const About about
            = there ? About{ tensor.get_device(), tensor.scalar_type(), tensor.numel() } : known.about;
        const std::uint64_t address = there ? reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) : 0;
        if (there && about != known.about) {
            place(known, 0);
            known = { add(role, name, part, about, optimizer), 0, about };
        }
        place(known, address);
    }
    /// A module's parameters and buffers.
    template <class Module> void listModule(const Module& module)
    {
        for (const auto& each : module.named_parameters())
            list(Role::Parameter, each.key(), each.value());
        for (const auto& each : module.named_buffers())
            list(Role::Buffer, each.key(), each.value());
        flush();
    }
    /// Tells the recording what changed.
    void flush()
    {
        strata_capture_list(m_changed.data(), m_changed.size() / 2);
        m_changed.clear();
    }

private:
    using About = std::tuple<std::int64_t, at::ScalarType, std::int64_t>; // device, type, elements
    struct Known {
        std::uint32_t number = 0;
        std::uint64_t address = 0;
        About about{ -1, at::ScalarType::Undefined, 0 };
    };

    static std::uint32_t add(Role role, const std::string& name, const std::string& part, const About& about,
        std::uint32_t optimizer)
    {
        strata_capture_tensor told{};
        told.size = sizeof told;
        told.device = static_cast<std::int32_t>(std::get<0>(about));
        told.role = static_cast<std::uint32_t>(role);
        told.optimizer = optimizer;
        told.name = name.c_str();
        told.part = part.empty() ? nullptr : part.c_str();
        told.dtype = nameOf(std::get<1>(about));
        told.elements = static_cast<std::uint64_t>(std::get<2>(about));
        return strata_capture_add_tensor(&told);
    }
    /// As Python writes them.
    static const char* nameOf(at::ScalarType type)
    {
        switch (type) {
        case at::kFloat:
            return "float32";
        case at::kDouble:
            return "float64";
        case at::kHalf:
            return "float16";
        case at::kBFloat16:
            return "bfloat16";
        case at::kLong:
            return "int64";
        case at::kInt:
            return "int32";
        case at::kByte:
            return "uint8";
        case at::kBool:
            return "bool";
        default:
            return c10::toString(type);
        }
    }
    void place(Known& known, std::uint64_t address)
    {
        if (known.number == 0 || known.address == address)
            return;
        known.address = address;
        m_changed.push_back(known.number);
        m_changed.push_back(address);
    }

    std::map<std::tuple<Role, std::string, std::string, std::uint32_t>, Known> m_known;
    std::vector<std::uint64_t> m_changed;
};

/// What an optimizer holds: parameters, gradients and states. Call step() instead of the optimizer's own, or
/// stepped() behind that. The optimizer must outlive this. One thread.
class Optimizer {
public:
    /// `named`: as Module::named_parameters() gives them; parameters that are not in it are numbered.
    template <class Named>
    Optimizer(torch::optim::Optimizer& optimizer, std::string type, const Named& named)
        : m_optimizer(optimizer)
        , m_type(std::move(type))
    {
        for (const auto& each : named)
            m_names[each.value().unsafeGetTensorImpl()] = each.key();
    }

    at::Tensor step(torch::optim::Optimizer::LossClosure closure = nullptr)
    {
        const Scope scope("Optimizer.step#" + m_type + ".step");
        at::Tensor loss = m_optimizer.step(std::move(closure));
        stepped();
        return loss;
    }

    void stepped()
    {
        std::set<std::int64_t> devices;
        for (const auto& group : m_optimizer.param_groups())
            for (const at::Tensor& parameter : group.params()) {
                const std::string name = nameOf(parameter);
                m_tensors.list(Role::Parameter, name, parameter, {}, m_number);
                m_tensors.list(Role::Gradient, name, parameter.grad(), {}, m_number);
                if (const auto state = m_optimizer.state().find(parameter.unsafeGetTensorImpl());
                    state != m_optimizer.state().end())
                    listState(name, *state->second);
                if (parameter.is_cuda())
                    devices.insert(parameter.get_device());
            }
        m_tensors.flush();
        for (const std::int64_t device : devices)
            tellStep(device);
    }

private:
    std::string nameOf(const at::Tensor& parameter)
    {
        std::string& name = m_names[parameter.unsafeGetTensorImpl()];
        if (name.empty())
            name = "parameter " + std::to_string(m_unnamed++);
        return name;
    }

    void listState(const std::string& name, const torch::optim::OptimizerParamState& state)
    {
        const auto list = [&](const char* part, const at::Tensor& tensor) {
            m_tensors.list(Role::OptimizerState, name, tensor, part, m_number);
        };
        using namespace torch::optim;
        const auto adam = [&](const auto& moments) {
            list("exp_avg", moments.exp_avg());
            list("exp_avg_sq", moments.exp_avg_sq());
            list("max_exp_avg_sq", moments.max_exp_avg_sq());
        };
        if (const auto* const ofAdam = dynamic_cast<const AdamParamState*>(&state))
            adam(*ofAdam);
        else if (const auto* const ofAdamW = dynamic_cast<const AdamWParamState*>(&state))
            adam(*ofAdamW);
        else if (const auto* const sgd = dynamic_cast<const SGDParamState*>(&state))
            list("momentum_buffer", sgd->momentum_buffer());
        else if (const auto* const adagrad = dynamic_cast<const AdagradParamState*>(&state))
            list("sum", adagrad->sum());
        else if (const auto* const rms = dynamic_cast<const RMSpropParamState*>(&state)) {
            list("square_avg", rms->square_avg());
            list("momentum_buffer", rms->momentum_buffer());
            list("grad_avg", rms->grad_avg());
        } else if (const auto* const lbfgs = dynamic_cast<const LBFGSParamState*>(&state)) {
            list("d", lbfgs->d());
            list("prev_flat_grad", lbfgs->prev_flat_grad());
            listAll("old_dirs", name, lbfgs->old_dirs());
            listAll("old_stps", name, lbfgs->old_stps());
        }
    }
    template <class Many> void listAll(const char* part, const std::string& name, const Many& tensors)
    {
        std::size_t index = 0;
        const auto list = [&](const at::Tensor& each) {
            m_tensors.list(Role::OptimizerState, name, each,
                std::string(part) + "." + std::to_string(index++), m_number);
        };
        for (const at::Tensor& each : tensors)
            list(each);
        std::size_t& before = m_listed[name + " " + part];
        const std::size_t count = index;
        while (index < before)
            list({});
        before = count;
    }

    void tellStep(std::int64_t device)
    {
        std::uint32_t& number = m_steps[device];
        if (number == 0) {
            strata_capture_tensor told{};
            told.size = sizeof told;
            told.device = static_cast<std::int32_t>(device);
            told.role = STRATA_CAPTURE_STEPPED;
            told.optimizer = m_number;
            told.name = m_type.c_str();
            number = strata_capture_add_tensor(&told);
        }
        const std::uint64_t pair[]{ number, 0 };
        strata_capture_list(pair, 1);
    }

    torch::optim::Optimizer& m_optimizer;
    std::string m_type;
    std::uint32_t m_number = strata_capture_optimizer();
    std::map<const void*, std::string> m_names;
    int m_unnamed = 0;
    Tensors m_tensors;
    std::map<std::string, std::size_t> m_listed; // tensors in lists
    std::map<std::int64_t, std::uint32_t> m_steps;
};

} // namespace strata::capture
