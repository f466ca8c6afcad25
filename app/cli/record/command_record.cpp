// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/record/record.h"
#include "model/base/units.h"

#include <CLI/CLI.hpp>

namespace strata::cli {

namespace {

using model::Error;

model::Result<std::optional<std::int64_t>> sizeOf(const std::string& option, const std::string& text)
{
    if (text.empty())
        return std::optional<std::int64_t>();
    const auto bytes = model::parseBytes(text);
    if (!bytes || *bytes <= 0)
        return model::fail(
            Error::Kind::Usage, model::say("%1 %2: not a size", option, text), model::say("e.g. 512MiB"));
    return bytes;
}

class RecordCommand final : public Command {
public:
    RecordCommand()
        : Command("record", "Runs a program and records the GPU memory of its processes as sessions")
    {
        m_program.example = "strata record -o run.strata -- python train.py";
    }

    ProgramWords* programWords() override { return &m_program; }
    std::string_view place() const override { return "record"; }

    void declare(CLI::App& app) override
    {
        app.description(
            "Runs a command and records the GPU memory of every process in it that uses PyTorch or LibTorch");
        app.add_option("-o,--output", m_options.output,
            "The session to write, named .strata; {process} in the name becomes the process id. Without it a "
            "second process writes beside it, as FILE.PID.strata, ranks as FILE.rankN.strata");
        app.add_flag("--overwrite", m_options.overwrite, "Replaces a session that is there already");
        app.add_option("--stacks", m_options.stacks,
               "Whose call stacks: python, native (C++), none, or auto: Python's, and C++'s where a thread "
               "runs no Python, as autograd's own does")
            ->check(CLI::IsMember({ "auto", "none", "python", "native" }))
            ->capture_default_str();
        app.add_flag("--kernels", m_kernels,
            "What the GPU does, too, by CUPTI: kernels, copies, sets, and the calls that have it do so; "
            "strata timeline shows them. While torch.profiler runs in the program, it alone is told");
        app.add_flag("--share-kernels", m_sharesKernels,
            "Kernels as with --kernels, and while torch.profiler runs both are told: not yet tried on a real "
            "GPU");
        app.add_flag("--operators", m_options.operators,
            "Kernels as with --kernels, and PyTorch's operators with sizes and types of their inputs: which "
            "launched what, FLOPs, the roofline. Costs microseconds an operator");
        app.add_option("--deep-step", m_options.deepStep,
               "Of that step of the training every operator with its tensors, what autograd saves, and when "
               "each is let go, for strata whatif: takes up to three times as long. 0: of none")
            ->capture_default_str()
            ->check(CLI::IsMember({ 0 }) | CLI::Range(2, 1'000'000'000));
        app.add_option("--ring", m_options.ringEvents,
               "Events that may wait for the disk, for each device (131072 unless said): more if events are "
               "lost")
            ->check(CLI::Range(std::int64_t{ 64 }, std::int64_t{ 1 } << 30));
        app.add_option("--memory", m_memory,
            "Host memory that the recorder may take in each process (256MiB unless said)");
        app.add_flag("--live", m_options.live.isOn,
            "Others may look on while it runs, this user and root: strata list, strata attach. Without -o it "
            "is recorded for them alone");
        app.add_option("--live-port", m_options.live.port,
               "With --live, on this port of 127.0.0.1 too, for an SSH tunnel; 0 takes a free one. The token "
               "is "
               "that of STRATA_TOKEN, else one that is said")
            ->check(CLI::Range(0, 65'535));
        app.add_option("--live-memory", m_liveMemory,
            "With --live and without -o, what is kept of each process for those who look on (64MiB unless "
            "said): the oldest detail is dropped");
        app.add_option("--simulated", m_options.simulated,
            "Run on a simulated card of the catalogue, e.g. H100-80GB: no GPU is needed, and there are no "
            "real times");
        app.add_option(
            "--capacity", m_capacity, "Memory of the simulated card instead of its own, e.g. 16GiB");
        app.add_option("--other-processes", m_others,
            "Memory of each simulated card that other processes hold all the time, e.g. 4GiB");
        app.add_option("--devices", m_options.devices, "Number of simulated cards")->check(CLI::Range(1, 64));
        app.footer("\nExample:\n  strata record -o run.strata -- python train.py\n\n"
                   "Another machine's processes, with --live-port 7070 there:\n"
                   "  ssh -N -L 7070:127.0.0.1:7070 HOST\n"
                   "  STRATA_TOKEN=... strata attach 127.0.0.1:7070 -o run.strata\n\n"
                   "Exit codes:\n  those of the program, 128 + signal where one ended it   2 bad usage\n");
    }

    model::Result<void> check() override
    {
        m_options.command = m_program.words;
        if (m_options.output.empty() && !m_options.live.isOn)
            return model::fail(Error::Kind::Usage, model::say("no file to write"),
                model::say("name one with -o, as in strata record -o run.strata -- ..."));
        if (!m_options.live.isOn && (m_options.live.port || !m_liveMemory.empty()))
            return model::fail(Error::Kind::Usage, model::say("--live-port and --live-memory are of --live"),
                model::say("add it"));
        if (m_options.simulated.empty()
            && (!m_capacity.empty() || !m_others.empty() || m_options.devices != 1))
            return model::fail(Error::Kind::Usage,
                model::say("--capacity, --other-processes and --devices are of the simulated card"),
                model::say("name one with --simulated"));
        m_options.kernels = m_sharesKernels ? "shared" : m_kernels || m_options.operators ? "aside" : "";
        const auto memoryBytes = sizeOf("--memory", m_memory);
        const auto capacityBytes = sizeOf("--capacity", m_capacity);
        const auto otherBytes = sizeOf("--other-processes", m_others);
        const auto liveBytes = sizeOf("--live-memory", m_liveMemory);
        for (const auto* size : { &memoryBytes, &capacityBytes, &otherBytes, &liveBytes }) {
            if (!*size)
                return model::Failure(size->error());
        }
        m_options.memoryBytes = *memoryBytes;
        m_options.live.memoryBytes = liveBytes->value_or(0);
        m_options.capacityBytes = *capacityBytes;
        m_options.otherBytes = otherBytes->value_or(0);
        return {};
    }

    model::Result<int> run(Output&, Output&) override { return record(m_options); }

    /// What keeps the program from starting: all else has its own exit code.
    int exitCodeOf(const Error&) const override { return kUsage; }

private:
    RecordOptions m_options;
    ProgramWords m_program;
    bool m_kernels = false, m_sharesKernels = false;
    std::string m_memory, m_capacity, m_others, m_liveMemory;
};

} // namespace

std::unique_ptr<Command> makeRecord()
{
    return std::make_unique<RecordCommand>();
}

} // namespace strata::cli
