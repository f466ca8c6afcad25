// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output.h"

#include <cerrno>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace strata::cli {

namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

bool wantsColour()
{
    const char* none = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return (!none || !*none) && terminal && std::string_view(terminal) != "dumb";
}

} // namespace

Output::Output(int descriptor)
    : m_descriptor(descriptor)
    , m_isTerminal(isatty(descriptor) == 1)
{
    if (!m_isTerminal)
        return;
    m_colour = wantsColour();
    winsize size{};
    m_width = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

Output::~Output()
{
    flush();
}

void Output::write(std::string_view text)
{
    if (m_error != 0)
        return;
    m_buffer += text;
    if (m_buffer.size() >= kBufferBytes)
        flush();
}

void Output::flush()
{
    std::string_view rest = m_buffer;
    while (!rest.empty() && m_error == 0) {
        const ssize_t written = ::write(m_descriptor, rest.data(), rest.size());
        if (written >= 0)
            rest.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            m_error = errno;
    }
    m_buffer.clear();
}

std::string Output::styled(std::string_view code, std::string_view text) const
{
    if (!m_colour)
        return std::string(text);
    std::string out = "\x1b[";
    out += code;
    out += 'm';
    out += text;
    out += "\x1b[0m";
    return out;
}

} // namespace strata::cli
