// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ training that tells what its tensors are: two steps of a small model by AdamW, a
// batch, and an optimizer whose state becomes shorter.
#include <strata/capture_torch.h>
#include <torch/torch.h>

int main()
{
    torch::nn::Sequential model(
        torch::nn::Linear(256, 512), torch::nn::BatchNorm1d(512), torch::nn::Linear(512, 10));
    model->to(torch::kCUDA);
    torch::optim::AdamW adamw(model->parameters());
    strata::capture::Optimizer optimizer(adamw, "AdamW", model->named_parameters());
    strata::capture::Tensors tensors;
    const torch::Tensor batch = torch::ones({ 64, 256 }, torch::kCUDA);
    tensors.list(strata::capture::Role::Input, "batch", batch);
    tensors.listModule(*model);
    for (int step = 0; step < 2; ++step) {
        adamw.zero_grad();
        model->forward(batch).sum().backward();
        optimizer.step();
    }
    torch::optim::LBFGS lbfgs(model->parameters());
    strata::capture::Optimizer forgetful(lbfgs, "LBFGS", model->named_parameters());
    auto state = std::make_unique<torch::optim::LBFGSParamState>();
    auto& history = state->old_dirs();
    history = { torch::ones(4, torch::kCUDA), torch::ones(4, torch::kCUDA) };
    lbfgs.state()[model->parameters().front().unsafeGetTensorImpl()] = std::move(state);
    forgetful.stepped();
    history.pop_front();
    forgetful.stepped();
}
