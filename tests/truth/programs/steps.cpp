// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program that trains in one of many ways; each step that it has made it tells as "stepped" on stdout.
//
// usage: steps WAY TURNS [FILE]
//
// FILE is written when static objects are destroyed: it has "kept" where the program ended in order.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <strata/capture.h>
#include <string>
#include <thread>
#include <torch/torch.h>
#include <unistd.h>

namespace {

namespace nn = torch::nn;
namespace optim = torch::optim;

struct Kept {
    std::ofstream file;
};
Kept g_kept; // flushed by its destructor alone

void say(const std::string& line)
{
    const std::string text = line + "\n";
    if (write(1, text.data(), text.size()) < 0)
        std::abort();
}

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

struct Training {
    nn::Linear model{ nn::LinearOptions(512, 512) };
    torch::Tensor batch;

    Training()
    {
        model->to(torch::kCUDA);
        batch = torch::ones({ 64, 512 }, torch::kCUDA);
    }
    torch::Tensor backward()
    {
        auto loss = model->forward(batch).sum();
        loss.backward();
        return loss;
    }
    /// One turn of the loop: forward, backward, step. `optimizer` is called by its table.
    void turn(optim::Optimizer& optimizer, int accumulated = 1)
    {
        for (int i = 0; i < accumulated; ++i)
            backward();
        optimizer.step();
        say("stepped");
        optimizer.zero_grad();
    }
};

std::unique_ptr<optim::Optimizer> makeOptimizer(
    const std::string& name, std::vector<torch::Tensor> parameters)
{
    if (name == "adagrad")
        return std::make_unique<optim::Adagrad>(parameters);
    if (name == "adam")
        return std::make_unique<optim::Adam>(parameters);
    if (name == "adamw")
        return std::make_unique<optim::AdamW>(parameters);
    if (name == "rmsprop")
        return std::make_unique<optim::RMSprop>(parameters);
    if (name == "sgd")
        return std::make_unique<optim::SGD>(parameters, optim::SGDOptions(0.1).momentum(0.9));
    if (name == "own")
        return std::make_unique<Lion>(parameters);
    return nullptr;
}

/// A local object, whose step() the compiler calls by name.
void direct(int turns)
{
    Training training;
    optim::AdamW optimizer(training.model->parameters());
    for (int i = 0; i < turns; ++i) {
        training.backward();
        optimizer.step();
        say("stepped");
        optimizer.zero_grad();
    }
}

/// Each step calls the closure four times.
void closure(int turns)
{
    Training training;
    // On a simulated device every gradient and change is zero: no tolerance may end the search.
    optim::LBFGS optimizer(training.model->parameters(),
        optim::LBFGSOptions(0.1).max_iter(4).tolerance_grad(-1).tolerance_change(-1));
    for (int i = 0; i < turns; ++i) {
        optimizer.step([&] {
            optimizer.zero_grad();
            say("closure");
            return training.backward();
        });
        say("stepped");
    }
}

/// Two optimizers that take turns: they end together.
void both(int turns)
{
    Training first, second;
    optim::Adam one(first.model->parameters());
    optim::SGD other(second.model->parameters(), optim::SGDOptions(0.1));
    for (int i = 0; i < turns; ++i) {
        first.turn(one);
        second.turn(other);
    }
}

void anew(int turns)
{
    Training training;
    for (int i = 0; i < turns; ++i) {
        optim::Adam optimizer(training.model->parameters());
        training.turn(optimizer);
    }
}

void byHand(int turns)
{
    Training training;
    for (int i = 0; i < turns; ++i) {
        training.backward();
        const torch::NoGradGuard guard;
        for (auto& parameter : training.model->parameters())
            parameter.sub_(parameter.grad(), 0.1);
        training.model->zero_grad();
        say("stepped");
    }
}

/// Two threads, one ten times as slow as the other.
void threads(int turns)
{
    const auto train = [turns](int milliseconds, std::int64_t extraBytes) {
        Training training;
        optim::Adam optimizer(training.model->parameters());
        for (int i = 0; i < turns; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
            const auto extra = torch::empty({ extraBytes }, torch::kUInt8).to(torch::kCUDA);
            training.turn(optimizer);
            say(extraBytes > 1 ? "slow" : "fast");
        }
    };
    std::thread fast(train, 10, 1), slow(train, 100, 256 << 20);
    fast.join();
    slow.join();
}

/// Two threads of which one waits for the other after each turn.
void lockstep(int turns)
{
    std::atomic<int> turn{ 0 };
    const auto train = [&turn, turns](int mine) {
        Training training;
        optim::Adam optimizer(training.model->parameters());
        for (int i = 0; i < turns; ++i) {
            while (turn.load() % 2 != mine)
                std::this_thread::yield();
            training.turn(optimizer);
            ++turn;
        }
    };
    std::thread first(train, 0), second(train, 1);
    first.join();
    second.join();
}

/// Steps that the program marks: `name` optimizes, or nobody does.
void ranges(const std::string& name, int turns)
{
    Training training;
    const auto optimizer = makeOptimizer(name, training.model->parameters());
    for (int i = 0; i < turns; ++i) {
        const strata::capture::Step step(i);
        const strata::capture::Step within(i); // a function of the program that marks it too
        training.turn(*optimizer);
        if (name != "own")
            training.turn(*optimizer);
    }
}

/// Whatever ends after main() fails.
struct Hangs {
    std::atomic<bool> armed{ false };
    ~Hangs()
    {
        while (armed.load())
            pause();
    }
};
struct Crashes {
    std::atomic<bool> armed{ false };
    ~Crashes()
    {
        if (armed.load())
            throw std::runtime_error("at the end");
    }
};
Hangs g_hangs;
Crashes g_crashes;

bool run(const std::string& way, int turns)
{
    if (way == "direct")
        direct(turns);
    else if (way == "closure")
        closure(turns);
    else if (way == "both")
        both(turns);
    else if (way == "anew")
        anew(turns);
    else if (way == "hand")
        byHand(turns);
    else if (way == "threads")
        threads(turns);
    else if (way == "lockstep")
        lockstep(turns);
    else if (way == "ranges")
        ranges("adam", turns);
    else if (way == "own ranges")
        ranges("own", turns);
    else {
        const bool accumulates = way == "accumulate";
        g_hangs.armed = way == "hangs";
        g_crashes.armed = way == "crashes";
        Training training;
        const auto optimizer = makeOptimizer(
            accumulates || g_hangs.armed || g_crashes.armed ? "adam" : way, training.model->parameters());
        if (!optimizer)
            return false;
        for (int i = 0; i < turns; ++i)
            training.turn(*optimizer, accumulates ? 4 : 1);
    }
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3)
        return 2;
    if (argc > 3) {
        g_kept.file.open(argv[3]);
        g_kept.file << "kept";
    }
    if (!run(argv[1], std::atoi(argv[2])))
        return 2;
    say("all turns");
    return 0;
}
