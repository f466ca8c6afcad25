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
    explicit Printed(const Printed* base) ///< what is printed besides
        : m_base(base)
        , m_startNs(base->m_startNs)
    {
    }

    /// All lines of an answer. Of many lines the first ones, and what all come to.
    void add(const std::vector<Json>& lines)
    {
        constexpr std::size_t kMost = 200;
        std::vector<std::int64_t> around;
        if (lines.size() > 1 && lines[0].contains("to"))
            around.push_back(lines[0]["to"]); // blocks that live on
        for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i)
            add(lines[i], lines.size() > 1, around);
        if (lines.size() < 2)
            return;
        addRests(lines);
        say(text::count(std::ssize(lines) - 1), QStringLiteral("blocks"));
        say(text::count(std::ssize(lines) - 1), QStringLiteral("events"));
    }

    /// `isRow`: of blocks or events, of which texts name no keys. `around`: numbers of what the row is in.
    void add(const Json& answer, bool isRow, const std::vector<std::int64_t>& around = {})
    {
        m_isRow = isRow;
        read(answer, {}, around);
        std::ranges::sort(m_names, [](const QString& a, const QString& b) { return a.size() > b.size(); });
    }

    /// The figures of a text that nothing printed says. Counts below 10 are none, and no names after a colon.
    /// Counts of blocks, events and steps have such a key, but in a row alone.
    [[nodiscard]] QStringList unknownIn(QString text) const
    {
        text = plain(text);
        if (unnamedIn(text).isEmpty())
            return {};
        for (const Printed* each = this; each; each = each->m_base)
            for (const QString& name : each->m_names)
                text.replace(name, QStringLiteral("…"));
        return unnamedIn(text);
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
    static const QRegularExpression& figure()
    {
        static const QRegularExpression figure(
            QStringLiteral("(?<![\\w.,:])(\\d(?:[\\d,]*\\d)?(?:\\.\\d+)?)(?: "
                           "?(%|(?:B|KiB|MiB|GiB|TiB|ns|µs|ms|s|min|h)\\b))?(?!\\w)"));
        return figure;
    }
    [[nodiscard]] QStringList unnamedIn(const QString& text) const
    {
        static const QRegularExpression small(QStringLiteral("^(\\d|0(\\.0+)? ?.*)$"));
        QStringList unknown;
        for (auto matches = figure().globalMatch(text); matches.hasNext();) {
            const auto match = matches.next();
            const QString found = match.captured(), counted = countedBy(text, match);
            if (!small.match(found).hasMatch()
                && (!has(found) || (m_base && !counted.isEmpty() && !hasKey(found, { counted }))))
                unknown << found;
        }
        return unknown;
    }
    static QString plain(QString text)
    {
        return text.replace(QChar(0xa0), QLatin1Char(' ')).replace(QChar(0x202f), QLatin1Char(' '));
    }
    [[nodiscard]] bool has(const QString& figure) const
    {
        return m_figures.contains(figure) || (m_base && m_base->has(figure));
    }

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
        return m_base && m_base->hasKey(figure, words);
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
                            m_keys.emplace(*m_figures.insert(said), QString::fromStdString(key));
    }

    /// Names that hold digits are no figures; a sentence says figures.
    void addName(const QString& name)
    {
        if (name.contains(QLatin1Char('-'))
            && !name.contains(QLatin1Char(' '))) // "RTX 5090" of RTX-5090-32GB
            for (const QString& part : name.split(QLatin1Char('-')))
                m_figures.insert(part);
        if (name.count(QLatin1Char(' ')) > 2)
            for (auto matches = figure().globalMatch(plain(name)); matches.hasNext();)
                m_keys.emplace(*m_figures.insert(matches.next().captured()), name);
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
            m_figures.insert(text::share(size, other).remove(QLatin1String("< ")));
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
    const Printed* m_base = nullptr;
    std::int64_t m_startNs;
    bool m_isRow = false; // what is added
    QSet<QString> m_figures, m_known;
    QStringKeys m_keys; // where each figure is printed
    QStringList m_names;
};

/// A list of objects that is printed, and the object that it is in.
struct List {
    Json head = Json::object();
    std::vector<Json> rows;
    std::vector<std::int64_t> around; ///< numbers of that object, and what rows come to

    [[nodiscard]] qsizetype keysOf(const QStringList& names) const ///< how many are keys of rows, or nearly
    {
        const auto isKey = [&](const QString& name) {
            return std::ranges::any_of(rows[0].items(), [&](const auto& item) {
                const QString key = QString::fromStdString(item.key());
                return key == name || name.endsWith(QLatin1Char('_') + key);
            });
        };
        return rows.empty() ? 0 : std::ranges::count_if(names, isKey);
    }
};

/// Objects of an object by the keys that they have: rows of them, where an interval is two keys.
inline std::vector<Json> transposed(const Json& value)
{
    std::map<std::string, Json> rows;
    for (const auto& [name, part] : value.items())
        for (auto each = part.begin(); part.is_object() && each != part.end(); ++each) {
            Json& row = rows[each.key()];
            if (each->is_array() && each->size() == 2) {
                row["least_bytes"] = (*each)[0];
                row["most_bytes"] = (*each)[1];
            } else
                row[name + "_bytes"] = *each;
        }
    std::size_t most = 2;
    for (const auto& [key, row] : rows)
        most = std::max(most, row.size());
    std::vector<Json> all;
    for (const auto& [key, row] : rows)
        if (row.size() == most)
            all.push_back(row);
    return all;
}

/// The lists of an answer; those within the rows of another in one, too: rows have the keys of both.
inline std::vector<List> listsOf(const std::vector<Json>& lines)
{
    std::vector<List> lists;
    const auto add = [&](List list) {
        std::map<std::string, std::int64_t> sums;
        const auto read = [&](const Json& object, auto&& use) {
            for (const auto& [key, part] : object.items())
                if (part.is_number_integer())
                    use(key, part.template get<std::int64_t>());
        };
        read(list.head, [&](const std::string&, std::int64_t n) { list.around.push_back(n); });
        for (const Json& row : list.rows)
            read(row, [&](const std::string& key, std::int64_t n) { sums[key] += n; });
        for (const auto& [key, sum] : sums)
            list.around.push_back(sum);
        lists.push_back(std::move(list));
    };
    const std::function<void(const Json&, const Json&)> read = [&](const Json& value, const Json& head) {
        if (value.is_object()) {
            for (const Json& part : value)
                read(part, value);
            add({ value, transposed(value), {} });
        }
        if (!value.is_array() || value.empty() || !value[0].is_object())
            return;
        add({ head, { value.begin(), value.end() }, {} });
        std::map<std::string, List> within; // all of them, and the first of each row
        for (const Json& row : value)
            if (std::vector<Json> rows = transposed(row); !rows.empty())
                add({ row, std::move(rows), {} });
        for (const Json& row : value)
            for (const auto& [key, part] : row.items())
                if (read(part, row); part.is_array())
                    for (std::size_t i = 0; i < part.size() && part[i].is_object(); ++i) {
                        Json both = row;
                        both.erase(key);
                        both.update(part[i]);
                        if (i == 0)
                            within[key + " first"].rows.push_back(both);
                        within[key].rows.push_back(std::move(both));
                    }
        for (auto& [key, list] : within)
            add({ head, std::move(list.rows), {} });
    };
    if (!lines.empty() && lines.front().contains("kind"))
        add({ lines.front(), { lines.begin() + 1, lines.end() }, {} });
    else if (!lines.empty())
        read(lines.front(), {});
    return lists;
}

/// The numbers of an object and in it, how many of its lists are alike, and what numbers of its own differ
/// by.
inline std::set<std::int64_t> numbersOf(const Json& object, std::vector<std::int64_t> own)
{
    std::set<std::int64_t> numbers{ 0 };
    const std::function<void(const Json&)> read = [&](const Json& value) {
        std::map<Json, std::int64_t> alike;
        for (const Json& each : value) {
            if (each.is_number_integer())
                numbers.insert(each.get<std::int64_t>());
            else if (each.is_structured())
                read(each);
            if (value.is_array() && each.is_object())
                for (const auto& [key, part] : each.items())
                    if (part.is_string())
                        ++alike[part];
        }
        for (const auto& [said, count] : alike)
            numbers.insert({ count, std::ssize(value) - count });
    };
    read(object);
    for (const auto& [key, part] : object.items())
        if (part.is_number_integer())
            own.push_back(part.get<std::int64_t>());
    for (const std::int64_t a : own)
        for (const std::int64_t b : own)
            numbers.insert({ a - b, a + b });
    return numbers;
}

/// What a row of CSV says otherwise than an object, or nothing. Numbers without a key are others of it: of
/// few keys, only what it says itself.
inline QString differenceOf(
    const QStringList& names, const QStringList& row, const Json& object, const List& list)
{
    std::optional<std::set<std::int64_t>> numbers;
    const auto has = [&](qint64 number) {
        if (!numbers) {
            Json flat = object;
            const bool fewKeys = list.keysOf(names) * 2 < names.size();
            for (auto part = flat.begin(); fewKeys && part != flat.end();)
                part = part->is_structured() ? flat.erase(part) : std::next(part);
            numbers = numbersOf(flat, list.around);
            std::int64_t rest = object.value("bytes", std::int64_t{ 0 }); // what other columns leave of it
            for (qsizetype i = 0; i + 1 < row.size() && i + 1 < names.size(); ++i)
                rest -= names[i].endsWith(QLatin1String("_bytes")) ? row[i].toLongLong() : 0;
            numbers->insert(rest);
        }
        return numbers->contains(number);
    };
    const auto allocated = object.find("allocated_size"); // null: the window has a bound
    for (qsizetype column = 0; column < std::min(names.size(), row.size()); ++column) {
        const QString& said = row[column];
        bool isWhole = false;
        const qint64 number = said.toLongLong(&isWhole, said.startsWith(QLatin1String("0x")) ? 16 : 10);
        const auto key = object.find(names[column].toStdString());
        const Json value = key == object.end() ? Json::array() : *key;
        if (isWhole ? (value.is_number_integer()
                    ? value != number
                    : (allocated == object.end() || !allocated->is_null()) && !has(number))
                    : (names[column] != QLatin1String("kind") && value.is_string()
                          && said.compare(QString::fromStdString(value), Qt::CaseInsensitive) != 0)
                    || (value.is_null() && !said.isEmpty()))
            return QStringLiteral("%1 is %2 for %3")
                .arg(names[column], said, QString::fromStdString(value.dump()));
    }
    return {};
}

/// Rows of CSV against a list: the first difference, or nothing; then the list is in their order. Rows behind
/// it are each a key of the object that the list is in.
inline QString differenceOf(const QStringList& names, const std::vector<QStringList>& rows, List& list)
{
    const auto keys = list.keysOf(names);
    const std::size_t size = list.rows.size();
    if (rows.size() < size || size == 0 || keys == 0)
        return QStringLiteral("%1 rows for %2").arg(rows.size()).arg(size);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        QString difference;
        if (i >= size) {
            const auto key = list.head.find(rows[i].value(0).toStdString() + "_bytes");
            if (key == list.head.end()
                || rows[i].value(1).toStdString() != (key->is_null() ? "" : key->dump()))
                difference = rows[i].join(QLatin1Char(','));
        } else
            for (std::size_t other = i; other < size; ++other) {
                const QString found = differenceOf(names, rows[i], list.rows[other], list);
                if (other == i)
                    difference = found;
                else if (found.isEmpty())
                    std::swap(list.rows[i], list.rows[other]);
                if (found.isEmpty())
                    difference.clear();
                if (found.isEmpty() || list.head.contains("kind")) // printed as they are sorted
                    break;
            }
        if (!difference.isEmpty())
            return QStringLiteral("row %1, %2: %3").arg(i).arg(rows[i].join(QLatin1Char(',')), difference);
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
