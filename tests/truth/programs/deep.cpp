// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program that trains, with a step that may be looked at.
//
// usage: deep FAMILY STEPS [OPTION]...
//
// Families: mlp, gpt, conv. Optimizers: adam, adagrad, lbfgs, momentum, own, rmsprop, sgd; else AdamW.
//   double       twice the batch; triple: three times
//   autocast     forward and loss under autocast
//   accumulate   two backwards a step
//   held         what the network returns stays until it returns the next
//   zeroed       gradients are zeroed, and stay
//   penalty      the gradient of the loss for the batch is part of the loss
//   function     a function of autograd that the program wrote
//   graph        a CUDA graph is captured within step 3
//   many         two optimizers, one behind the other
//   threads      the optimizer steps on one thread, then on another
#include <ATen/autocast_mode.h>
#include <ATen/cuda/CUDAGraph.h>
#include <algorithm>
#include <c10/cuda/CUDAStream.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <torch/torch.h>
#include <vector>

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
namespace optim = torch::optim;

std::vector<std::string> g_options;

bool has(const std::string& option)
{
    return std::find(g_options.begin(), g_options.end(), option) != g_options.end();
}

struct BlockImpl : nn::Module {
    BlockImpl(std::int64_t width, std::int64_t heads)
        : heads(heads)
    {
        norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({ width })));
        norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({ width })));
        qkv = register_module("qkv", nn::Linear(width, 3 * width));
        out = register_module("out", nn::Linear(width, width));
        up = register_module("up", nn::Linear(width, 4 * width));
        down = register_module("down", nn::Linear(4 * width, width));
    }

    torch::Tensor forward(torch::Tensor x)
    {
        const auto b = x.size(0), t = x.size(1), d = x.size(2);
        const auto parts = qkv(norm1(x)).view({ b, t, 3, heads, d / heads }).permute({ 2, 0, 3, 1, 4 });
        const auto scores = torch::softmax(
            torch::matmul(parts[0], parts[1].transpose(-2, -1)) / std::sqrt(double(d / heads)), -1);
        x = x + out(torch::matmul(scores, parts[2]).transpose(1, 2).reshape({ b, t, d }));
        return x + down(torch::dropout(torch::gelu(up(norm2(x))), 0.1, true));
    }

    std::int64_t heads;
    nn::LayerNorm norm1{ nullptr }, norm2{ nullptr };
    nn::Linear qkv{ nullptr }, out{ nullptr }, up{ nullptr }, down{ nullptr };
};
TORCH_MODULE(Block);

struct Cube : torch::autograd::Function<Cube> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x)
    {
        context->save_for_backward({ x });
        return x * x * x;
    }
    static torch::autograd::variable_list backward(
        torch::autograd::AutogradContext* context, const torch::autograd::variable_list& gradients)
    {
        const auto x = context->get_saved_variables()[0];
        return { 3 * x * x * gradients[0] };
    }
};

/// What trains, and how its loss comes about.
struct Training {
    nn::Sequential model;
    torch::Tensor batch, wanted;

    explicit Training(const std::string& family)
    {
        const std::int64_t items = has("triple") ? 48 : has("double") ? 32 : 16;
        const auto numbers = [](std::int64_t most, torch::IntArrayRef sizes) {
            return torch::randint(most, sizes, torch::TensorOptions(torch::kLong)).to(torch::kCUDA);
        };
        if (family == "gpt") {
            model
                = nn::Sequential(nn::Embedding(500, 128), Block(128, 4), Block(128, 4), nn::Linear(128, 500));
            batch = numbers(500, { items, 64 });
            wanted = batch.flatten();
        } else if (family == "conv") {
            const auto convolution
                = [](int in, int out) { return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)); };
            model = nn::Sequential(convolution(3, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
                convolution(32, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                nn::Linear(64, 10));
            batch = torch::randn({ items, 3, 48, 48 }, torch::kCUDA);
            wanted = numbers(10, { items });
        } else {
            model = nn::Sequential(nn::Linear(512, 1024), nn::ReLU(), nn::Linear(1024, 512));
            batch = torch::randn({ 64 * items, 512 }, torch::kCUDA);
        }
        model->to(torch::kCUDA);
    }

    torch::Tensor loss()
    {
        if (has("autocast"))
            at::autocast::set_autocast_enabled(at::kCUDA, true);
        auto result = model->forward(batch);
        if (has("function"))
            result = Cube::apply(result);
        if (has("held"))
            held = result;
        auto loss = wanted.defined() ? F::cross_entropy(result.flatten(0, -2), wanted) : result.sum();
        if (has("autocast")) {
            at::autocast::clear_cache();
            at::autocast::set_autocast_enabled(at::kCUDA, false);
        }
        return loss;
    }

    void backward()
    {
        if (has("penalty"))
            batch.requires_grad_(true);
        auto made = loss();
        if (has("penalty")) {
            const auto slopes = torch::autograd::grad({ made }, { batch }, {}, std::nullopt, true);
            made = made + slopes[0].pow(2).sum();
        }
        made.backward();
    }

    torch::Tensor held;
};

/// Written by hand, as optimizers that LibTorch lacks are.
struct Lion : optim::Optimizer {
    explicit Lion(std::vector<torch::Tensor> parameters)
        : Optimizer(std::move(parameters), std::make_unique<optim::SGDOptions>(0.1))
    {
    }
    torch::Tensor step(LossClosure = nullptr) override
    {
        const torch::NoGradGuard guard;
        for (auto& parameter : param_groups()[0].params())
            parameter.sub_(parameter.grad().sign(), 0.1);
        return {};
    }
};

std::unique_ptr<optim::Optimizer> makeOptimizer(const std::vector<torch::Tensor>& parameters)
{
    if (has("adam"))
        return std::make_unique<optim::Adam>(parameters, optim::AdamOptions(1e-3).amsgrad(true));
    if (has("adagrad"))
        return std::make_unique<optim::Adagrad>(parameters);
    if (has("lbfgs")) // on a simulated device every gradient is zero: no tolerance may end the search
        return std::make_unique<optim::LBFGS>(
            parameters, optim::LBFGSOptions(0.1).max_iter(3).tolerance_grad(-1).tolerance_change(-1));
    if (has("momentum"))
        return std::make_unique<optim::SGD>(parameters, optim::SGDOptions(0.1).momentum(0.9));
    if (has("own"))
        return std::make_unique<Lion>(parameters);
    if (has("rmsprop"))
        return std::make_unique<optim::RMSprop>(parameters);
    if (has("sgd"))
        return std::make_unique<optim::SGD>(parameters, optim::SGDOptions(0.1));
    return std::make_unique<optim::AdamW>(parameters, optim::AdamWOptions(1e-3));
}

void useGraph()
{
    const auto before = c10::cuda::getCurrentCUDAStream();
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
    auto input = torch::ones({ 1024 }, torch::kCUDA);
    at::cuda::CUDAGraph graph;
    graph.capture_begin();
    const auto output = input * 2;
    graph.capture_end();
    graph.replay();
    c10::cuda::setCurrentCUDAStream(before);
}

void turn(Training& training, optim::Optimizer& optimizer, int step)
{
    if (has("lbfgs")) {
        optimizer.step([&] {
            optimizer.zero_grad();
            auto loss = training.loss();
            loss.backward();
            return loss;
        });
        return;
    }
    optimizer.zero_grad(!has("zeroed"));
    for (int i = 0; i < (has("accumulate") ? 2 : 1); ++i)
        training.backward();
    if (has("graph") && step == 2)
        useGraph();
    if (has("threads") && step == 2)
        std::thread([&] { optimizer.step(); }).join();
    else
        optimizer.step();
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3)
        return std::fprintf(stderr, "usage: deep FAMILY STEPS [OPTION]...\n"), 2;
    g_options.assign(argv + 3, argv + argc);
    std::vector<Training> trainings(1, Training(argv[1]));
    if (has("many"))
        trainings.emplace_back(argv[1]);
    std::vector<std::unique_ptr<optim::Optimizer>> optimizers;
    for (Training& each : trainings)
        optimizers.push_back(makeOptimizer(each.model->parameters()));
    for (int step = 0; step < std::atoi(argv[2]); ++step)
        for (std::size_t i = 0; i < trainings.size(); ++i)
            turn(trainings[i], *optimizers[i], step);
    torch::cuda::synchronize();
    std::puts("done");
}
