// SPDX-License-Identifier: GPL-3.0-or-later
// What a page shows is what the command line prints, whatever page and whatever figure. Nothing here knows a
// page: labels, cells and CSV are read as texts, and `strata COMMAND --json` as keys with values.
//   - Each figure of a text is one that some command prints, written as the window writes figures.
//   - The figure beside a label has a key with the words of the label.
//   - Each row of a table's CSV is an object of the JSON, column by column.
#include "tests/gui/agreement/agreement_test.h"
#include "views/style/texts.h"
#include "views/widgets/plain_table_view.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QBuffer>
#include <QGridLayout>
#include <QLabel>
#include <QRegularExpression>
#include <QSet>

#include <cmath>
#include <limits>
#include <map>
#include <set>

using namespace strata;
using namespace strata::views;

namespace {

using Json = nlohmann::json;

/// What the command line prints of a file, as the window would write it.
class Printed {
public:
    explicit Printed(std::int64_t startNs)
        : m_startNs(startNs)
    {
    }

    /// `isTable`: of blocks or events, of which texts name no keys.
    void add(const Json& answer, bool isTable)
    {
        m_isTable = isTable;
        read(answer, {}, {});
    }

    void sortNames()
    {
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

    /// Whether some printed object has all these keys.
    [[nodiscard]] bool hasKeys(const QStringList& names) const
    {
        return std::ranges::any_of(m_kinds, [&](const QSet<QString>& kind) {
            return std::ranges::all_of(names, [&](const QString& name) { return kind.contains(name); });
        });
    }

    /// The columns of a row of CSV that the printed object most like it has not so.
    [[nodiscard]] QStringList missingOf(const QStringList& names, const QStringList& values) const
    {
        QStringList missing = names;
        for (const Object& object : m_objects) {
            QStringList here;
            for (qsizetype i = 0; i < names.size() && here.size() < missing.size(); ++i)
                if (!isSame(object, names[i], values[i]))
                    here << names[i] + QLatin1Char('=') + values[i];
            if (here.size() < missing.size())
                missing = here;
        }
        return missing;
    }

    /// The whole numbers of a row of CSV that nobody prints.
    [[nodiscard]] QStringList unknownOf(const QStringList& values) const
    {
        QStringList unknown;
        for (const QString& value : values) {
            bool isWhole = false;
            const qint64 number = value.toLongLong(&isWhole);
            if (isWhole && !m_numbers.contains(number))
                unknown << value;
        }
        return unknown;
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

    using Object = std::map<QString, QString>;

    static QString plain(const Json& value)
    {
        if (value.is_string())
            return QString::fromStdString(value.get<std::string>());
        if (value.is_array()) {
            QStringList parts;
            for (const Json& part : value)
                parts << plain(part);
            return parts.join(QLatin1Char('x'));
        }
        return value.is_null() ? QString() : QString::fromStdString(value.dump());
    }

    static bool isSame(const Object& object, const QString& name, const QString& value)
    {
        const auto found = object.find(name);
        if (found == object.end())
            return false;
        bool isNumber = false, isShown = false;
        const double number = found->second.toDouble(&isNumber), shown = value.toDouble(&isShown);
        return found->second == value
            || (isNumber && isShown && std::abs(number - shown) <= 0.5); // ratios are rounded
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
            say(text::count(static_cast<std::int64_t>(value.size())), path);
        }
        std::vector<std::int64_t> numbers = around;
        Object object;
        for (const auto& [key, part] : value.items()) {
            if (!value.is_object())
                break;
            addName(QString::fromStdString(key));
            object[QString::fromStdString(key)] = plain(part);
            if (!m_isTable && part.is_number_integer())
                numbers.push_back(part.get<std::int64_t>());
        }
        for (const auto& [key, part] : value.items())
            read(part, value.is_object() ? path + QLatin1Char(' ') + QString::fromStdString(key) : path,
                numbers);
        if (m_isTable || object.empty())
            return;
        QSet<QString> kind;
        for (const auto& [key, shown] : object)
            kind.insert(key);
        if (!m_kinds.contains(kind))
            m_kinds << kind;
        m_objects.push_back(std::move(object));
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
        if (!m_isTable)
            m_keys.emplace(figure, path.section(QLatin1Char(' '), -1));
    }

    void addFigure(std::int64_t n, const QString& path, const std::vector<std::int64_t>& around)
    {
        const std::int64_t size = std::abs(n);
        m_numbers.insert(n);
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
        for (const std::int64_t whole : around)
            if (whole >= size && whole > 0) {
                m_figures.insert(text::share(size, whole));
                if (path.endsWith(QLatin1String("bytes"))) // what is left of it
                    m_figures.insert(text::bytes(whole - size));
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

    std::int64_t m_startNs; // of the recording
    bool m_isTable = false; // what is added
    QSet<QString> m_figures, m_known;
    std::multimap<QString, QString> m_keys; // where each figure is printed
    QSet<qint64> m_numbers;
    std::vector<Object> m_objects; // but for rows of blocks and events
    QList<QSet<QString>> m_kinds; // keys that objects have
    QStringList m_names;
};

class FiguresAgree : public test::AgreementTest {
protected:
    void print(std::vector<std::string> words, bool isTable = false)
    {
        words.insert(words.begin() + 1, path());
        words.emplace_back("--json");
        const test::Ran ran = test::strata(words);
        EXPECT_LE(ran.code, 1) << words.front() << ": " << ran.err;
        for (const Json& answer : ran.rows())
            m_printed->add(answer, isTable);
    }

    void printAll()
    {
        const auto& clock = trace().events();
        m_printed.emplace(clock.hasTimes() && trace().eventCount() > 0 ? clock.timeNs[0] : 0);
        const std::string device = std::to_string(trace().device());
        for (const char* command : { "check", "steps", "leaks", "replay", "timeline", "notes", "oom" })
            print({ command });
        print({ "summary", "--replay" });
        print({ "whatif", "--alternatives", "--device", device });
        print({ "blocks", "--device", device, "--replay" }, true);
        print({ "events", "--device", device, "--annotations" }, true);
        const std::string at = std::to_string(trace().totals().requestedPeakEvent);
        for (const char* by : { "line", "site", "stream", "pool", "size", "category", "module" })
            print({ "at", at, "--device", device, "--by", by });
        for (const model::OutOfMemory& oom : driver().device().summary->outOfMemory)
            print({ "at", std::to_string(oom.event), "--device", device });
        for (const char* command : { "state", "ledger", "fragmentation" })
            print({ command, at, "--device", device });
        print({ "ledger", at, "--device", device, "--by", "module" });
        m_printed->sortNames();
    }

    static QStringList textsOf(Page& page)
    {
        QStringList texts = test::shownTexts(page);
        for (const auto* view : page.findChildren<QAbstractItemView*>()) {
            if (!view->isVisibleTo(&page) || view->model() == nullptr)
                continue;
            const QAbstractItemModel& model = *view->model();
            for (int row = 0; row < std::min(model.rowCount(), 100); ++row)
                for (int column = 0; column < model.columnCount(); ++column)
                    texts << model.index(row, column).data().toString();
        }
        texts.removeDuplicates();
        return texts;
    }

    /// Labels with a figure at their right.
    static std::vector<std::pair<QString, QString>> labelledOf(Page& page)
    {
        std::vector<std::pair<QString, QString>> labelled;
        const auto at = [](const QGridLayout& grid, int row, int column) {
            const QLayoutItem* item = grid.itemAtPosition(row, column);
            QWidget* widget = item ? item->widget() : nullptr;
            if (const auto* label = qobject_cast<QLabel*>(widget))
                return test::plainText(label->text());
            const auto* button = qobject_cast<QAbstractButton*>(widget);
            return button ? button->text() : QString();
        };
        for (const auto* grid : page.findChildren<QGridLayout*>())
            for (int row = 0; row < grid->rowCount(); ++row)
                if (const QString label = at(*grid, row, 0); !label.isEmpty())
                    labelled.emplace_back(label, at(*grid, row, 1));
        return labelled;
    }

    /// Whether a cell says the figure that CSV has there; true where one of them is none.
    static bool isSaid(QString cell, const QString& value)
    {
        bool isWhole = false;
        const qint64 number = std::abs(value.toLongLong(&isWhole));
        if (cell.startsWith(QLatin1Char('+')) || cell.startsWith(QLatin1Char('-'))
            || cell.startsWith(QChar(0x2212)))
            cell.remove(0, 1);
        const QString figure = cell.section(QLatin1Char(' '), 0, 0);
        static const QRegularExpression one(QStringLiteral("^\\d[\\d,.]*( [A-Za-zµ]+)?$"));
        if (!isWhole || !one.match(cell).hasMatch())
            return true;
        for (const QString& said :
            { text::count(number), text::bytes(number), text::exactBytes(number), text::duration(number),
                text::seconds(number), text::address(static_cast<std::uint64_t>(number)) })
            if (cell == said || figure == said || figure == said.section(QLatin1Char(' '), 0, 0))
                return true;
        return false;
    }

    static QStringList fieldsOf(const QString& line)
    {
        static const QRegularExpression field(QStringLiteral("(?:^|,)(?:\"((?:[^\"]|\"\")*)\"|([^,]*))"));
        QStringList fields;
        for (auto matches = field.globalMatch(line); matches.hasNext();) {
            const auto match = matches.next();
            fields << (match.capturedStart(1) >= 0
                    ? match.captured(1).replace(QLatin1String("\"\""), QLatin1String("\""))
                    : match.captured(2));
        }
        return fields;
    }

    std::optional<Printed> m_printed;
};

/// Figures that the command line does not print as JSON, yet: these parts of texts are left out.
struct Gap {
    const char *page, *part;
};
constexpr Gap kGaps[] = {
    { "events", "allocated [\\d.,]+ \\w+, freed [\\d.,]+ \\w+" }, // of the rows that are shown
    { "flame", "[\\d.]+ % of it below " }, // of a call tree
    { "leaks", "Finding leaks needs \\d+ steps|make (at least )?\\d+ steps after" }, // how many steps a verdict takes
    { "notes", "^\\d+ [A-Z][a-z]+ \\d{4} [\\d:]+$" }, // a day
    { "summary", "has to hold at least [\\d.,]+ \\w+" }, // strata oom says it as text alone
    { "summary", "^time span$" },
};

QString withoutGaps(const Page& page, QString text)
{
    for (const Gap& gap : kGaps)
        if (page.id() == QLatin1String(gap.page))
            text.remove(QRegularExpression(QString::fromLatin1(gap.part)));
    return text;
}

TEST_P(FiguresAgree, OnEveryPage)
{
    select(trace().totals().requestedPeakEvent);
    printAll();
    int figures = 0, labels = 0, rows = 0;
    for (Page* each : driver().view().pages()) {
        auto& page = driver().shown<Page>(each->id().toUtf8().constData());
        QStringList wrong;
        QString before;
        for (const QString& text : textsOf(page)) {
            ++figures;
            const QStringList unknown = m_printed->unknownIn(withoutGaps(page, text));
            if (!unknown.isEmpty())
                wrong << QStringLiteral("%1 of: %2, after: %3")
                             .arg(unknown.join(QStringLiteral("; ")), text, before);
            before = text;
        }
        static const QRegularExpression oneFigure(QStringLiteral("^\\d[\\d,.]*( [A-Za-z]+)?$"));
        for (const auto& [label, figure] : labelledOf(page))
            if (oneFigure.match(figure).hasMatch()) {
                ++labels;
                if (!m_printed->isOf(figure, label) && !withoutGaps(page, label).isEmpty())
                    wrong << QStringLiteral("no key of %1 has %2").arg(label, figure);
            }
        for (const auto* view : page.findChildren<PlainTableView*>()) {
            QBuffer buffer;
            if (!view->source() || !buffer.open(QIODevice::ReadWrite) || !view->writeCsv(buffer))
                continue;
            const QStringList lines
                = QString::fromUtf8(buffer.data()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
            const QStringList names = fieldsOf(lines.value(0));
            const bool isByKeys = m_printed->hasKeys(names);
            for (qsizetype i = 1; i < std::min<qsizetype>(lines.size(), 200); ++i, ++rows) {
                const QStringList values = fieldsOf(lines[i]);
                const QStringList missing
                    = isByKeys ? m_printed->missingOf(names, values) : m_printed->unknownOf(values);
                const int row = static_cast<int>(i - 1);
                for (qsizetype column = 0; column < values.size(); ++column)
                    if (const QString cell = view->model()->index(row, column).data().toString();
                        !isSaid(cell, values[column]))
                        wrong
                            << QStringLiteral("%1 shows %2 for %3").arg(names[column], cell, values[column]);
                if (!missing.isEmpty())
                    wrong << QStringLiteral("%1 in %2 (%3)")
                                 .arg(missing.join(QStringLiteral("; ")), lines[i], lines[0]);
            }
        }
        EXPECT_EQ(wrong.mid(0, 12).join(QLatin1Char('\n')).toStdString(), "")
            << wrong.size() << " on page " << qPrintable(page.id());
    }
    std::printf("%d texts, %d labelled figures, %d rows of tables\n", figures, labels, rows);
    EXPECT_GT(figures, 100);
    EXPECT_GT(rows, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Recordings, FiguresAgree, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
