// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/work_tables_source.h"

#include "views/models/table_cells.h"
#include "views/style/texts.h"
#include "views/widgets/timeline/roofline_table.h"

#include <algorithm>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(WorkTable)
};

const QString kTime = QStringLiteral("888.8 ms");
const QString kCalls = QStringLiteral("888,888");
const QString kName = QStringLiteral("void cutlass::Kernel2<cut>");

TableCell timeCell(std::int64_t ns)
{
    return { text::duration(ns), {} };
}

class WaitsTable final : public WorkTable {
public:
    explicit WaitsTable(std::shared_ptr<const WorkFigures> figures)
        : WorkTable(
            { { { Words::tr("Share"),
                    Words::tr("Between its work: of the time from the device's first to its last one; else "
                              "of the steps or the range"),
                    QStringLiteral("< 88.8 %"), true },
                  "share" },
                { { Words::tr("Idle"), Words::tr("Added up"), kTime, true }, "ns" },
                { { Words::tr("Where"),
                      Words::tr(
                          "Between two pieces of its work, or before the first and behind the last one"),
                      QStringLiteral("before, behind"), false },
                    "where" },
                { { Words::tr("While"), Words::tr("What the thread that launches next does meanwhile"),
                      QStringLiteral("the program asks the driver for memory or gives"), false },
                    "cause" },
                { { Words::tr("Longest"), Words::tr("The longest stretch: Enter shows it"), kTime, true },
                    "longest_ns" },
                { { Words::tr("In"), Words::tr("What fills at least half of the longest stretch"),
                      QStringLiteral("aten::copy_"), false, {}, true },
                    "doing" } },
            std::move(figures))
    {
        const model::WaitTimes& waits = this->figures().report.waits;
        for (const bool isAround : { false, true })
            for (std::size_t cause = 0; cause < model::kWaitCauses; ++cause)
                if ((isAround ? waits.around : waits.within)[cause].ns > 0)
                    m_rows.push_back({ static_cast<model::WaitCause>(cause), isAround });
        std::ranges::stable_sort(m_rows, std::greater<>(), [&](const Row& row) { return timeOf(row).ns; });
    }
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_rows.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t number, int column) const override
    {
        const Row& row = m_rows[number];
        const model::WaitTimes& waits = figures().report.waits;
        switch (column) {
        case Share:
            return { text::share(timeOf(row).ns, (row.isAround ? waits.range : waits.span).ns()), {} };
        case Idle:
            return timeCell(timeOf(row).ns);
        case Where:
            return { row.isAround ? Words::tr("before, behind") : Words::tr("between"), {} };
        case While:
            return { text::said(model::waitCauseText(row.cause)), {} };
        case Longest:
            return timeCell(timeOf(row).longestNs);
        default:
            return noteCell(doing(row).empty() ? QStringLiteral("–") : text::shortened(doing(row), 200));
        }
    }
    [[nodiscard]] QString tooltip(std::uint32_t row, int) const override
    {
        return Words::tr("What would help: %1").arg(text::said(model::waitRemedy(m_rows[row].cause)));
    }
    [[nodiscard]] std::optional<std::int64_t> exampleNs(std::uint32_t row) const override
    {
        return timeOf(m_rows[row]).exampleNs;
    }
    [[nodiscard]] std::int64_t longestNs(std::uint32_t row) const override
    {
        return timeOf(m_rows[row]).longestNs;
    }

private:
    enum Place { Share, Idle, Where, While, Longest, In };
    struct Row {
        model::WaitCause cause;
        bool isAround;
    };
    [[nodiscard]] const model::WaitTime& timeOf(const Row& row) const
    {
        const model::WaitTimes& waits = figures().report.waits;
        return (row.isAround ? waits.around : waits.within)[static_cast<std::size_t>(row.cause)];
    }
    [[nodiscard]] std::string_view doing(const Row& row) const
    {
        const model::StringId name = timeOf(row).doing;
        return name.valid() ? figures().lanes->strings()[name] : std::string_view();
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override
    {
        return column == Longest                ? std::optional(timeOf(m_rows[row]).longestNs)
            : column == Share || column == Idle ? std::optional(timeOf(m_rows[row]).ns)
                                                : std::nullopt;
    }
    [[nodiscard]] std::string text(std::uint32_t number, int column) const override
    {
        const Row& row = m_rows[number];
        return column == Where ? (row.isAround ? "around" : "within")
            : column == While  ? std::string(model::waitCauseWord(row.cause))
                               : std::string(doing(row));
    }

    std::vector<Row> m_rows;
};

/// Of figures and a name: all others.
template <class Sums> class SumsTable final : public WorkTable {
public:
    struct Figure {
        Column column;
        std::int64_t Sums::*of;
        bool isTime = true;
        std::int64_t Sums::*by = nullptr; ///< what it is divided by
    };
    SumsTable(std::shared_ptr<const WorkFigures> all, const std::vector<Sums>& rows,
        std::vector<Figure> figures, const QString& title)
        : WorkTable(columnsOf(figures, title), std::move(all))
        , m_rows(rows)
        , m_shown(std::move(figures))
    {
    }
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_rows.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override
    {
        if (static_cast<std::size_t>(column) == m_shown.size())
            return { text::shortened(nameText(row), 400), {} };
        const Figure& shown = m_shown[static_cast<std::size_t>(column)];
        const std::int64_t value = valueOf(row, shown);
        if (shown.isTime)
            return timeCell(value);
        if (shown.column.shown.unit.isEmpty())
            return { text::count(value), {} };
        return value < 0 ? noteCell(QStringLiteral("–")) : bytesCell(value);
    }
    [[nodiscard]] std::optional<model::StringId> nameOf(std::uint32_t row) const override
    {
        return m_rows[row].name;
    }

private:
    static std::vector<Column> columnsOf(const std::vector<Figure>& figures, const QString& title)
    {
        std::vector<Column> columns;
        for (const Figure& each : figures)
            columns.push_back(each.column);
        columns.push_back({ { title, {}, kName, false, {}, true }, "name" });
        return columns;
    }
    [[nodiscard]] std::int64_t valueOf(std::uint32_t row, const Figure& shown) const
    {
        const Sums& sums = m_rows[row];
        return shown.by ? sums.*shown.of / std::max<std::int64_t>(sums.*shown.by, 1) : sums.*shown.of;
    }
    [[nodiscard]] std::string_view nameText(std::uint32_t row) const
    {
        return figures().lanes->strings()[m_rows[row].name];
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override
    {
        return static_cast<std::size_t>(column) < m_shown.size()
            ? std::optional(valueOf(row, m_shown[static_cast<std::size_t>(column)]))
            : std::nullopt;
    }
    [[nodiscard]] std::string text(std::uint32_t row, int) const override
    {
        return std::string(nameText(row));
    }

    const std::vector<Sums>& m_rows; // of the figures
    std::vector<Figure> m_shown;
};

} // namespace

std::shared_ptr<const WorkTable> WorkTable::of(Kind kind, std::shared_ptr<const WorkFigures> figures)
{
    using Operators = SumsTable<model::OperatorSums>;
    using Kernels = SumsTable<model::KernelSums>;
    using Copies = SumsTable<model::CopySums>;
    const model::WorkTables& tables = figures->report.tables;
    const auto time = [](const QString& title, const QString& tip, const char* name) {
        return PlainTable::Column{ { title, tip, kTime, true }, name };
    };
    const PlainTable::Column calls{ { Words::tr("Calls"), {}, kCalls, true }, "calls" };
    switch (kind) {
    case Kind::Waits:
        return std::make_shared<const WaitsTable>(std::move(figures));
    case Kind::Operators:
        return std::make_shared<const Operators>(figures, tables.operators,
            std::vector<Operators::Figure>{
                { time(Words::tr("Self"), Words::tr("On its thread, less what it calls"), "self_ns"),
                    &model::OperatorSums::selfNs },
                { time(Words::tr("Total"), Words::tr("On its thread, with what it calls"), "total_ns"),
                    &model::OperatorSums::totalNs },
                { time(Words::tr("GPU self"), Words::tr("Of what it launched itself"), "gpu_self_ns"),
                    &model::OperatorSums::deviceSelfNs },
                { time(Words::tr("GPU total"), Words::tr("Of what it and what it calls launched"),
                      "gpu_total_ns"),
                    &model::OperatorSums::deviceTotalNs },
                { calls, &model::OperatorSums::calls, false } },
            Words::tr("Operator"));
    case Kind::Kernels:
    case Kind::Calls:
        return std::make_shared<const Kernels>(figures, kind == Kind::Calls ? tables.calls : tables.kernels,
            std::vector<Kernels::Figure>{
                { time(Words::tr("Total"), {}, "total_ns"), &model::KernelSums::totalNs },
                { time(Words::tr("Mean"), {}, "mean_ns"), &model::KernelSums::totalNs, true,
                    &model::KernelSums::calls },
                { calls, &model::KernelSums::calls, false } },
            kind == Kind::Calls ? Words::tr("Call") : Words::tr("Kernel"));
    case Kind::Roofline:
        return makeRooflineTable(std::move(figures));
    case Kind::Copies:
        break;
    }
    return std::make_shared<const Copies>(figures, tables.copies,
        std::vector<Copies::Figure>{ { time(Words::tr("Total"), {}, "total_ns"), &model::CopySums::totalNs },
            { { { Words::tr("Bytes"), Words::tr("Where all calls tell it"), QStringLiteral("1,023"), true,
                    QStringLiteral("MiB") },
                  "bytes" },
                &model::CopySums::bytes, false },
            { calls, &model::CopySums::calls, false } },
        Words::tr("Copy or set"));
}

} // namespace strata::views
