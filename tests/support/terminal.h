// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <termios.h>
#include <utility>
#include <vector>

namespace strata::test {

/// A terminal that a program writes to, as far as the sequences go that ncurses sends to a vt100 or an xterm:
/// what one would see on it. What it does not know is counted. One thread.
class TerminalScreen {
public:
    TerminalScreen(int rows, int columns);

    void feed(std::string_view bytes);
    void resize(int rows, int columns); ///< and clears it: programs draw anew

    [[nodiscard]] std::string text() const; ///< rows in UTF-8, without blanks at their ends
    [[nodiscard]] std::string row(int index) const;
    [[nodiscard]] bool contains(std::string_view what) const
    {
        return text().find(what) != std::string::npos;
    }
    [[nodiscard]] bool isAlternate() const { return m_alternate; } ///< a full-screen program has it
    [[nodiscard]] int unknown() const { return m_unknown; }
    [[nodiscard]] bool sawColour() const { return m_colour; }

private:
    void onCharacter(const std::string& character);
    void onControl(char c);
    void onSequence(std::string_view parameters, char last);
    void lineFeed();
    void erase(int row, int from, int to);

    int m_rows, m_columns;
    std::vector<std::vector<std::string>> m_cells;
    int m_row = 0, m_column = 0, m_top = 0, m_bottom;
    std::pair<int, int> m_saved{ 0, 0 };
    bool m_wraps = false; // the next character goes to the next row
    bool m_alternate = false, m_colour = false;
    int m_unknown = 0;
    std::string m_pending; // of a sequence, or a character, that is not whole
    std::string m_last;
};

/// A program on a terminal of its own. One thread.
class OnTerminal {
public:
    struct Options {
        int rows = 24, columns = 80;
        std::vector<std::pair<std::string, std::string>> environment; ///< besides that of the test
    };
    OnTerminal(const std::string& program, const std::vector<std::string>& arguments, const Options& options);
    ~OnTerminal(); ///< ends it
    OnTerminal(const OnTerminal&) = delete;
    OnTerminal& operator=(const OnTerminal&) = delete;

    /// Takes what it writes, and waits so long for something. False: it has ended.
    bool pump(std::chrono::milliseconds patience);
    /// Until the screen shows it; ten seconds at most.
    [[nodiscard]] bool waitFor(std::string_view what);
    [[nodiscard]] bool waitForInRow(int row, std::string_view what);
    void type(std::string_view keys) const;
    void resize(int rows, int columns);
    void signal(int number) const;
    /// Until it ends, ten seconds at most: its exit code, 1000 + signal if one ended it, -1 if it goes on.
    [[nodiscard]] int waitForEnd();

    [[nodiscard]] const TerminalScreen& screen() const { return m_screen; }
    [[nodiscard]] const std::string& written() const { return m_written; } ///< all of it
    [[nodiscard]] termios settings() const; ///< of the terminal, now
    [[nodiscard]] const termios& settingsBefore() const { return m_before; }
    [[nodiscard]] pid_t process() const { return m_process; }

private:
    int m_terminal = -1,
        m_other = -1; // kept open: what it was set to can be asked for when the program is gone
    pid_t m_process = -1;
    termios m_before{};
    TerminalScreen m_screen;
    std::string m_written;
};

} // namespace strata::test
