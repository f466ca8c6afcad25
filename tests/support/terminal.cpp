// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/terminal.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>
#include <utmp.h>

namespace strata::test {

namespace {

std::size_t bytesOf(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

std::vector<int> numbersOf(std::string_view parameters)
{
    std::vector<int> numbers;
    int number = -1;
    for (const char c : parameters) {
        if (c >= '0' && c <= '9')
            number = std::max(number, 0) * 10 + (c - '0');
        else if (c == ';') {
            numbers.push_back(number);
            number = -1;
        }
    }
    numbers.push_back(number);
    return numbers;
}

} // namespace

TerminalScreen::TerminalScreen(int rows, int columns)
    : m_rows(0)
    , m_columns(0)
    , m_bottom(0)
{
    resize(rows, columns);
}

void TerminalScreen::resize(int rows, int columns)
{
    m_rows = rows;
    m_columns = columns;
    m_cells.assign(
        static_cast<std::size_t>(rows), std::vector<std::string>(static_cast<std::size_t>(columns), " "));
    m_row = m_column = m_top = 0;
    m_bottom = rows - 1;
    m_wraps = false;
}

std::string TerminalScreen::row(int index) const
{
    std::string line;
    for (const std::string& cell : m_cells.at(static_cast<std::size_t>(index)))
        line += cell;
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

std::string TerminalScreen::text() const
{
    std::string all;
    for (int i = 0; i < m_rows; ++i)
        all += row(i) + "\n";
    return all;
}

void TerminalScreen::feed(std::string_view bytes)
{
    m_pending += bytes;
    std::size_t at = 0;
    while (at < m_pending.size()) {
        const char c = m_pending[at];
        if (c == '\x1b') {
            if (at + 1 >= m_pending.size())
                break;
            const char kind = m_pending[at + 1];
            if (kind == '[') {
                std::size_t end = at + 2;
                while (end < m_pending.size() && (m_pending[end] < '@' || m_pending[end] > '~'))
                    ++end;
                if (end >= m_pending.size())
                    break;
                onSequence(std::string_view(m_pending).substr(at + 2, end - at - 2), m_pending[end]);
                at = end + 1;
            } else if (kind == ']') {
                const std::size_t end = m_pending.find('\a', at);
                if (end == std::string::npos)
                    break;
                at = end + 1;
            } else if (kind == '(' || kind == ')') {
                if (at + 2 >= m_pending.size())
                    break;
                at += 3;
            } else {
                if (kind == '7')
                    m_saved = { m_row, m_column };
                else if (kind == '8')
                    std::tie(m_row, m_column) = m_saved;
                else if (kind == 'D')
                    lineFeed();
                else if (kind == 'M') {
                    if (m_row == m_top)
                        onSequence("1", 'L');
                    else
                        m_row = std::max(m_row - 1, 0);
                } else if (kind != '=' && kind != '>')
                    ++m_unknown;
                at += 2;
            }
        } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
            onControl(c);
            ++at;
        } else {
            const std::size_t size = bytesOf(static_cast<unsigned char>(c));
            if (at + size > m_pending.size())
                break;
            onCharacter(m_pending.substr(at, size));
            at += size;
        }
    }
    m_pending.erase(0, at);
}

void TerminalScreen::onCharacter(const std::string& character)
{
    if (m_wraps) {
        m_wraps = false;
        m_column = 0;
        lineFeed();
    }
    m_cells[static_cast<std::size_t>(m_row)][static_cast<std::size_t>(m_column)] = character;
    m_last = character;
    if (m_column + 1 < m_columns)
        ++m_column;
    else
        m_wraps = true;
}

void TerminalScreen::onControl(char c)
{
    m_wraps = false;
    if (c == '\r')
        m_column = 0;
    else if (c == '\n')
        lineFeed();
    else if (c == '\b')
        m_column = std::max(m_column - 1, 0);
    else if (c == '\t')
        m_column = std::min((m_column / 8 + 1) * 8, m_columns - 1);
}

void TerminalScreen::lineFeed()
{
    if (m_row != m_bottom) {
        m_row = std::min(m_row + 1, m_rows - 1);
        return;
    }
    m_cells.erase(m_cells.begin() + m_top);
    m_cells.insert(
        m_cells.begin() + m_bottom, std::vector<std::string>(static_cast<std::size_t>(m_columns), " "));
}

void TerminalScreen::erase(int row, int from, int to)
{
    for (int column = std::max(from, 0); column < std::min(to, m_columns); ++column)
        m_cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)].assign(1, ' ');
}

void TerminalScreen::onSequence(std::string_view parameters, char last)
{
    const std::vector<int> numbers = numbersOf(parameters);
    const auto number = [&](std::size_t i, int otherwise) {
        return i < numbers.size() && numbers[i] > 0 ? numbers[i] : otherwise;
    };
    if (last != 'm' && last != 'b')
        m_wraps = false;
    switch (last) {
    case 'H':
    case 'f':
        m_row = std::clamp(number(0, 1), 1, m_rows) - 1;
        m_column = std::clamp(number(1, 1), 1, m_columns) - 1;
        break;
    case 'A':
        m_row = std::max(m_row - number(0, 1), 0);
        break;
    case 'B':
        m_row = std::min(m_row + number(0, 1), m_rows - 1);
        break;
    case 'C':
        m_column = std::min(m_column + number(0, 1), m_columns - 1);
        break;
    case 'D':
        m_column = std::max(m_column - number(0, 1), 0);
        break;
    case 'G':
        m_column = std::clamp(number(0, 1), 1, m_columns) - 1;
        break;
    case 'd':
        m_row = std::clamp(number(0, 1), 1, m_rows) - 1;
        break;
    case 'J': {
        const int what = number(0, 0);
        for (int row = 0; row < m_rows; ++row)
            if (what == 2 || (what == 0 && row > m_row) || (what == 1 && row < m_row))
                erase(row, 0, m_columns);
        if (what != 2)
            erase(m_row, what == 0 ? m_column : 0, what == 0 ? m_columns : m_column + 1);
        break;
    }
    case 'K': {
        const int what = number(0, 0);
        erase(m_row, what == 0 ? m_column : 0, what == 1 ? m_column + 1 : m_columns);
        break;
    }
    case 'X':
        erase(m_row, m_column, m_column + number(0, 1));
        break;
    case 'P':
    case '@': {
        auto& cells = m_cells[static_cast<std::size_t>(m_row)];
        const int count = std::min(number(0, 1), m_columns - m_column);
        if (last == 'P') {
            cells.erase(cells.begin() + m_column, cells.begin() + m_column + count);
            cells.resize(static_cast<std::size_t>(m_columns), " ");
        } else {
            cells.insert(cells.begin() + m_column, static_cast<std::size_t>(count), " ");
            cells.resize(static_cast<std::size_t>(m_columns));
        }
        break;
    }
    case 'L':
    case 'M':
        for (int i = 0; i < number(0, 1) && m_row >= m_top && m_row <= m_bottom; ++i) {
            const std::vector<std::string> blank(static_cast<std::size_t>(m_columns), " ");
            m_cells.erase(m_cells.begin() + (last == 'L' ? m_bottom : m_row));
            m_cells.insert(m_cells.begin() + (last == 'L' ? m_row : m_bottom), blank);
        }
        break;
    case 'S':
    case 'T':
        for (int i = 0; i < number(0, 1); ++i) {
            const std::vector<std::string> blank(static_cast<std::size_t>(m_columns), " ");
            m_cells.erase(m_cells.begin() + (last == 'S' ? m_top : m_bottom));
            m_cells.insert(m_cells.begin() + (last == 'S' ? m_bottom : m_top), blank);
        }
        break;
    case 'b':
        for (int i = 0; i < number(0, 1); ++i)
            onCharacter(m_last);
        break;
    case 'r':
        m_top = number(0, 1) - 1;
        m_bottom = std::min(number(1, m_rows), m_rows) - 1;
        m_row = m_column = 0;
        break;
    case 'm':
        for (const int each : numbers)
            m_colour = m_colour || (each >= 30 && each <= 48 && each != 39) || (each >= 90 && each <= 107);
        break;
    case 'h':
    case 'l':
        if (parameters == "?1049" || parameters == "?47") {
            m_alternate = last == 'h';
            for (int row = 0; row < m_rows; ++row)
                erase(row, 0, m_columns);
        }
        break;
    case 't':
        break;
    default:
        ++m_unknown;
    }
}

OnTerminal::OnTerminal(
    const std::string& program, const std::vector<std::string>& arguments, const Options& options)
    : m_screen(options.rows, options.columns)
{
    winsize size{};
    size.ws_row = static_cast<unsigned short>(options.rows);
    size.ws_col = static_cast<unsigned short>(options.columns);
    if (openpty(&m_terminal, &m_other, nullptr, nullptr, &size) != 0)
        return;
    tcgetattr(m_other, &m_before);
    fcntl(m_terminal, F_SETFL, O_NONBLOCK);
    fcntl(m_terminal, F_SETFD, FD_CLOEXEC);
    std::vector<std::string> texts{ program };
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    m_process = fork();
    if (m_process == 0) {
        login_tty(m_other);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // ncurses keeps what it had of a terminal unknown to it
        for (const auto& [name, value] : options.environment)
            setenv(name.c_str(), value.c_str(), 1);
        execv(program.c_str(), pointers.data());
        _exit(127);
    }
}

OnTerminal::~OnTerminal()
{
    if (m_process > 0) {
        kill(m_process, SIGKILL);
        waitpid(m_process, nullptr, 0);
    }
    for (const int descriptor : { m_terminal, m_other })
        if (descriptor >= 0)
            close(descriptor);
}

bool OnTerminal::pump(std::chrono::milliseconds patience)
{
    pollfd wait{ m_terminal, POLLIN, 0 };
    if (poll(&wait, 1, static_cast<int>(patience.count())) <= 0)
        return true;
    char buffer[65'536];
    const ssize_t got = read(m_terminal, buffer, sizeof buffer);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    const std::string_view bytes(buffer, static_cast<std::size_t>(got));
    m_screen.feed(bytes);
    m_written += bytes;
    return true;
}

bool OnTerminal::waitFor(std::string_view what)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!m_screen.contains(what))
        if (std::chrono::steady_clock::now() > end || !pump(std::chrono::milliseconds(20)))
            return false;
    return true;
}

bool OnTerminal::waitForInRow(int row, std::string_view what)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (m_screen.row(row).find(what) == std::string::npos)
        if (std::chrono::steady_clock::now() > end || !pump(std::chrono::milliseconds(20)))
            return false;
    return true;
}

void OnTerminal::type(std::string_view keys) const
{
    [[maybe_unused]] const ssize_t ignored = write(m_terminal, keys.data(), keys.size());
}

void OnTerminal::resize(int rows, int columns)
{
    winsize size{};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(columns);
    m_screen.resize(rows, columns);
    ioctl(m_terminal, TIOCSWINSZ, &size);
}

void OnTerminal::signal(int number) const
{
    kill(m_process, number);
}

int OnTerminal::waitForEnd()
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    int status = 0;
    while (waitpid(m_process, &status, WNOHANG) != m_process) {
        if (std::chrono::steady_clock::now() > end)
            return -1;
        pump(std::chrono::milliseconds(20));
    }
    m_process = -1;
    while (true) { // what it wrote at last
        const std::size_t before = m_written.size();
        if (!pump(std::chrono::milliseconds(20)) || m_written.size() == before)
            break;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

termios OnTerminal::settings() const
{
    termios now{};
    tcgetattr(m_other, &now);
    return now;
}

} // namespace strata::test
