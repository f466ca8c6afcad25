// SPDX-License-Identifier: GPL-3.0-or-later
// What a page shows is what the command line prints, whatever page, figure and situation. Nothing here knows
// a page: labels, cells and CSV are read as texts, and `strata COMMAND --json` as keys with values.
//   - What "Copy as Command Line" gives of a page runs, and is of the instant, the range, the filter and the
//     device that are chosen.
//   - Each figure of a text is one that this command prints, or others in that situation, written as the
//   window
//     writes figures.
//   - The figure beside a label has a key with the words of the label.
//   - Rows of CSV are the objects of a printed list, one by one, and cells say no figures but those of their
//   row.
#include "tests/gui/agreement/agreement_test.h"
#include "tests/gui/agreement/printed.h"
#include "tests/gui/training/training_run.h"
#include "tests/gui/whatif/batch_run.h"
#include "views/contents/details/details_panel.h"
#include "views/contents/document/document_view.h"
#include "views/pages/whatif/what_if_batch_card.h"
#include "views/pages/whatif/what_if_page.h"
#include "views/pages/whatif/what_if_plan_panel.h"
#include "views/pages/whatif/what_if_recordings_card.h"
#include "views/pages/whatif/what_if_sequence_card.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/segmented.h"
#include "views/widgets/table_filter_bar.h"

#include <QAbstractButton>
#include <QBuffer>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>

#include <functional>
#include <span>
#include <utility>

using namespace strata;
using namespace strata::views;

namespace {

using test::Json;
using test::Printed;

/// What is not in JSON, yet: these parts of texts and of cells ("heading=cell") are left out.
struct Gap {
    const char *page, *part;
};
constexpr Gap kGaps[] = {
    { "events", "allocated [\\d.,]+ \\w+, freed [\\d.,]+ \\w+" }, // of the rows that are shown
    { "flame", "[\\d.]+ % of it below " }, // of a call tree
    { "leaks", "of \\d+ steps needed$|\\d+ steps after it tell" }, // how many steps a verdict takes
    { "notes", "^\\d+ [A-Z][a-z]+ \\d{4} [\\d:]+$" }, // a day
    { "summary", "has to hold at least [\\d.,]+ \\w+" }, // strata oom says it as text alone
    { "summary", "^time span$" },
};
/// Tables whose rows are no list of JSON: each number is one that is printed.
constexpr const char* kDerived[] = { "flame" };

/// Columns whose cells are of one key alone, where a row has it.
struct Heading {
    const char *heading, *key;
};
constexpr Heading kHeadings[]
    = { { "Requested", "requested_bytes" }, { "Requested", "bytes" }, { "Rounded", "rounded_bytes" },
          { "Blocks", "blocks" }, { "Born", "alloc_event" }, { "Free requested", "free_requested_event" },
          { "Freed", "free_completed_event" }, { "Size", "total_size" }, { "Size", "bytes" },
          { "Event", "event" }, { "In use", "allocated_size" }, { "Reserved peak", "reserved_bytes_peak" },
          { "Saved", "saved_bytes" }, { "Peak", "requested_bytes_peak" }, { "Free in it", "free_bytes" } };

class FiguresAgree : public test::AgreementTest {
public:
    /// What is printed of what is chosen now.
    void printHere()
    {
        const auto& chosen = driver().state().selection();
        const auto& refused = driver().device().summary->outOfMemory;
        m_at = refused.empty() ? trace().totals().requestedPeakEvent : refused.back().event;
        Printed here(startNs());
        if (chosen) {
            const Answer& summary = ask("summary",
                QStringLiteral("%1 --from %2 --to %3").arg(ofDevice()).arg(chosen->first).arg(chosen->last));
            here.add(summary.lines);
            m_at = chosen->isInstant()
                ? chosen->first
                : summary.head()["ranges"][0]["requested_peak_event"].get<std::int64_t>();
        }
        m_moments.emplace(startNs());
        for (const model::EventIndex each :
            { m_at, chosen ? chosen->first : m_at, chosen ? chosen->last : m_at })
            if (each >= 0)
                for (Printed* to : { &*m_moments, &here })
                    to->add(ask("events", QStringLiteral("%1 --from %2 --to %2").arg(ofDevice()).arg(each))
                                .lines);
        m_here = here;
        for (const char* command : { "state", "ledger", "fragmentation", "at" })
            here.add(ask(command, QStringLiteral("%1 %2").arg(m_at).arg(ofDevice())).lines);
        for (const char* command : { "check", "steps", "leaks", "replay", "timeline", "notes", "oom" })
            here.add(ask(command, {}).lines);
        here.add(ask("summary", QStringLiteral("--replay")).lines);
        here.add(ask("whatif", QStringLiteral("--alternatives ") + ofDevice()).lines);
        m_anywhere = here;
    }
    [[nodiscard]] std::int64_t startNs()
    {
        const auto& clock = trace().events();
        return clock.hasTimes() && trace().eventCount() > 0 ? clock.timeNs[0] : 0;
    }

    static QStringList textsOf(const Page& page)
    {
        QStringList texts = test::shownTexts(page);
        for (const auto* view : page.findChildren<QAbstractItemView*>())
            if (view->isVisibleTo(&page) && view->model())
                addCells(*view->model(), {}, texts);
        texts.removeDuplicates();
        return texts;
    }
    static void addCells(const QAbstractItemModel& model, const QModelIndex& parent, QStringList& texts)
    {
        for (int row = 0; row < std::min(model.rowCount(parent), 100); ++row)
            for (int column = 0; column < model.columnCount(parent); ++column) {
                const QModelIndex cell = model.index(row, column, parent);
                texts << cell.data().toString();
                if (parent.isValid() || model.hasChildren(cell))
                    texts << cell.data(Qt::ToolTipRole).toString();
                addCells(model, cell, texts);
            }
    }

    /// Labels with a figure at their right.
    static std::vector<std::pair<QString, QString>> labelledOf(const Page& page)
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

    /// Every list of objects of an answer, and its lines.
    static std::vector<std::vector<const Json*>> listsOf(const Answer& answer)
    {
        std::vector<std::vector<const Json*>> lists;
        const std::function<void(const Json&)> read = [&](const Json& value) {
            if (value.is_array()) {
                auto& list = lists.emplace_back();
                for (const Json& each : value)
                    if (each.is_object())
                        list.push_back(&each);
            }
            if (value.is_structured())
                std::ranges::for_each(value, read);
        };
        if (!answer.lines.empty() && answer.head().contains("kind"))
            for (auto& list = lists.emplace_back(); const Json& line : std::span(answer.lines).subspan(1))
                list.push_back(&line);
        else if (!answer.lines.empty())
            read(answer.head());
        return lists;
    }

    QString withoutGaps(const Page& page, QString text)
    {
        for (const Gap& gap : kGaps)
            if (page.id() == QLatin1String(gap.page))
                text.remove(QRegularExpression(QString::fromLatin1(gap.part)));
        return text;
    }

    void complain(const Page& page, const QString& what)
    {
        m_wrong << page.id() + QStringLiteral(": ") + what;
    }

    /// What is copied of a page is of what is chosen.
    void isOfWhatIsChosen(const Page& page, const QString& line, const Answer& answer)
    {
        if (answer.code != 0 || answer.lines.empty()) { // the page says so, too
            const std::string refused = answer.lines.empty() ? answer.said : answer.head().dump();
            const QStringList texts = test::shownTexts(page);
            if (answer.code > 2 || std::ranges::none_of(texts, [&](const QString& text) {
                    return text.size() > 20
                        && refused.find(text.toStdString().substr(1, 18)) != std::string::npos;
                }))
                complain(page, line + QStringLiteral(": ") + QString::fromStdString(answer.said));
            return;
        }
        const Json& head = answer.head();
        const auto& chosen = driver().state().selection();
        if (head.contains("device") && head["device"] != driver().state().device())
            complain(page, QStringLiteral("of another device: ") + line);
        if (chosen && head.contains("event") && head["event"] != m_at)
            complain(page, QStringLiteral("not at %1: ").arg(m_at) + line);
        if (chosen && head.contains("from") && (head["from"] != chosen->first || head["to"] != chosen->last))
            complain(page, QStringLiteral("of another range: ") + line);
        if (chosen && !chosen->isInstant() && head.contains("kind") && !head.contains("from"))
            complain(page, QStringLiteral("of no range: ") + line);
        if (page.filterReach() != Page::FilterReach::Nothing && !driver().state().filter().empty()
            && !head.contains("filter"))
            complain(page, QStringLiteral("without the filter: ") + line);
    }

    /// Rows of CSV are a printed list; cells say the figures of their row.
    void agreesInRows(Page& page, const QByteArray& csv, const QAbstractItemView* view,
        const Printed& printed, const std::vector<const Answer*>& answers)
    {
        const QStringList lines = QString::fromUtf8(csv).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        const QStringList names = fieldsOf(lines.value(0));
        std::vector<QStringList> rows;
        for (const QString& line : lines.mid(1))
            rows.push_back(fieldsOf(line));
        if (rows.empty() && view && view->model() && view->model()->rowCount() == 0)
            return;
        QString difference;
        for (const Answer* answer : answers)
            for (const auto& list : listsOf(*answer)) {
                const QString found = test::differenceOf(names, rows, list);
                if (found.isEmpty()) {
                    m_lists[view] = list;
                    return agreesInCells(page, *view, list);
                }
                if (difference.isEmpty() || rows.size() == list.size())
                    difference = found;
            }
        if (std::ranges::none_of(kDerived, [&](const char* id) { return page.id() == QLatin1String(id); }))
            complain(page, QStringLiteral("CSV %1 is no list: %2").arg(lines.value(0), difference));
        m_rows += std::ssize(rows);
        for (const QStringList& row : std::span(rows).first(std::min<std::size_t>(rows.size(), 200)))
            for (const QString& value : row) {
                bool isWhole = false;
                const qint64 number = std::abs(value.toLongLong(&isWhole));
                if (isWhole && number > 999 && !printed.unknownIn(text::count(number)).isEmpty())
                    complain(page, value + QStringLiteral(" of ") + row.join(QLatin1Char(',')));
            }
    }
    void agreesInCells(const Page& page, const QAbstractItemView& view, const std::vector<const Json*>& list)
    {
        m_rows += std::ssize(list);
        const QAbstractItemModel& model = *view.model();
        if (std::cmp_not_equal(model.rowCount(), list.size()))
            return complain(page, QStringLiteral("%1 rows for %2").arg(model.rowCount()).arg(list.size()));
        for (int row = 0; row < std::min(model.rowCount(), 100); ++row) {
            const Json& object = *list[static_cast<std::size_t>(row)];
            Printed own(startNs());
            own.add(object, true);
            for (int column = 0; column < model.columnCount(); ++column) {
                const QString heading = model.headerData(column, Qt::Horizontal).toString();
                const QString cell = model.index(row, column).data().toString();
                const QString shown = withoutGaps(page, heading + QLatin1Char('=') + cell);
                const auto key = std::ranges::find_if(kHeadings, [&](const Heading& each) {
                    return heading.startsWith(QLatin1String(each.heading)) && object.contains(each.key);
                });
                if (!own.unknownIn(shown.section(QLatin1Char('='), 1)).isEmpty()
                    || (key != std::end(kHeadings) && !test::isSaid(cell, object[key->key])))
                    complain(page, QStringLiteral("cell %1 of row %2").arg(shown).arg(row));
            }
        }
    }

    /// A page as it is shown now.
    void agrees(Page& page)
    {
        settle();
        std::vector<const Answer*> own;
        std::vector<std::pair<QAbstractItemView*, QByteArray>> tables;
        QStringList asked;
        QList<QAbstractItemView*> views{ nullptr };
        for (auto* view : page.findChildren<QAbstractItemView*>())
            if (view->isVisibleTo(&page) && view->model())
                views << view;
        for (QAbstractItemView* view : views) { // what is copied may be of the part that has the keyboard
            if (view)
                view->setFocus();
            if (const QString line = page.commandLine(); !line.isEmpty() && !asked.contains(line)) {
                asked << line;
                own.push_back(&ask(line));
                isOfWhatIsChosen(page, line, *own.back());
            }
            QBuffer csv;
            csv.open(QIODevice::ReadWrite);
            const auto* plain = qobject_cast<PlainTableView*>(view);
            if (view
                && (plain ? plain->source() && plain->writeCsv(csv) : page.hasCsv() && page.writeCsv(csv)))
                tables.emplace_back(view, csv.data());
        }
        const bool isOfInstant
            = !own.empty() && !own.front()->lines.empty() && own.front()->head().contains("event");
        const bool isFiltered
            = page.filterReach() != Page::FilterReach::Nothing && !driver().state().filter().empty();
        Printed printed = !isOfInstant ? *m_anywhere : isFiltered ? *m_moments : *m_here;
        for (const Answer* answer : own)
            printed.add(answer->lines);
        if (!isOfInstant)
            own.push_back(&ask("summary", QStringLiteral("--replay")));
        for (const auto& [view, csv] : tables)
            agreesInRows(page, csv, view, printed, own);
        for (const QString& text : textsOf(page)) {
            ++m_texts;
            if (const QStringList unknown = printed.unknownIn(withoutGaps(page, text)); !unknown.isEmpty())
                complain(page, QStringLiteral("%1 of: %2").arg(unknown.join(QStringLiteral("; ")), text));
        }
        static const QRegularExpression oneFigure(QStringLiteral("^\\d[\\d,.]*( [A-Za-z]+)?$"));
        for (const auto& [label, figure] : labelledOf(page))
            if (oneFigure.match(figure).hasMatch() && !printed.isOf(figure, label)
                && !withoutGaps(page, label).isEmpty())
                complain(page, QStringLiteral("no key of %1 has %2").arg(label, figure));
        if (const QStringList unknown = m_here->unknownIn(driver().statusText()); !unknown.isEmpty())
            complain(page, QStringLiteral("status: ") + driver().statusText());
    }

    /// Every choice of a page, every order of its rows, filters of its own.
    void agreesInAllItsWays(Page& page)
    {
        for (auto* choice : page.findChildren<Segmented*>()) {
            if (!choice->isVisibleTo(&page))
                continue;
            const int before = choice->chosen();
            const auto buttons = choice->findChildren<QAbstractButton*>();
            for (qsizetype i = 0; i <= buttons.size(); ++i) {
                QAbstractButton* button = buttons[i < buttons.size() ? i : std::max(before, 0)];
                if (!button->isEnabled() || button->isChecked())
                    continue;
                button->click();
                agrees(page);
            }
        }
        for (auto* table : page.findChildren<TableView*>()) {
            if (qobject_cast<PlainTableView*>(table) || !table->model())
                continue;
            for (int column = 0; column < table->model()->columnCount(); ++column) {
                Q_EMIT table->sortRequested(column, column % 2 == 0);
                agrees(page);
            }
            page.resetView();
        }
        for (auto* table : page.findChildren<QTableView*>())
            if (table->isSortingEnabled() && table->model()) {
                const int column = table->horizontalHeader()->sortIndicatorSection();
                const Qt::SortOrder order = table->horizontalHeader()->sortIndicatorOrder();
                for (int i = 0; i < table->model()->columnCount(); ++i) {
                    table->sortByColumn(i, i % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
                    agrees(page);
                }
                table->sortByColumn(column, order);
            }
        for (auto* bar : page.findChildren<TableFilterBar*>()) {
            for (const char* own : { "0.py", "pool:small", "> 4 KiB < 1 MiB", "alloc \"it's\"" }) {
                bar->setText(QLatin1String(own));
                agrees(page);
            }
            bar->clear();
        }
    }

    /// What the dock says of rows: the bytes of that row, and no figures that nothing printed has.
    void agreesInDetails(Page& page)
    {
        m_lists.clear();
        agrees(page);
        const DetailsPanel& dock = driver().view().details();
        for (const auto& [table, list] : std::exchange(m_lists, {}))
            for (std::size_t row = 0; row < list.size(); row += 1 + list.size() / 20) {
                const Focus before = dock.focusShown();
                auto* view = const_cast<QAbstractItemView*>(table);
                view->setCurrentIndex(view->model()->index(static_cast<int>(row), 0));
                if (dock.focusShown() == before)
                    continue;
                ++m_details;
                const QString shown = detailsText(dock.details());
                if (std::ranges::none_of(list[row]->items(), [&](const auto& item) {
                        return item.key().ends_with("bytes") && item.value().is_number()
                            && shown.contains(text::exactBytes(item.value().template get<std::int64_t>()));
                    }))
                    complain(page, QStringLiteral("of another row: ") + shown);
                Printed printed = *m_anywhere;
                printed.add(*list[row], true);
                for (const QString& line : shown.split(QLatin1Char('\n')))
                    if (!printed.unknownIn(withoutGaps(page, line)).isEmpty())
                        complain(page, QStringLiteral("details: %1").arg(line));
            }
    }

    void agreesOnEveryPage(
        const std::string& situation, void (FiguresAgree::*how)(Page&) = &FiguresAgree::agrees)
    {
        SCOPED_TRACE(situation);
        settle();
        printHere();
        for (Page* each : driver().view().pages())
            (this->*how)(driver().shown<Page>(each->id().toUtf8().constData()));
        EXPECT_EQ(m_wrong.mid(0, 12).join(QLatin1Char('\n')).toStdString(), "") << m_wrong.size();
        m_wrong.clear();
    }

    int m_texts = 0, m_details = 0;
    std::int64_t m_rows = 0;
    QStringList m_wrong;

private:
    std::map<const QAbstractItemView*, std::vector<const Json*>> m_lists; // what tables are
    std::optional<Printed> m_moments, m_here, m_anywhere; // printed of the events that are chosen, of what is
                                                          // chosen, and of the whole
    model::EventIndex m_at = -1; // the instant of what is chosen
};

TEST_P(FiguresAgree, AsOpened)
{
    agreesOnEveryPage("as opened");
    std::printf("%d texts, %d rows of tables\n", m_texts, static_cast<int>(m_rows));
    EXPECT_GT(m_texts, 100);
}

TEST_P(FiguresAgree, InEveryWay)
{
    select(trace().eventCount() / 3);
    agreesOnEveryPage("in every way", &FiguresAgree::agreesInAllItsWays);
}

TEST_P(FiguresAgree, OfInstantsAndRanges)
{
    for (const model::EventIndex event : instants()) {
        select(event);
        agreesOnEveryPage("at " + std::to_string(event));
    }
    agreesOnEveryPage("details", &FiguresAgree::agreesInDetails);
    EXPECT_GT(m_details, 0);
    const model::EventIndex last = trace().eventCount() - 1;
    for (const EventRange& range : { EventRange{ last / 4, last / 2 }, EventRange{ 0, last } }) {
        driver().state().select(range);
        agreesOnEveryPage("from " + std::to_string(range.first));
    }
}

TEST_P(FiguresAgree, UnderFilters)
{
    const model::EventIndex peak = trace().totals().requestedPeakEvent;
    std::vector<model::BlockFilter> filters(4);
    filters[0].maxBytes = 1 << 20;
    filters[0].text = "e";
    const auto largest = [&](const char* by) {
        const Json& told
            = ask("at", QStringLiteral("%1 --by %2 ").arg(peak).arg(QLatin1String(by)) + ofDevice()).head();
        return told["groups"].empty() ? std::string("none") : told["groups"][0]["key"].get<std::string>();
    };
    filters[1].category = largest("category");
    filters[2].line = largest("line");
    filters[3].module = largest("module");
    select(peak);
    for (const model::BlockFilter& filter : filters) {
        driver().state().setFilter(filter);
        agreesOnEveryPage("under a filter");
    }
}

TEST_P(FiguresAgree, InEveryGrouping)
{
    select(trace().totals().requestedPeakEvent);
    for (const char* by : { "site", "stream", "pool", "size", "category", "module" }) {
        driver().state().setGrouping(*model::groupingFromName(by));
        agreesOnEveryPage(by);
    }
}

TEST_P(FiguresAgree, OfOtherDevicesAndNotes)
{
    QSignalSpy kept(&driver().document(), &Document::userKept);
    const model::EventIndex last = trace().eventCount() - 1;
    model::UserData user = driver().state().user(); // what the recording came with stays
    user.set({ model::UserItem::Kind::Note, 1, 1, trace().device(), last, last, 0, "the \"end\"", {} });
    user.set({ model::UserItem::Kind::Range, 2, 1, trace().device(), last / 2, last, 0, "second half", {} });
    user.set({ model::UserItem::Kind::Filter, 3, 1, 0, -1, -1, 0, "big", R"({"min_bytes":1048576})" });
    user.setRules(R"({"rules": [{"category": "input", "min_bytes": 4096, "max_bytes": "1MiB"},
        {"category": "communication", "min_bytes": "1MiB"}, {"category": "workspace", "frame": "never"}]})",
        1);
    driver().state().setUser(user);
    ASSERT_TRUE(test::eventually([&] { return !kept.isEmpty(); }));
    for (const Json& device : ask("summary", {}).head()["devices"]) {
        driver().state().setDevice(device["device"]);
        agreesOnEveryPage("device " + device["device"].dump());
    }
}

TEST_P(FiguresAgree, WhatIf)
{
    auto& page = driver().shown<WhatIfPage>("whatif");
    page.card<WhatIfBatchCard>().recorded().setValue(8);
    const std::int64_t half = trace().totals().reservedBytesPeak / 2 + 1;
    const auto change
        = [](const char* text) { return std::vector<model::Change>{ *model::Change::parse(text) }; };
    printHere();
    for (const model::Scenario& asked :
        { model::Scenario{ .changes = {}, .settings = "expandable_segments:True", .capacityBytes = {} },
            model::Scenario{ .changes = {}, .settings = {}, .capacityBytes = half },
            model::Scenario{ .changes = change("batch=x0.5"), .settings = {}, .capacityBytes = {} },
            model::Scenario{ .changes = change("batch=11"),
                             .settings = "max_split_size_mb:64",
                             .capacityBytes = std::int64_t{ 12 } << 30 } }) {
        page.setScenario(asked);
        for (const auto below :
            { WhatIfPage::Peaks, WhatIfPage::Cards, WhatIfPage::Blocks, WhatIfPage::Alternatives }) {
            page.setBelow(below);
            agrees(page);
        }
    }
    page.setBelow(WhatIfPage::Plan);
    for (const PlanGoal goal : { PlanGoal::LargestBatch, PlanGoal::Cheapest }) {
        page.planPanel().setGoal(goal);
        page.planPanel().plan();
        agrees(page);
    }
    EXPECT_EQ(m_wrong.mid(0, 12).join(QLatin1Char('\n')).toStdString(), "") << m_wrong.size();
}

/// Ours, one that leaks, one of which nobody knows where, and one whose segments pile up; of others, too,
/// where they lie beside the repository.
std::vector<std::string> recordings()
{
    static const QTemporaryDir folder;
    std::vector<std::string> files = test::ourRecordings();
    files.push_back(test::writeTrainingRun(folder.filePath(QStringLiteral("leaks.strata")).toStdString()));
    const auto add = [&](const char* name, std::unique_ptr<model::Recording> run) {
        files.push_back(folder.filePath(QLatin1String(name)).toStdString());
        if (!model::saveSession(*run, files.back()))
            throw std::runtime_error("cannot write " + files.back());
    };
    add("leaks_nowhere.strata", test::withoutStacks(test::trainingRun(30, 4'000)));
    add("reserves.strata", test::trainingRun(30, 0, true));
    constexpr std::uintmax_t kMostBytes = 2'000'000;
    if (std::error_code error; std::getenv("STRATA_ALL_RECORDINGS"))
        for (const auto& entry :
            std::filesystem::recursive_directory_iterator(STRATA_SHARED "/realdata", error))
            if (const auto kind = entry.path().extension();
                (kind == ".pickle" || kind == ".gz") && entry.file_size() <= kMostBytes)
                files.push_back(entry.path());
    return files;
}

INSTANTIATE_TEST_SUITE_P(Recordings, FiguresAgree, testing::ValuesIn(recordings()), test::recordingName);

} // namespace
