// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/report.h"

#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <algorithm>

namespace strata::cli {

namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kReadable = 100;
constexpr std::size_t kNarrowestReport = 16;

} // namespace

std::string savedText(std::int64_t bytes)
{
    return bytes < 0 ? model::formatBytes(-bytes) + " more" : model::formatBytes(bytes);
}

std::string padded(std::string_view cell, std::size_t width, Table::Align align)
{
    const std::size_t points = model::characters(cell);
    const std::string blanks(width > points ? width - points : 0, ' ');
    return align == Table::Align::Right ? blanks + std::string(cell) : std::string(cell) + blanks;
}

Table::Table(std::vector<Column> columns)
    : m_columns(std::move(columns))
{
    for (const Column& column : m_columns)
        m_widths.push_back(model::characters(column.title));
}

void Table::add(std::vector<std::string> cells)
{
    for (std::size_t i = 0; i < m_widths.size(); ++i)
        m_widths[i] = std::max(m_widths[i], model::characters(cells[i]));
    m_rows.push_back(std::move(cells));
}

void Table::print(Output& out, std::size_t indent) const
{
    std::size_t before = indent;
    for (std::size_t i = 0; i + 1 < m_widths.size(); ++i)
        before += m_widths[i] + kGap;
    const auto terminal = static_cast<std::size_t>(out.width());
    const std::size_t lastWidth
        = terminal == 0 ? 0 : std::max(kNarrowestReport, terminal > before ? terminal - before : 0);

    const auto compose = [&](const auto& cellAt) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < m_columns.size(); ++i) {
            const bool last = i + 1 == m_columns.size();
            if (last && m_columns[i].align == Align::Left)
                line += model::shortenLeft(cellAt(i), lastWidth);
            else
                line += padded(cellAt(i), m_widths[i], m_columns[i].align);
            if (!last)
                line.append(kGap, ' ');
        }
        return line;
    };
    const bool titled = std::any_of(
        m_columns.begin(), m_columns.end(), [](const Column& column) { return !column.title.empty(); });
    if (titled)
        out.line(out.faint(compose([&](std::size_t i) -> const std::string& { return m_columns[i].title; })));
    for (const std::vector<std::string>& row : m_rows)
        out.line(compose([&](std::size_t i) -> const std::string& { return row[i]; }));
}

void printParagraph(Output& out, std::string_view text)
{
    const auto terminal = static_cast<std::size_t>(out.width());
    out.line(wrap(text, terminal == 0 ? kReadable : std::min(kReadable, terminal)));
}

void printSentences(Output& out, const std::vector<model::Sentence>& sentences)
{
    std::string text;
    for (const model::SentencePiece& piece : model::piecesOf(sentences))
        text += piece.strong ? out.strong(printable(piece.text)) : printable(piece.text);
    printParagraph(out, text);
}

} // namespace strata::cli
