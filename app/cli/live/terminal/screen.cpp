// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/screen.h"

// As functions: their names as macros are those of others.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
// Capabilities of terminals come as macros with everyday names.
#undef lines
#undef columns

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <langinfo.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <vector>

namespace strata::cli {

namespace {

constexpr int kEscapeMs = 100; // how long the rest of a key may be on its way
constexpr std::array kAsking{ SIGINT, SIGTERM, SIGHUP };
constexpr std::array kKilling{ SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT };
constexpr std::size_t kInks = static_cast<std::size_t>(Ink::Capacity) + 1;

// What handlers of signals need, which know no object.
std::atomic<int> g_wake{ -1 };
volatile std::sig_atomic_t g_endAsked = 0;
termios g_before{};
std::array<char, 256> g_restore{};
std::size_t g_restoreBytes = 0;

void onAsked(int)
{
    g_endAsked = 1;
    const int before = errno;
    Screen::wake();
    errno = before;
}

void onKilling(int signal)
{
    [[maybe_unused]] const ssize_t ignored = write(STDOUT_FILENO, g_restore.data(), g_restoreBytes);
    tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

/// What ends colours, keypad and the screen of its own, as plain bytes: what handlers may write.
void keepRestore()
{
    std::string all;
    for (const char* const name : { "sgr0", "op", "rmkx", "cnorm", "rmcup" }) {
        const char* const bytes = tigetstr(name);
        if (!bytes || bytes == reinterpret_cast<const char*>(-1))
            continue;
        // "$<5>" asks for a pause, which no terminal needs that is a program.
        for (const char* c = bytes; *c; ++c) {
            if (c[0] == '$' && c[1] == '<')
                while (*c && *c != '>')
                    ++c;
            else
                all += *c;
            if (!*c)
                break;
        }
    }
    all += "\r\n";
    g_restoreBytes = std::min(all.size(), g_restore.size());
    all.copy(g_restore.data(), g_restoreBytes);
}

struct Look {
    attr_t attributes = A_NORMAL;
    short colours = 0; // pair
};

bool isColourWanted()
{
    const char* const none = std::getenv("NO_COLOR");
    return !none || !*none;
}

} // namespace

struct Screen::Curses {
    SCREEN* screen = nullptr;
    int wake = -1;
    std::array<Look, kInks> looks;
    std::array<struct sigaction, kAsking.size()> askingBefore{};
    std::array<struct sigaction, kKilling.size()> killingBefore{};
    std::vector<cchar_t> row;
};

model::Result<std::unique_ptr<Screen>> Screen::open()
{
    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
        return model::fail(model::Error::Kind::Usage, model::say("there is no terminal to show it on"),
            model::say("write a session with -o, as in -o run.strata, or ask for figures with --json"));
    const char* const terminal = std::getenv("TERM");
    std::setlocale(LC_CTYPE, "");
    std::unique_ptr<Screen> screen(new Screen);
    auto curses = std::make_unique<Curses>();
    tcgetattr(STDIN_FILENO, &g_before);
    curses->screen = terminal && *terminal ? newterm(nullptr, stdout, stdin) : nullptr;
    if (!curses->screen || !tigetstr("cup") || tigetstr("cup") == reinterpret_cast<char*>(-1)) {
        if (curses->screen) {
            endwin();
            delscreen(curses->screen);
        }
        return model::fail(model::Error::Kind::Usage,
            model::say("the terminal '%1' is not known here, or has no places", terminal ? terminal : ""),
            model::say("set TERM, as in TERM=vt100, or use --json"));
    }
    screen->m_curses = std::move(curses);
    screen->m_charset = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? Charset::Utf8 : Charset::Ascii;
    g_endAsked = 0;
    screen->m_curses->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    g_wake.store(screen->m_curses->wake);
    keepRestore();
    const auto handle = [](int signal, void (*handler)(int), struct sigaction& before) {
        struct sigaction action { };
        action.sa_handler = handler;
        sigemptyset(&action.sa_mask);
        sigaction(signal, &action, &before);
    };
    for (std::size_t i = 0; i < kAsking.size(); ++i)
        handle(kAsking[i], onAsked, screen->m_curses->askingBefore[i]);
    for (std::size_t i = 0; i < kKilling.size(); ++i)
        handle(kKilling[i], onKilling, screen->m_curses->killingBefore[i]);
    cbreak();
    noecho();
    nonl();
    set_escdelay(kEscapeMs);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    leaveok(stdscr, TRUE);
    curs_set(0);
    screen->chooseInks();
    return screen;
}

Screen::~Screen()
{
    if (!m_curses)
        return;
    endwin();
    for (std::size_t i = 0; i < kAsking.size(); ++i)
        sigaction(kAsking[i], &m_curses->askingBefore[i], nullptr);
    for (std::size_t i = 0; i < kKilling.size(); ++i)
        sigaction(kKilling[i], &m_curses->killingBefore[i], nullptr);
    delscreen(m_curses->screen);
    g_wake.store(-1);
    if (m_curses->wake >= 0)
        close(m_curses->wake);
}

void Screen::chooseInks()
{
    auto& looks = m_curses->looks;
    const auto look = [&](Ink ink) -> Look& { return looks[static_cast<std::size_t>(ink)]; };
    look(Ink::Strong).attributes = A_BOLD;
    look(Ink::Faint).attributes = A_DIM;
    look(Ink::Bar).attributes = A_REVERSE;
    look(Ink::Bad).attributes = A_REVERSE | A_BOLD;
    look(Ink::Requested).attributes = A_BOLD;
    look(Ink::Reserved).attributes = A_DIM;
    if (!isColourWanted() || !has_colors() || start_color() == ERR)
        return;
    const short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
    const bool many = COLORS >= 256;
    short pair = 1;
    const auto colour = [&](Ink ink, short few, short of256, attr_t attributes) {
        if (pair >= COLOR_PAIRS || init_pair(pair, many ? of256 : few, background) == ERR)
            return;
        look(ink) = { attributes, pair++ };
    };
    // Readable on light and on dark.
    colour(Ink::Good, COLOR_GREEN, 34, A_NORMAL);
    colour(Ink::Bad, COLOR_RED, 196, A_BOLD);
    colour(Ink::Requested, COLOR_CYAN, 33, A_NORMAL);
    colour(Ink::RequestedRange, COLOR_BLUE, 75, A_NORMAL);
    colour(Ink::Allocated, COLOR_MAGENTA, 172, A_NORMAL);
    if (many) {
        colour(Ink::Reserved, COLOR_WHITE, 245, A_NORMAL);
        colour(Ink::Faint, COLOR_WHITE, 245, A_NORMAL);
    }
}

GridSize Screen::size()
{
    winsize now{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) == 0 && now.ws_row > 0 && now.ws_col > 0
        && is_term_resized(now.ws_row, now.ws_col)) {
        resizeterm(now.ws_row, now.ws_col);
        clearok(curscr, TRUE);
    }
    return { getmaxy(stdscr), getmaxx(stdscr) };
}

void Screen::drawAnew()
{
    clearok(curscr, TRUE);
}

void Screen::show(const Grid& grid)
{
    std::vector<cchar_t>& row = m_curses->row;
    for (int y = 0; y < grid.size().rows; ++y) {
        row.clear();
        for (int x = 0; x < grid.size().columns; ++x) {
            const Cell& cell = grid.at(y, x);
            if (cell.character == U'\0')
                continue; // of the wide one before it
            const Look& look = m_curses->looks[static_cast<std::size_t>(cell.ink)];
            const wchar_t text[]{ static_cast<wchar_t>(cell.character), L'\0' };
            cchar_t one{};
            setcchar(&one, text, look.attributes, look.colours, nullptr);
            row.push_back(one);
        }
        mvadd_wchnstr(y, 0, row.data(), static_cast<int>(row.size()));
    }
    wnoutrefresh(stdscr);
    doupdate();
}

std::optional<Key> Screen::key()
{
    using Name = Key::Name;
    wint_t code = 0;
    const int kind = wget_wch(stdscr, &code);
    if (kind == ERR)
        return std::nullopt;
    if (kind == KEY_CODE_YES) {
        switch (code) {
        case KEY_LEFT:
            return Key{ Name::Left, 0 };
        case KEY_RIGHT:
            return Key{ Name::Right, 0 };
        case KEY_UP:
            return Key{ Name::Up, 0 };
        case KEY_DOWN:
            return Key{ Name::Down, 0 };
        case KEY_PPAGE:
            return Key{ Name::PageUp, 0 };
        case KEY_NPAGE:
            return Key{ Name::PageDown, 0 };
        case KEY_HOME:
            return Key{ Name::Home, 0 };
        case KEY_END:
            return Key{ Name::End, 0 };
        case KEY_ENTER:
            return Key{ Name::Enter, 0 };
        case KEY_BACKSPACE:
            return Key{ Name::Backspace, 0 };
        default:
            return Key{ Name::Character, 0 }; // a resize too: the next picture has the size
        }
    }
    switch (code) {
    case '\r':
    case '\n':
        return Key{ Name::Enter, 0 };
    case 0x1b:
        return Key{ Name::Escape, 0 };
    case 0x7f:
    case 0x08:
        return Key{ Name::Backspace, 0 };
    default:
        return Key{ Name::Character, static_cast<char32_t>(code) };
    }
}

void Screen::wait(int milliseconds)
{
    std::array<pollfd, 2> both{ pollfd{ STDIN_FILENO, POLLIN, 0 }, pollfd{ m_curses->wake, POLLIN, 0 } };
    if (poll(both.data(), both.size(), milliseconds) > 0) {
        std::uint64_t count = 0;
        if (both[1].revents != 0) [[maybe_unused]]
            const ssize_t ignored = read(m_curses->wake, &count, sizeof count);
        if ((both[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
            g_endAsked = 1; // the terminal is gone
    }
}

bool Screen::isEndAsked()
{
    return g_endAsked != 0;
}

void Screen::wake() noexcept
{
    const std::uint64_t one = 1;
    if (const int descriptor = g_wake.load(); descriptor >= 0) [[maybe_unused]]
        const ssize_t ignored = write(descriptor, &one, sizeof one);
}

} // namespace strata::cli
