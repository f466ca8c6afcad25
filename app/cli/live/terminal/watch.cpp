// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/watch.h"

#include "app/cli/command.h"
#include "app/cli/live/terminal/errand.h"
#include "app/cli/live/terminal/live_view.h"
#include "app/cli/live/terminal/screen.h"
#include "model/analysis/oom/oom_evidence.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/live/live_session.h"
#include "model/tables/save_as.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <thread>

namespace strata::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kTickMs = 200; // time goes on, whatever happens
constexpr auto kBetween = 25ms; // of two generations
constexpr auto kMessageStays = 6s;
constexpr auto kFirstReplay = 500ms; // and then a twentieth of the time
constexpr int kReplayShare = 20;

struct Cause {
    int device = 0;
    model::EventIndex event = -1;
    std::string sentence; ///< empty: it cannot be told
};

/// As `strata oom` has it.
Cause judge(const LiveView::Place& place, const std::stop_token& stop)
{
    const model::DeviceTrace& trace = *place.first->find(place.second);
    const auto& all = trace.outOfMemories();
    Cause cause{ place.second, all[all.size() - 1], {} };
    try {
        const model::Progress progress{ {}, stop };
        const auto report = model::checkReplay(trace, {}, progress);
        if (!report)
            return cause;
        const auto explained = model::explainOom(trace, model::Clock(trace),
            model::allocatorMapAt(trace, cause.event, &*report), *report, progress);
        if (explained)
            cause.sentence = model::verdictSentence(explained->verdict).text();
    } catch (const std::exception&) { // no memory for it: the verdict stands without
    }
    return cause;
}

struct ReplayOutcome {
    std::shared_ptr<const Replayed> replayed;
    Clock::duration took{};
};

ReplayOutcome replay(const LiveView::Place& place, const std::stop_token& stop)
{
    const auto begin = Clock::now();
    auto replayed = std::make_shared<Replayed>();
    replayed->session = place.first;
    replayed->device = place.second;
    const model::DeviceTrace& trace = *place.first->find(place.second);
    try {
        if (auto report = model::checkReplay(trace, {}, { {}, stop }); report
            && !report->check.firstDifference && report->check.open.empty()
            && report->check.finalBlocksEqual.value_or(true) && report->lostEvents == 0) {
            // All that was recorded so far: its end is not there to be compared.
            replayed->rounding = std::move(report->check.rounding);
            replayed->curves.emplace(trace, replayed->rounding);
        }
    } catch (const std::exception&) { // no memory for it: "at least"
    }
    return { std::move(replayed), Clock::now() - begin };
}

/// What is said of it.
std::string save(const std::shared_ptr<const model::Session>& session, const fs::path& path)
{
    try {
        if (const auto saved = model::saveAs(*session, path); !saved)
            return saved.error().text();
    } catch (const std::exception& error) {
        return fmt::format("{}: {}", path.string(), error.what());
    }
    std::error_code error;
    return fmt::format("saved {}, {}", path.string(),
        model::formatBytes(static_cast<std::int64_t>(fs::file_size(path, error))));
}

class Watch {
public:
    Watch(const model::LinkAddress& address, const model::FollowOptions& options,
        std::unique_ptr<Screen> screen)
        : m_screen(std::move(screen))
        , m_view(address)
        , m_live(address,
              { .link = options, .mostEvents = model::LiveSession::usualMostEvents(), .between = kBetween },
              Screen::wake)
    {
    }

    model::Result<void> run()
    {
        while (!Screen::isEndAsked() && !m_isOver) {
            while (const auto key = m_screen->key())
                onKey(*key);
            const auto now = Clock::now();
            const model::LiveSession::Status status = m_live.status();
            m_view.take(status, status.latest, now);
            if (status.error && !m_view.shown())
                return model::Failure(*status.error);
            runErrands(now);
            show(now);
            m_screen->wait(kTickMs);
        }
        return {};
    }

private:
    void show(Clock::time_point now)
    {
        const GridSize size = m_screen->size();
        Picture picture = m_view.picture(size, now);
        if (m_isAsking)
            picture.message = fmt::format("save as: {}_", m_name);
        else if (now < m_messageUntil)
            picture.message = m_message;
        m_screen->show(draw(picture, size, m_screen->charset()));
    }

    void tell(std::string message)
    {
        m_message = std::move(message);
        m_messageUntil = Clock::now() + kMessageStays;
    }

    void runErrands(Clock::time_point now)
    {
        if (auto cause = m_judging.fetch())
            m_view.setCause(cause->device, cause->event, std::move(cause->sentence));
        if (const auto place = m_view.toJudge(); place && m_judging.isFree())
            m_judging.start([place = *place](const std::stop_token& stop) { return judge(place, stop); });
        if (auto outcome = m_replaying.fetch()) {
            m_view.setReplayed(std::move(outcome->replayed));
            m_replayAt = now + std::max<Clock::duration>(kFirstReplay, outcome->took * kReplayShare);
        }
        if (const auto place = m_view.toReplay(); place && m_replaying.isFree() && now >= m_replayAt)
            m_replaying.start([place = *place](const std::stop_token& stop) { return replay(place, stop); });
        if (auto saved = m_saving.fetch())
            tell(std::move(*saved));
    }

    void onKey(const Key& key)
    {
        if (m_isAsking)
            return onNameKey(key);
        if (m_view.showsHelp() && (key.name != Key::Name::Character || key.character != 0)) {
            m_view.toggleHelp();
            if (key.name == Key::Name::Escape || key.character == U'h' || key.character == U'?')
                return;
        }
        switch (key.name) {
        case Key::Name::Left:
            return m_view.scroll(-0.1);
        case Key::Name::Right:
            return m_view.scroll(0.1);
        case Key::Name::PageUp:
            return m_view.scroll(-1);
        case Key::Name::PageDown:
            return m_view.scroll(1);
        case Key::Name::Home:
            return m_view.toBegin();
        case Key::Name::End:
            return m_view.toEnd();
        case Key::Name::Up:
            return m_view.scrollLines(-1);
        case Key::Name::Down:
            return m_view.scrollLines(1);
        case Key::Name::Character:
            return onCharacter(key.character);
        default:
            return;
        }
    }

    void onCharacter(char32_t character)
    {
        switch (character) {
        case U'q':
        case U'Q':
        case 3: // Ctrl+C, where the terminal makes no signal of it
            m_isOver = true;
            return;
        case U'h':
        case U'?':
            return m_view.toggleHelp();
        case U' ':
            return m_view.togglePause();
        case U'<':
        case U',':
            return m_view.scroll(-0.1);
        case U'>':
        case U'.':
            return m_view.scroll(0.1);
        case U'p':
            return m_view.togglePeak();
        case U'o':
            if (!m_view.toOutOfMemory())
                tell("no request has failed on this device so far");
            return;
        case U'+':
        case U'=':
            return m_view.zoom(1);
        case U'-':
            return m_view.zoom(-1);
        case U'a':
            return m_view.showAll();
        case U'd':
            return m_view.nextDevice();
        case U'1':
            return m_view.groupBy(model::Grouping::Line);
        case U'2':
            return m_view.groupBy(model::Grouping::Size);
        case U'3':
            return m_view.groupBy(model::Grouping::Pool);
        case U'4':
            return m_view.groupBy(model::Grouping::Stream);
        case U's':
            if (!m_view.shown())
                return tell("there is nothing to save yet");
            if (!m_saving.isFree())
                return tell("it is being saved");
            m_isAsking = true;
            m_name = m_view.suggestedName();
            return;
        case 12: // Ctrl+L
            return m_screen->drawAnew();
        default:
            return;
        }
    }

    void onNameKey(const Key& key)
    {
        switch (key.name) {
        case Key::Name::Escape:
            m_isAsking = false;
            return;
        case Key::Name::Backspace:
            while (!m_name.empty() && (static_cast<unsigned char>(m_name.back()) & 0xc0) == 0x80)
                m_name.pop_back();
            if (!m_name.empty())
                m_name.pop_back();
            return;
        case Key::Name::Enter:
            m_isAsking = false;
            return startSaving();
        case Key::Name::Character:
            if (key.character == 21) // Ctrl+U
                m_name.clear();
            else if (key.character >= 0x20 && key.character < 0x7f)
                m_name += static_cast<char>(key.character);
            return;
        default:
            return;
        }
    }

    void startSaving()
    {
        const fs::path path = m_name;
        std::error_code error;
        if (path.extension() != ".strata")
            return tell(fmt::format("{}: a session's name ends in .strata", m_name));
        if (fs::exists(fs::symlink_status(path, error)))
            return tell(fmt::format("{}: is there already: name another one", m_name));
        tell("saving " + m_name);
        m_saving.start(
            [session = m_view.shown(), path](const std::stop_token&) { return save(session, path); });
    }

    const std::unique_ptr<Screen> m_screen;
    LiveView m_view;
    bool m_isOver = false, m_isAsking = false;
    std::string m_name, m_message;
    Clock::time_point m_messageUntil{}, m_replayAt{};
    Errand<Cause> m_judging{ Screen::wake };
    Errand<ReplayOutcome> m_replaying{ Screen::wake };
    Errand<std::string> m_saving{ Screen::wake };
    model::LiveSession m_live; // last: its thread wakes the screen
};

} // namespace

model::Result<void> watchOnTerminal(const model::LinkAddress& address, const model::FollowOptions& options)
{
    auto screen = Screen::open();
    if (!screen)
        return model::Failure(screen.error());
    return Watch(address, options, std::move(*screen)).run();
}

} // namespace strata::cli
