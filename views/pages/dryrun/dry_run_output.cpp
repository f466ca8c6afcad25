// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/dryrun/dry_run_output.h"

#include "views/style/type.h"

#include <QScrollBar>
#include <QTextBlock>

namespace strata::views {

DryRunOutput::DryRunOutput(QWidget* parent)
    : QPlainTextEdit(parent)
{
    setObjectName(QStringLiteral("output")); // as the style sheet knows it
    setReadOnly(true);
    setUndoRedoEnabled(false);
    setMaximumBlockCount(kMostLines);
    setLineWrapMode(NoWrap);
    setFont(codeFont(sized(font(), kAxisPx + 1)));
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setTabChangesFocus(true);
    setAccessibleName(tr("Output of the program"));
    setMinimumHeight(6 * fontMetrics().lineSpacing());
}

void DryRunOutput::setPalette(const Palette& palette)
{
    m_palette = palette;
    // The colours of what stands there already.
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        QTextCursor cursor(block);
        cursor.select(QTextCursor::BlockUnderCursor);
        QTextCharFormat format;
        format.setForeground(
            palette[block.text().startsWith(QLatin1String("strata: ")) ? Palette::Role::TextMuted
                                                                       : Palette::Role::Text]);
        cursor.setCharFormat(format);
    }
}

void DryRunOutput::begin()
{
    clear();
    m_unfinished = false;
}

void DryRunOutput::append(OutputLines& lines)
{
    const QStringList finished = lines.take();
    const QString rest = lines.unfinished();
    QScrollBar* bar = verticalScrollBar();
    const bool following = bar->value() >= bar->maximum() - 1;
    if (m_unfinished) {
        QTextCursor cursor(document()->lastBlock());
        cursor.select(QTextCursor::BlockUnderCursor);
        cursor.removeSelectedText();
        m_unfinished = false;
    }
    for (const QString& line : finished)
        appendLine(line);
    if (!rest.isEmpty()) {
        appendLine(rest);
        m_unfinished = true;
    }
    if (following)
        bar->setValue(bar->maximum());
}

void DryRunOutput::appendLine(const QString& line)
{
    QTextCursor cursor(document());
    cursor.movePosition(QTextCursor::End);
    if (!document()->isEmpty())
        cursor.insertBlock();
    QTextCharFormat format;
    format.setForeground(m_palette[line.startsWith(QLatin1String("strata: ")) ? Palette::Role::TextMuted
                                                                              : Palette::Role::Text]);
    cursor.insertText(line, format);
}

} // namespace strata::views
