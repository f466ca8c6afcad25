// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/polled_view.h"
#include "app/cli/live/terminal/screen.h"
#include "app/cli/live/terminal/watch.h"

#include <chrono>

namespace strata::cli {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPollEvery = 200ms;

std::int64_t nowNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

/// False: it is to end.
bool onKey(const Key& key, PolledView& view)
{
    if (key.name == Key::Name::Up)
        view.scrollLines(-1);
    else if (key.name == Key::Name::Down)
        view.scrollLines(1);
    else if (key.name == Key::Name::Character) {
        switch (key.character) {
        case U'q':
        case U'Q':
        case 3: // Ctrl+C, where the terminal makes no signal of it
            return false;
        case U'h':
        case U'?':
            view.toggleHelp();
            break;
        case U'a':
            view.toggleAll();
            break;
        case U'd':
            view.nextDevice();
            break;
        default:
            break;
        }
    }
    return true;
}

} // namespace

model::Result<void> watchOnTerminal(
    model::PolledProcess& polled, const model::LiveProcess& first, const model::Sentence& remedy)
{
    auto screen = Screen::open();
    if (!screen)
        return model::Failure(screen.error());
    PolledView view(first, remedy);
    view.take(first, polled.devices(), nowNs());
    auto pollAt = Clock::now() + kPollEvery;
    while (!Screen::isEndAsked()) {
        while (const auto key = (*screen)->key())
            if (!onKey(*key, view))
                return {};
        if (Clock::now() >= pollAt && !view.isGone()) {
            pollAt = Clock::now() + kPollEvery;
            const auto read = polled.read();
            view.take(read, polled.devices(), nowNs());
        }
        const GridSize size = (*screen)->size();
        (*screen)->show(draw(view.picture(size, nowNs()), size, (*screen)->charset()));
        (*screen)->wait(static_cast<int>(std::chrono::milliseconds(kPollEvery).count()));
    }
    return {};
}

} // namespace strata::cli
