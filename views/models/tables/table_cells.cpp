// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/table_cells.h"

#include "model/trace/filter/grouping.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <numeric>

namespace strata::views {

TableCell bytesCell(std::int64_t bytes)
{
    const QString text = text::bytes(bytes);
    const qsizetype space = text.lastIndexOf(QLatin1Char(' '));
    return { text.left(space), text.mid(space + 1) };
}

TableCell noteCell(const QString& note)
{
    return { {}, note };
}

TableCell savedCell(std::int64_t bytes)
{
    if (bytes >= 0)
        return bytesCell(bytes);
    TableCell cell = bytesCell(-bytes);
    cell.note = QCoreApplication::translate("Table", "%1 more").arg(cell.note);
    return cell;
}

TableCell servesCell(std::optional<bool> serves)
{
    return noteCell(!serves ? QStringLiteral("–")
            : *serves       ? QCoreApplication::translate("Table", "yes")
                            : QCoreApplication::translate("Table", "no"));
}

std::vector<PlainTable::Column> withServesColumn(std::vector<PlainTable::Column> columns, bool anyRefused)
{
    if (anyRefused)
        columns.push_back(
            { { QCoreApplication::translate("Table", "Serves the request"),
                  QCoreApplication::translate("Table",
                      "Whether the last refused request is served with the memory that there was, and "
                      "all that the recording served"),
                  QStringLiteral("yes"), false },
                "serves_request" });
    return columns;
}

TableCell lineCell(const model::Recording& recording, model::StackId stack)
{
    const model::FrameId frame = model::userFrame(recording, stack);
    if (!frame.valid())
        return noteCell(QCoreApplication::translate("Table", "no stack recorded"));
    TableCell cell{ text::utf8(model::frameShortLabel(recording, frame)), {} };
    cell.note = text::utf8(model::frameFunction(recording, frame));
    return cell;
}

QString lineTooltip(const model::Recording& recording, model::StackId stack)
{
    constexpr qsizetype kLines = 24;
    if (recording.stacks.stack(stack).empty())
        return QCoreApplication::translate("Table", "No stack: record with %1").arg(text::recordLine());
    const QStringList lines = text::stack(recording, stack).split(QLatin1Char('\n'));
    QString text = lines.mid(0, kLines).join(QLatin1Char('\n'));
    if (lines.size() > kLines)
        text += QLatin1Char('\n')
            + text::counted(lines.size() - kLines, QCoreApplication::translate("Table", "and 1 more frame"),
                QCoreApplication::translate("Table", "and %1 more frames"));
    return text;
}

} // namespace strata::views
