// SPDX-License-Identifier: GPL-3.0-or-later
// A training in C++ that records its kernels itself, by options of strata/capture.h, around LibTorch's own profiler:
// kernels KERNELS SESSION TRACE. KERNELS is off, aside or shared. Prints a line of JSON: how many records of each kind the simulated
// device has made at the beginning of the recording, around the profiler, and at its end; then the thread that launches.
#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <optional>
#include <strata/capture.h>
#include <string>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/torch.h>
#include <unistd.h>

namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

constexpr int kSteps = 3;
constexpr std::uint32_t kKinds = 64;

void tellMade()
{
    using Counts = void (*)(std::uint64_t*, std::uint32_t);
    static const auto made = reinterpret_cast<Counts>(dlsym(RTLD_DEFAULT, "strata_simgpu_activity_counts"));
    std::uint64_t counts[kKinds] = {};
    if (made)
        made(counts, kKinds);
    std::printf("[");
    for (std::uint32_t kind = 0; kind < kKinds; ++kind)
        std::printf("%s%llu", kind ? ", " : "", static_cast<unsigned long long>(counts[kind]));
    std::printf("], ");
}

strata::capture::Kernels kernelsOf(const std::string& word)
{
    return word == "aside" ? strata::capture::Kernels::Aside
        : word == "shared" ? strata::capture::Kernels::Shared
                           : strata::capture::Kernels::Off;
}

class Training {
public:
    Training()
        : m_model(torch::nn::Linear(64, 256), torch::nn::GELU(), torch::nn::Linear(256, 10))
    {
        m_model->to(torch::kCUDA);
        m_adam.emplace(m_model->parameters());
    }

    void steps()
    {
        for (int i = 0; i < kSteps; ++i) {
            m_adam->zero_grad();
            const torch::Tensor x = torch::randn({ 32, 64 }).to(torch::kCUDA);
            m_model->forward(x).sum().backward();
            m_adam->step();
        }
        torch::cuda::synchronize();
    }

private:
    torch::nn::Sequential m_model;
    std::optional<torch::optim::Adam> m_adam;
};

} // namespace

int main(int, char** arguments)
{
    const std::string kernels = arguments[1];
    Training training;
    training.steps();
    strata::capture::Options options;
    options.file = arguments[2];
    options.stacks = strata::capture::Stacks::None;
    options.existing = strata::capture::Existing::Replace;
    options.kernels = kernelsOf(kernels);
    std::optional<strata::capture::Recording> recording(std::in_place, options);
    std::printf("{\"made\": [");
    tellMade();
    training.steps();
    tellMade();

    const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
    const std::set<ActivityType> activities{ ActivityType::CPU, ActivityType::CUDA };
    profiler::prepareProfiler(config, activities);
    profiler::enableProfiler(config, activities);
    training.steps();
    profiler::disableProfiler()->save(arguments[3]);

    tellMade();
    training.steps();
    tellMade();
    recording.reset();
    training.steps(); // of no recording
    tellMade();
    std::printf("[]], \"thread\": %d}\n", static_cast<int>(gettid()));
}
