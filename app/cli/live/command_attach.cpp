// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/live/inject_option.h"
#include "app/cli/live/polled.h"
#include "app/cli/live/terminal/watch.h"
#include "app/cli/options.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/live/attached_file.h"
#include "model/live/follow.h"
#include "model/live/processes_answer.h"
#include "model/session/symbolize.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <thread>

namespace strata::cli {

namespace {

namespace fs = std::filesystem;
using model::Error;
using model::LinkState;
using namespace std::chrono_literals;

volatile std::sig_atomic_t g_interrupted = 0;

/// An interrupt, or who asks this program to end, ends the watching alone: what came until then is kept.
class Interrupts {
public:
    Interrupts()
    {
        g_interrupted = 0;
        m_interrupt = std::signal(SIGINT, [](int) { g_interrupted = 1; });
        m_terminate = std::signal(SIGTERM, [](int) { g_interrupted = 1; });
        m_thread = std::jthread([this](const std::stop_token& stop) {
            while (!stop.stop_requested() && g_interrupted == 0)
                std::this_thread::sleep_for(20ms);
            m_stop.request_stop();
        });
    }
    ~Interrupts()
    {
        m_thread.request_stop();
        m_thread.join();
        std::signal(SIGINT, m_interrupt);
        std::signal(SIGTERM, m_terminate);
    }
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    [[nodiscard]] std::stop_token token() const { return m_stop.get_token(); }

private:
    void (*m_interrupt)(int) = SIG_DFL;
    void (*m_terminate)(int) = SIG_DFL;
    std::stop_source m_stop;
    std::jthread m_thread;
};

/// "run.strata", and "run.2.strata" behind a gap.
fs::path nameOf(const fs::path& first, std::size_t number)
{
    if (number == 1)
        return first;
    fs::path name = first;
    return name.replace_extension(fmt::format(".{}{}", number, first.extension().string()));
}

/// Writes what a link gives to files, and says what happens.
class Writer final : public model::LinkTaker {
public:
    Writer(const model::LinkAddress& address, fs::path output, bool json, Output& out, Output& err)
        : m_output(std::move(output))
        , m_json(json)
        , m_out(out)
        , m_err(err)
    {
        m_process.address = address;
    }

    void onState(LinkState state, const model::Sentence& why) override
    {
        if (state == LinkState::Reconnecting)
            tell("the connection is gone: trying again");
        else if (state == LinkState::Broken)
            tell(model::Error{ Error::Kind::NotFound, why, {}, {} }.text());
        m_state = state;
    }
    void onGreeting(const wire::Greeting& greeting) override
    {
        const std::optional<wire::Totals> totals = std::move(m_process.totals);
        m_process = model::describe(greeting, m_process.address);
        m_process.totals = totals;
        if (std::exchange(m_greeted, true))
            return tell("connected again");
        tell(fmt::format("attached to process {}{}: Ctrl+C ends that, not the process",
            m_process.process ? std::to_string(*m_process.process) : m_process.address.text(),
            m_process.name.empty() ? "" : ", " + m_process.name));
    }
    void onTotals(const wire::Totals& totals) override
    {
        m_process.totals = totals;
        if (!m_json || totals.timeNs == 0 || std::chrono::steady_clock::now() - m_printedAt < 900ms)
            return;
        m_printedAt = std::chrono::steady_clock::now();
        m_out.write(jsonLine(model::ProcessAt{ m_process, totals.timeNs }));
        m_out.flush();
    }
    model::Result<void> onBegin(const std::vector<wire::Gap::Missing>& missing) override
    {
        if (m_output.empty())
            return {};
        const fs::path path = nameOf(m_output, m_files.size() + 1);
        auto file = model::AttachedFile::create(path);
        if (!file)
            return model::Failure(file.error());
        if (!missing.empty()) {
            std::int64_t events = 0;
            for (const wire::Gap::Missing& each : missing)
                events += static_cast<std::int64_t>(each.events);
            tell(fmt::format("{}: joined late: {} events were dropped before they could be sent (record to a "
                             "file, or with more --live-memory)",
                path.string(), model::formatCount(events)));
        }
        m_file = std::move(*file);
        m_files.push_back(path);
        return {};
    }
    model::Result<void> onBytes(std::span<const std::byte> chunks) override
    {
        return m_file ? m_file->append(chunks) : model::Result<void>{};
    }

    /// Says what was written.
    void finish()
    {
        // Who watched has ended it: neither the recording nor the link did.
        if (m_file && (m_state == LinkState::Following || m_state == LinkState::Reconnecting))
            (void)m_file->endEarly(model::say("The watching ended here, and the program went on"));
        m_file.reset();
        for (const fs::path& path : m_files) {
            std::error_code error;
            (void)model::symbolize(path); // what is not found stays without
            tell(fmt::format("{}: {}{}", path.string(),
                model::formatBytes(static_cast<std::int64_t>(fs::file_size(path, error))),
                &path == &m_files.back() && m_state == LinkState::Ended ? "" : ", without its end"));
        }
        if (m_files.empty() && !m_output.empty())
            tell(fmt::format("{}: not written: nothing came", m_output.string()));
    }

private:
    void tell(const std::string& what)
    {
        m_err.line("strata: " + what);
        m_err.flush();
    }

    const fs::path m_output;
    const bool m_json;
    Output& m_out;
    Output& m_err;
    model::LiveProcess m_process;
    std::optional<model::AttachedFile> m_file;
    std::vector<fs::path> m_files;
    std::chrono::steady_clock::time_point m_printedAt{};
    LinkState m_state = LinkState::Connecting;
    bool m_greeted = false;
};

class Attach final : public Command {
public:
    Attach()
        : Command("attach",
            "Watches a process that is recorded: on the terminal, to a session, or as figures each second")
    {
    }

    std::string_view place() const override { return "attach"; }

    void declare(CLI::App& app) override
    {
        app.add_option("process", m_target,
               "The number of a process, as strata list shows it, the path of its socket, or 127.0.0.1:PORT")
            ->required();
        app.add_option("-o,--output", m_output,
            "The session to write, named .strata: all of the recording, from its first event on where it is "
            "recorded to a file");
        app.add_flag("--json", m_json, "A line of JSON a second: the keys of strata list, and time_ns");
        app.add_option("--seconds", m_seconds, "Ends after so long")->check(CLI::Range(0.001, 1e9));
        m_inject.declare(app);
        app.footer(
            "\nWithout -o and --json it is a picture on the terminal, which h explains. A process that lets "
            "nobody look on "
            "\nis shown by the driver's totals.\n"
            "\nA process that was started without a recorder, for half a minute:\n"
            "  strata attach --inject 4711 -o run.strata --seconds 30\n"
            "\nA process of another machine, through a tunnel, with the token that it says as it begins:\n"
            "  ssh HOST strata record --live --live-port 7070 -- python train.py\n"
            "  ssh -N -L 7070:127.0.0.1:7070 HOST\n"
            "  STRATA_TOKEN=... strata attach 127.0.0.1:7070 -o run.strata\n\n"
            "Exit codes:\n  0 done, also where the process was killed   1 there is no such process   "
            "2 bad usage   3 it cannot be followed, or may not be injected into\n");
    }

    model::Result<void> check() override
    {
        if (const auto checked = m_inject.check(m_target); !checked)
            return checked;
        if (!m_output.empty() && fs::path(m_output).extension() != ".strata")
            return model::fail(Error::Kind::Usage,
                model::say("%1: a session's name ends in .strata", m_output), model::say("name it so"));
        std::error_code error;
        if (!m_output.empty() && fs::exists(fs::symlink_status(m_output, error)))
            return model::fail(Error::Kind::Usage, model::say("%1: is there already", m_output),
                model::say("name another one"));
        if (const fs::path folder = fs::absolute(m_output, error).parent_path();
            !m_output.empty() && !fs::is_directory(folder, error))
            return model::fail(Error::Kind::Usage, model::say("%1: there is no such folder", folder.string()),
                model::say("make it, or name another one"));
        return {};
    }

    model::Result<int> run(Output& out, Output& err) override
    {
        // One for all of it: an interrupt between two parts must not be lost.
        std::optional<Interrupts> interrupts(std::in_place);
        if (m_inject.ends()) {
            if (const auto ended = m_inject.end(m_target, err, interrupts->token()); !ended)
                return model::Failure(ended.error());
            return kDone;
        }
        std::optional<launch::Injection> injection;
        if (m_inject.isOn()) {
            auto begun = m_inject.begin(m_target, err, interrupts->token());
            if (!begun)
                return model::Failure(begun.error());
            injection = *std::move(begun);
            if (m_output.empty() && !m_json && m_inject.keeps())
                return kDone;
        }
        const auto address = injection ? injection->address() : model::findAddress(m_target);
        if (!address) {
            const auto polled
                = attachPolled(m_target, address.error(), { m_output, m_json }, out, interrupts->token());
            return polled ? model::Result<int>(kDone) : model::Failure(polled.error());
        }
        model::FollowOptions options;
        if (const char* token = std::getenv("STRATA_TOKEN"))
            options.token = token;
        if (m_output.empty() && !m_json) { // what was begun ends with it
            if (interrupts->token().stop_requested())
                return kDone;
            interrupts.reset(); // the screen has its own
            const auto watched = watchOnTerminal(*address, options);
            return watched ? model::Result<int>(kDone) : model::Failure(watched.error());
        }
        const WatchingEnd end(
            interrupts->token(), m_seconds, injection && !m_inject.keeps() ? &*injection : nullptr);
        Writer writer(*address, m_output, m_json, out, err);
        const auto followed = model::follow(*address, options, writer, end.token());
        writer.finish();
        if (!followed)
            return model::Failure(followed.error());
        return kDone;
    }

private:
    std::string m_target, m_output;
    bool m_json = false;
    std::optional<double> m_seconds;
    InjectOption m_inject;
};

} // namespace

std::unique_ptr<Command> makeAttach()
{
    return std::make_unique<Attach>();
}

} // namespace strata::cli
