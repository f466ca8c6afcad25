// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/shell_words.h"

#include <QDir>
#include <QRegularExpression>

namespace strata::views {

namespace {

/// Reads a line from its beginning to its end, once.
class Splitter {
public:
    explicit Splitter(const QString& line)
        : m_line(line)
    {
    }

    ShellCommand split()
    {
        while (m_at < m_line.size() && !m_command.unclosedQuote)
            readCharacter();
        endWord();
        if (!m_command.shellSyntax.isEmpty() && !m_command.unclosedQuote) {
            m_command.variables.clear();
            m_command.words = { QStringLiteral("sh"), QStringLiteral("-c"), m_line.trimmed() };
        }
        return m_command;
    }

private:
    void readCharacter()
    {
        const QChar c = m_line[m_at++];
        if (c.isSpace())
            return endWord();
        if (c == QLatin1Char('\\'))
            return readEscaped();
        if (c == QLatin1Char('\''))
            return readSingleQuoted();
        if (c == QLatin1Char('"'))
            return readDoubleQuoted();
        const bool begins = !m_inWord;
        if (QStringLiteral("|&;<>()$`*?").contains(c) || (begins && c == QLatin1Char('#')))
            needShell(c);
        const bool valueBegins = m_valueAt >= 0 && m_word.size() == m_valueAt;
        if (c == QLatin1Char('~') && (begins || valueBegins) && endsTilde()) {
            add(QDir::homePath());
            return;
        }
        add(c);
        if (c == QLatin1Char('=') && m_plain && m_valueAt < 0 && m_command.words.isEmpty()) {
            static const QRegularExpression name(QStringLiteral("^[A-Za-z_][A-Za-z0-9_]*=$"));
            if (name.match(m_word).hasMatch())
                m_valueAt = m_word.size();
        }
    }

    void readEscaped()
    {
        if (m_at == m_line.size())
            return add(QLatin1Char('\\'));
        const QChar c = m_line[m_at++];
        if (c == QLatin1Char('\n'))
            return; // the line goes on
        m_plain = m_plain && m_valueAt >= 0;
        add(c);
    }

    void readSingleQuoted()
    {
        quoted();
        const qsizetype end = m_line.indexOf(QLatin1Char('\''), m_at);
        if (end < 0) {
            m_command.unclosedQuote = true;
            return;
        }
        add(m_line.mid(m_at, end - m_at));
        m_at = end + 1;
    }

    void readDoubleQuoted()
    {
        quoted();
        while (m_at < m_line.size()) {
            const QChar c = m_line[m_at++];
            if (c == QLatin1Char('"'))
                return;
            if (c == QLatin1Char('$') || c == QLatin1Char('`'))
                needShell(c);
            if (c == QLatin1Char('\\') && m_at < m_line.size()
                && QStringLiteral("$`\"\\\n").contains(m_line[m_at])) {
                if (m_line[m_at] != QLatin1Char('\n'))
                    add(m_line[m_at]);
                ++m_at;
                continue;
            }
            add(c);
        }
        m_command.unclosedQuote = true;
    }

    /// Quotes make a word even where nothing is between them, and a name with quotes is no variable's.
    void quoted()
    {
        m_inWord = true;
        m_plain = m_plain && m_valueAt >= 0;
    }

    void add(const QString& text)
    {
        m_inWord = true;
        m_word += text;
    }
    void add(QChar c) { add(QString(c)); }

    void endWord()
    {
        if (!m_inWord)
            return;
        if (m_valueAt >= 0)
            m_command.variables.append({ m_word.left(m_valueAt - 1), m_word.mid(m_valueAt) });
        else
            m_command.words.append(m_word);
        m_word.clear();
        m_inWord = false;
        m_plain = true;
        m_valueAt = -1;
    }

    void needShell(QChar c)
    {
        if (m_command.shellSyntax.isEmpty())
            m_command.shellSyntax = c;
    }

    /// Whether what follows ends the `~`: `~someone` is left as it is.
    [[nodiscard]] bool endsTilde() const
    {
        return m_at == m_line.size() || m_line[m_at] == QLatin1Char('/') || m_line[m_at].isSpace();
    }

    const QString& m_line;
    qsizetype m_at = 0;
    ShellCommand m_command;
    QString m_word;
    bool m_inWord = false;
    bool m_plain = true; // the word's name part has no quotes so far
    qsizetype m_valueAt = -1; // where the value begins, in a word NAME=value
};

} // namespace

ShellCommand splitCommand(const QString& line)
{
    return Splitter(line).split();
}

QString workingFolder(const QString& folder)
{
    const QString path = folder.trimmed();
    if (path.isEmpty() || path == QLatin1String("~"))
        return QDir::homePath();
    return path.startsWith(QLatin1String("~/")) ? QDir::homePath() + path.mid(1) : path;
}

} // namespace strata::views
