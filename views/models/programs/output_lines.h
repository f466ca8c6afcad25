// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringDecoder>
#include <QStringList>

namespace strata::views {

/// Bytes that a program writes, as the lines that a terminal would show: UTF-8, a carriage return begins its
/// line anew (progress bars), colours are left out. Holds at most kMostPending lines until they are taken,
/// the newest, and cuts lines at kLongest characters, so that a program may write without end.
class OutputLines {
public:
    static constexpr int kMostPending = 5000;
    static constexpr int kLongest = 4000;

    void feed(const QByteArray& bytes);
    /// The lines that were finished since the last call.
    [[nodiscard]] QStringList take();
    /// The line that is not finished yet: a progress bar, a prompt.
    [[nodiscard]] QString unfinished() const { return m_line; }
    /// Ends the last line even without a line break.
    void finish();

private:
    void endLine();

    QStringDecoder m_decoder{ QStringDecoder::Utf8 };
    QStringList m_lines;
    QString m_line;
    bool m_anew = false; // a carriage return was read: what comes next replaces the line
    int m_escape = 0; // inside an escape sequence: 1 after ESC, 2 in its parameters
};

} // namespace strata::views
