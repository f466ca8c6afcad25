// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program of the corpus: trains a transformer or a convolutional net with LibTorch and writes what the
// allocator itself counted.
//
// usage: train gpt|conv STEPS TRUTH.json [SNAPSHOT.pickle]
//
// With a snapshot, torch's own recorder is on from the start, and what it saw is written there; the process
// ends then and there, so that the state at its end is that of the snapshot.
#include <c10/cuda/CUDACachingAllocator.h>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <torch/csrc/cuda/memory_snapshot.h>
#include <torch/torch.h>

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr std::int64_t kVocabulary = 2000;
constexpr std::int64_t kContext = 128;

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
        const auto y = torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
        x = x + out(y.transpose(1, 2).reshape({ b, t, d }));
        return x + down(torch::gelu(up(norm2(x))));
    }

    std::int64_t heads;
    nn::LayerNorm norm1{ nullptr }, norm2{ nullptr };
    nn::Linear qkv{ nullptr }, out{ nullptr }, up{ nullptr }, down{ nullptr };
};
TORCH_MODULE(Block);

struct GptImpl : nn::Module {
    GptImpl()
    {
        tokens = register_module("tokens", nn::Embedding(kVocabulary, 256));
        for (int i = 0; i < 3; ++i)
            blocks->push_back(Block(256, 4));
        register_module("blocks", blocks);
        head = register_module("head", nn::Linear(256, kVocabulary));
    }

    torch::Tensor forward(const torch::Tensor& ids)
    {
        auto x = tokens(ids);
        for (const auto& block : *blocks)
            x = block->as<BlockImpl>()->forward(x);
        return head(x).flatten(0, 1);
    }

    nn::Embedding tokens{ nullptr };
    nn::ModuleList blocks;
    nn::Linear head{ nullptr };
};
TORCH_MODULE(Gpt);

nn::Sequential makeConv()
{
    const auto convolution
        = [](int in, int out) { return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)); };
    return nn::Sequential(convolution(3, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
        convolution(32, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
        nn::Linear(64, 10));
}

template <class Model> void train(Model& model, int steps, const torch::Tensor& x, const torch::Tensor& y)
{
    torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-3));
    for (int step = 0; step < steps; ++step) {
        auto loss = F::cross_entropy(model->forward(x), y);
        loss.backward();
        optimizer.step();
        optimizer.zero_grad();
    }
    torch::cuda::synchronize();
}

bool writeTruth(const char* path)
{
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
    std::FILE* file = std::fopen(path, "w");
    if (!file)
        return false;
    const auto peak = [](const auto& stat) { return static_cast<long long>(stat[0].peak); };
    std::fprintf(file, "{\"requested\":%lld,\"allocated\":%lld,\"reserved\":%lld}\n",
        peak(stats.requested_bytes), peak(stats.allocated_bytes), peak(stats.reserved_bytes));
    return std::fclose(file) == 0;
}

bool writeSnapshot(const char* path)
{
    const std::string pickle = torch::cuda::_memory_snapshot_pickled();
    std::FILE* file = std::fopen(path, "wb");
    if (!file)
        return false;
    const bool whole = std::fwrite(pickle.data(), 1, pickle.size(), file) == pickle.size();
    return std::fclose(file) == 0 && whole;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 4 && argc != 5) {
        std::fprintf(stderr, "usage: train gpt|conv STEPS TRUTH.json [SNAPSHOT.pickle]\n");
        return 2;
    }
    const torch::Device device(torch::kCUDA, 0);
    const int steps = std::atoi(argv[2]);
    const char* const snapshot = argc == 5 ? argv[4] : nullptr;
    if (snapshot)
        torch::cuda::_record_memory_history(std::optional<std::string>("all"), "all", "python");
    if (std::string(argv[1]) == "gpt") {
        Gpt model;
        model->to(device);
        const auto ids
            = torch::randint(kVocabulary, { 4, kContext }, torch::TensorOptions(torch::kLong)).to(device);
        train(model, steps, ids, ids.flatten());
        if (snapshot)
            std::exit(writeSnapshot(snapshot) ? 0 : 1);
    } else {
        nn::Sequential model = makeConv();
        model->to(device);
        const auto wanted = torch::randint(10, { 16 }, torch::TensorOptions(torch::kLong)).to(device);
        train(model, steps, torch::randn({ 16, 3, 64, 64 }, device), wanted);
        if (snapshot)
            std::exit(writeSnapshot(snapshot) ? 0 : 1);
    }
    std::puts("done");
    return writeTruth(argv[3]) ? 0 : 1;
}
