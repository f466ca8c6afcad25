// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/output_lines.h"

#include <utility>

namespace strata::views {

void OutputLines::feed(const QByteArray& bytes)
{
    constexpr QChar kEscape(0x1b);
    const QString text = m_decoder(bytes);
    for (const QChar c : text) {
        if (m_escape == 1) {
            m_escape = c == QLatin1Char('[') ? 2 : 0;
        } else if (m_escape == 2) {
            if (c >= QLatin1Char('@') && c <= QLatin1Char('~'))
                m_escape = 0;
        } else if (c == kEscape) {
            m_escape = 1;
        } else if (c == QLatin1Char('\n')) {
            endLine();
        } else if (c == QLatin1Char('\r')) {
            m_anew = true;
        } else if (c == QLatin1Char('\t') || c.unicode() >= 0x20) {
            if (std::exchange(m_anew, false))
                m_line.clear();
            if (m_line.size() < kLongest)
                m_line += c;
        }
    }
}

QStringList OutputLines::take()
{
    return std::exchange(m_lines, {});
}

void OutputLines::finish()
{
    if (!m_line.isEmpty())
        endLine();
}

void OutputLines::endLine()
{
    m_anew = false;
    if (m_lines.size() == kMostPending)
        m_lines.removeFirst();
    m_lines.append(std::exchange(m_line, {}));
}

} // namespace strata::views
