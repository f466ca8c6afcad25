// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/units.h"
#include "views/style/texts.h"

#include <QList>
#include <QRegularExpression>
#include <QSet>
#include <QStringList>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace strata::test {

namespace text = views::text;

using Json = nlohmann::json;

/// What the command line prints as JSON, as the window would write it.
class Printed {
public:
    explicit Printed(std::int64_t startNs) ///< of the recording
        : m_startNs(startNs)
    {
    }

    /// All lines of an answer. Of many lines the first ones, and what all come to.
    void add(const std::vector<Json>& lines)
    {
        constexpr std::size_t kMost = 200;
        for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i)
            add(lines[i], lines.size() > 1);
        if (lines.size() < 2)
            return;
        std::map<std::string, std::int64_t> sums;
        for (const Json& line : lines)
            for (const auto& [key, part] : line.items())
                if (part.is_number_integer() && key.ends_with("bytes"))
                    sums[key] += part.get<std::int64_t>();
        for (const auto& [key, sum] : sums)
            m_figures.insert(text::bytes(sum));
        say(text::count(std::ssize(lines) - 1), QStringLiteral("blocks"));
        say(text::count(std::ssize(lines) - 1), QStringLiteral("events"));
    }

    /// `isRow`: of blocks or events, of which texts name no keys.
    void add(const Json& answer, bool isRow)
    {
        m_isRow = isRow;
        read(answer, {}, {});
        std::ranges::sort(m_names, [](const QString& a, const QString& b) { return a.size() > b.size(); });
    }

    /// The figures of a text that nothing printed says.
    [[nodiscard]] QStringList unknownIn(QString text) const
    {
        static const QRegularExpression figure(
            QStringLiteral("(?<![\\w.,])(\\d(?:[\\d,]*\\d)?(?:\\.\\d+)?)(?: "
                           "?(%|(?:B|KiB|MiB|GiB|TiB|ns|µs|ms|s|min|h)\\b))?(?!\\w)"));
        text.replace(QChar(0xa0), QLatin1Char(' '));
        text.replace(QChar(0x202f), QLatin1Char(' '));
        for (const QString& name : m_names)
            text.replace(name, QStringLiteral("…"));
        QStringList unknown;
        for (auto matches = figure.globalMatch(text); matches.hasNext();) {
            const auto match = matches.next();
            const QString found = match.captured(), counted = countedBy(text, match);
            if (!m_figures.contains(found) || (!counted.isEmpty() && !hasKey(found, { counted })))
                unknown << found;
        }
        return unknown;
    }

    /// Whether a key has that figure and all words of a label.
    [[nodiscard]] bool isOf(const QString& figure, const QString& label) const
    {
        static const QRegularExpression word(QStringLiteral("[a-z]+"));
        static const QSet<QString> noKeys{ QStringLiteral("end"), QStringLiteral("at"),
            QStringLiteral("least") };
        QStringList words;
        for (auto matches = word.globalMatch(label.toLower()); matches.hasNext();)
            if (const QString each = matches.next().captured(); !noKeys.contains(each))
                words << each;
        // What the driver says.
        if (label == QLatin1String("all processes"))
            words = { QStringLiteral("used") };
        else if (label == QLatin1String("this process") || label == QLatin1String("outside PyTorch"))
            words.removeAt(label == QLatin1String("this process") ? 0 : 1);
        return hasKey(figure, words);
    }

private:
    /// "blocks" of "717 blocks", "event" of "event 4,915"; empty: another word stands there.
    static QString countedBy(const QString& text, const QRegularExpressionMatch& match)
    {
        static const QRegularExpression after(QStringLiteral("^ (block|segment|event|step)s?\\b")),
            before(QStringLiteral("\\b(event|step) $"));
        if (!match.captured(2).isEmpty()
            || text.count(QLatin1Char(' ')) < 2) // of a row, as sums of the last ones
            return {};
        const auto behind = after.match(text.mid(match.capturedEnd()));
        return behind.hasMatch() ? behind.captured(1) + QLatin1Char('s')
                                 : before.match(text.left(match.capturedStart())).captured(1);
    }

    [[nodiscard]] bool hasKey(const QString& figure, const QStringList& words) const
    {
        const auto keys = m_keys.equal_range(figure);
        for (auto key = keys.first; key != keys.second; ++key)
            if (std::ranges::all_of(words, [&](const QString& each) { return key->second.contains(each); }))
                return true;
        return false;
    }

    void read(const Json& value, const QString& path, const std::vector<std::int64_t>& around)
    {
        if (value.is_string())
            return addName(QString::fromStdString(value.get<std::string>()));
        if (value.is_number_float())
            return addFigure(value.get<double>(), path);
        if (value.is_number())
            return addFigure(value.get<std::int64_t>(), path, around);
        if (!value.is_structured())
            return;
        if (value.is_array()) {
            addRests(value);
            say(text::count(std::ssize(value)), path);
        }
        std::vector<std::int64_t> numbers = around;
        for (const auto& [key, part] : value.items()) {
            if (!value.is_object())
                break;
            addName(QString::fromStdString(key));
            if (part.is_number_integer())
                numbers.push_back(part.get<std::int64_t>());
        }
        for (const auto& [key, part] : value.items())
            read(part, value.is_object() ? path + QLatin1Char(' ') + QString::fromStdString(key) : path,
                numbers);
    }

    /// "and 8 others, 146 MiB": what rows come to from one of them on.
    void addRests(const Json& rows)
    {
        std::map<std::string, std::int64_t> sums;
        for (std::size_t row = rows.size(); row-- > 0;)
            if (rows[row].is_object())
                for (const auto& [key, part] : rows[row].items())
                    if (part.is_number_integer() && (key.ends_with("bytes") || key == "blocks"))
                        for (const std::int64_t sum = sums[key] += part.get<std::int64_t>();
                             const QString& said : { text::bytes(sum), text::count(sum) })
                            m_figures.insert(said);
    }

    /// Names that hold digits are no figures.
    void addName(const QString& name)
    {
        static const QRegularExpression digitAndLetter(QStringLiteral("(?=.*\\d)(?=.*[A-Za-z_])"));
        if (name.size() > 2 && digitAndLetter.match(name).hasMatch() && !m_known.contains(name)) {
            m_known.insert(name);
            m_names << name;
        }
    }

    void say(const QString& figure, const QString& path)
    {
        m_figures.insert(figure);
        m_keys.emplace(figure, path.section(QLatin1Char(' '), -1));
    }

    void addFigure(std::int64_t n, const QString& path, const std::vector<std::int64_t>& around)
    {
        const std::int64_t size = std::abs(n);
        for (const QString& said : { text::count(size), text::bytes(size), text::exactBytes(size) })
            say(said, path);
        if (size >= 1024) // its unit is a column of its own
            say(text::bytes(size).section(QLatin1Char(' '), 0, 0), path);
        if (path.endsWith(QLatin1String("_ns")))
            for (const std::int64_t ns : { size, n - m_startNs }) {
                say(text::duration(std::abs(ns)), path);
                say(text::seconds(std::abs(ns)), path);
            }
        if (path.endsWith(QLatin1String("address")))
            m_names << text::address(static_cast<std::uint64_t>(n));
        for (const std::int64_t other : around) {
            if (m_isRow || path.endsWith(QLatin1String("event"))) // how long a block lived
                m_figures.insert(text::count(std::abs(other - n)));
            if (other < size || other <= 0)
                continue;
            m_figures.insert(text::share(size, other));
            if (path.endsWith(QLatin1String("bytes"))) // what is left of it
                m_figures.insert(text::bytes(other - size));
        }
    }

    void addFigure(double n, const QString& path)
    {
        const double size = std::abs(n);
        for (const int digits : { 0, 1, 2, 3 }) {
            say(QString::number(size, 'f', digits), path);
            say(QString::number(size * 100, 'f', digits) + QStringLiteral(" %"), path);
        }
        say(QString::number(size, 'g', 4), path);
        say(QString::fromStdString(model::formatFigure(size)), path);
    }

    using QStringKeys = std::multimap<QString, QString>;
    std::int64_t m_startNs;
    bool m_isRow = false; // what is added
    QSet<QString> m_figures, m_known;
    QStringKeys m_keys; // where each figure is printed
    QStringList m_names;
};

/// Rows of CSV against a list of objects, one by one: the first difference, or nothing.
inline QString differenceOf(
    const QStringList& names, const std::vector<QStringList>& rows, const std::vector<const Json*>& objects)
{
    if (rows.size() != objects.size())
        return QStringLiteral("%1 rows for %2").arg(rows.size()).arg(objects.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::set<qint64> numbers;
        const std::function<void(const Json&)> read = [&](const Json& value) {
            if (value.is_number_integer())
                numbers.insert(value.get<qint64>());
            else if (value.is_structured())
                std::ranges::for_each(value, read);
        };
        read(*objects[i]);
        for (qsizetype column = 0; column < std::min(names.size(), rows[i].size()); ++column) {
            const QString& said = rows[i][column];
            bool isWhole = false;
            const qint64 number = said.toLongLong(&isWhole, said.startsWith(QLatin1String("0x")) ? 16 : 10);
            const auto key = objects[i]->find(names[column].toStdString());
            const bool isKey = key != objects[i]->end();
            const bool differs = isWhole
                ? (isKey && key->is_number_integer() ? key->get<qint64>() != number
                                                     : !numbers.contains(number))
                : isKey && key->is_string() && key->get<std::string>() != said.toStdString();
            if (differs || (isKey && key->is_null() && !said.isEmpty()))
                return QStringLiteral("row %1: %2 is %3").arg(i).arg(names[column], said);
        }
    }
    return {};
}

/// Whether a cell says a number, without its sign; true where it says none.
inline bool isSaid(QString cell, const Json& value)
{
    static const QRegularExpression one(QStringLiteral("^\\d[\\d,.]*( [A-Za-zµ]+)?$"));
    if (!cell.isEmpty() && (cell[0] == QLatin1Char('-') || cell[0] == QChar(0x2212)))
        cell.remove(0, 1);
    if (!value.is_number_integer() || !one.match(cell).hasMatch())
        return true;
    const std::int64_t number = std::abs(value.get<std::int64_t>());
    const QString figure = cell.section(QLatin1Char(' '), 0, 0);
    return std::ranges::any_of(
        QStringList{ text::count(number), text::bytes(number), text::exactBytes(number) },
        [&](const QString& said) {
            return cell == said || figure == said || figure == said.section(QLatin1Char(' '), 0, 0);
        });
}

} // namespace strata::test
