// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/live/terminal/picture.h"
#include "model/base/result.h"

#include <memory>
#include <optional>

namespace strata::cli {

/// A key as the terminal tells it: a character, or one of those that have a name.
struct Key {
    enum class Name : std::uint8_t {
        Character,
        Left,
        Right,
        Up,
        Down,
        PageUp,
        PageDown,
        Home,
        End,
        Enter,
        Escape,
        Backspace,
    };
    Name name = Name::Character;
    char32_t character = 0;
};

/// The terminal as a grid of cells, by ncurses: standard input and output, which must be one. While there is
/// one of these, whatever ends the program restores the terminal: its destructor, an exception that passes,
/// and signals that kill. SIGINT, SIGTERM and SIGHUP only ask it to end: isEndAsked(). One at a time; one
/// thread.
class Screen {
public:
    /// Fails with Usage where there is no terminal, or one that cannot place a cursor.
    [[nodiscard]] static model::Result<std::unique_ptr<Screen>> open();
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    [[nodiscard]] GridSize size(); ///< as it is now
    [[nodiscard]] Charset charset() const { return m_charset; }
    /// Sends what differs from what is there.
    void show(const Grid& grid);
    void drawAnew(); ///< the next time, whatever is there
    /// The next key, if one was pressed. Does not wait.
    [[nodiscard]] std::optional<Key> key();
    /// Waits for a key, a signal, wake() or so long.
    void wait(int milliseconds);
    [[nodiscard]] static bool isEndAsked();
    /// Any thread.
    static void wake() noexcept;

private:
    Screen() = default;
    void chooseInks();

    struct Curses;
    std::unique_ptr<Curses> m_curses;
    Charset m_charset = Charset::Ascii;
};

} // namespace strata::cli
