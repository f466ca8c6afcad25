// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program whose threads all take steps at once, with parts of the same names, and count what they do.
//
// usage: threads THREADS SESSION
//
// Thread T takes 4 + T steps: in each, a forward with T % 4 + 1 layers inside each other and an allocation of
// 1 MiB + T * 512 bytes in the innermost, a backward with a range, a mark, and every second time an
// optimizer. Prints a line of JSON for each thread: its number as the system counts, and all that it said, in
// order.
#include <ATen/ATen.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <strata/capture.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using strata::capture::Phase;

/// What one thread says, as it sees it.
struct Said {
    std::string text;
    void add(const char* kind, const std::string& name)
    {
        text += (text.empty() ? "[\"" : ", [\"") + std::string(kind) + "\", \"" + name + "\"]";
    }
};

/// A range that is counted as it begins and ends.
template <class Range> class Counted {
public:
    template <class Argument>
    Counted(Said& said, std::string name, Argument argument)
        : m_said(said)
        , m_name(std::move(name))
        , m_range(argument)
    {
        m_said.add("START", m_name);
    }
    ~Counted() { m_said.add("END", m_name); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

private:
    Said& m_said;
    std::string m_name;
    Range m_range;
};

using Scope = Counted<strata::capture::Scope>;

void layers(Said& said, int thread, int depth)
{
    const Scope layer(said, "layer", "layer");
    if (depth > 1)
        return layers(said, thread, depth - 1);
    const auto bytes = (std::int64_t{ 1 } << 20) + thread * 512;
    const at::Tensor activation = at::empty({ bytes }, at::TensorOptions(at::kCUDA).dtype(at::kByte));
}

void takeStep(Said& said, int thread, int number)
{
    const Counted<strata::capture::Step> step(said, "step " + std::to_string(number), number);
    {
        const Counted<Phase> forward(said, "forward", Phase::Forward);
        layers(said, thread, thread % 4 + 1);
    }
    {
        const Counted<Phase> backward(said, "backward", Phase::Backward);
        const Scope reduce(said, "all-reduce", "all-reduce");
    }
    strata::capture::mark("batch done");
    said.add("MARK", "batch done");
    if (number % 2 == 1) {
        const Counted<Phase> optimizer(said, "optimizer", Phase::Optimizer);
    }
}

} // namespace

int main(int argc, char** argv)
{
    const int threads = argc == 3 ? std::atoi(argv[1]) : 0;
    if (threads < 1) {
        std::fprintf(stderr, "usage: threads THREADS SESSION\n");
        return 2;
    }
    strata::capture::Options options;
    options.file = argv[2];
    const strata::capture::Recording recording(options);
    std::atomic<int> waiting{ threads };
    std::vector<Said> said(static_cast<std::size_t>(threads));
    std::vector<int> numbers(said.size());
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread)
        all.emplace_back([&, thread] {
            const auto mine = static_cast<std::size_t>(thread);
            numbers[mine] = gettid();
            for (--waiting; waiting.load() > 0;) { }
            for (int number = 0; number < 4 + thread; ++number)
                takeStep(said[mine], thread, number);
        });
    for (std::thread& thread : all)
        thread.join();
    for (std::size_t i = 0; i < said.size(); ++i)
        std::printf("{\"thread\": %d, \"bytes\": %zu, \"said\": [%s]}\n", numbers[i],
            (std::size_t{ 1 } << 20) + i * 512, said[i].text.c_str());
}
