// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/work_tables_source.h"

#include "model/analysis/work/work_table_fields.h"
#include "model/base/field_value.h"
#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"
#include "views/widgets/timeline/roofline_table.h"
#include "views/widgets/timeline/roofline_words.h"
#include "views/widgets/timeline/work_steps_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace strata::views {

namespace {

struct WorkTableTexts {
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
            { { { WorkTableTexts::tr("Share"),
                    WorkTableTexts::tr("Of the steps or the range, as the verdict above says"),
                    QStringLiteral("< 88.8 %"), true },
                  "share" },
                { { WorkTableTexts::tr("Idle"), WorkTableTexts::tr("Added up"), kTime, true }, "ns" },
                { { WorkTableTexts::tr("Before, Behind"),
                      WorkTableTexts::tr("Of that before the first or behind the last work of the GPU"),
                      kTime, true },
                    "around_ns" },
                { { WorkTableTexts::tr("While"),
                      WorkTableTexts::tr("What the thread that launches next does meanwhile"),
                      QStringLiteral("the program asks the driver for memory or gives it back"), false },
                    "cause" },
                { { WorkTableTexts::tr("Longest"), WorkTableTexts::tr("The longest stretch: Enter shows it"),
                      kTime, true },
                    "longest_ns" },
                { { WorkTableTexts::tr("Foremost"),
                      WorkTableTexts::tr("Of the idle time, in or behind what stands in the last column"),
                      kTime, true },
                    "most_ns" },
                { { WorkTableTexts::tr("Stretches"), WorkTableTexts::tr("So many make that up"), kCalls,
                      true },
                    "most_stretches" },
                { { WorkTableTexts::tr("In"),
                      WorkTableTexts::tr(
                          "The operator, call or annotation that holds most of the idle time; behind it "
                          "where the program has waited for the GPU"),
                      QStringLiteral("aten::copy_"), false, {}, true },
                    "most" } },
            std::move(figures))
    {
        const model::WaitSums& sums = this->figures().report.waits.all;
        for (std::size_t cause = 0; cause < model::kWaitCauses; ++cause)
            if (sums[cause].ns > 0)
                m_rows.push_back(static_cast<model::WaitCause>(cause));
        std::ranges::stable_sort(
            m_rows, std::greater<>(), [&](model::WaitCause cause) { return timeOf(cause).ns; });
    }
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_rows.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override
    {
        if (const auto value = figure(row, column); column == Share && value)
            return { text::share(*value, figures().report.waits.range.ns()), {} };
        else if (column == Stretches && value)
            return { text::count(*value), {} };
        else if (value)
            return timeCell(*value);
        if (column == While)
            return { text::said(model::waitCauseText(m_rows[row])), {} };
        if (column == In && !place(row).empty())
            return { text::shortened(place(row), 200), {} };
        return noteCell(QStringLiteral("–"));
    }
    [[nodiscard]] QString tooltip(std::uint32_t row, int) const override
    {
        return WorkTableTexts::tr("What would help: %1")
            .arg(text::said(model::waitRemedy(
                m_rows[row], timeOf(m_rows[row]), place(row), figures().report.waits.tellsOperators)));
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
    enum Place { Share, Idle, Around, While, Longest, Most, Stretches, In };
    [[nodiscard]] const model::WaitTime& timeOf(model::WaitCause cause) const
    {
        return figures().report.waits.all[static_cast<std::size_t>(cause)];
    }
    [[nodiscard]] std::string_view place(std::uint32_t row) const
    {
        const model::StringId name = timeOf(m_rows[row]).most.name;
        return name.valid() ? figures().lanes->strings()[name] : std::string_view();
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override
    {
        const model::WaitTime& wait = timeOf(m_rows[row]);
        switch (column) {
        case Share:
        case Idle:
            return wait.ns;
        case Around:
            return figures().report.waits.around[static_cast<std::size_t>(m_rows[row])].ns;
        case Longest:
            return wait.longestNs;
        case Most:
            return wait.most.name.valid() ? std::optional(wait.most.ns) : std::nullopt;
        case Stretches:
            return wait.most.name.valid() ? std::optional(wait.most.stretches) : std::nullopt;
        default:
            return std::nullopt;
        }
    }
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override
    {
        return column == While ? std::string(model::waitCauseWord(m_rows[row])) : std::string(place(row));
    }

    std::vector<model::WaitCause> m_rows;
};

/// How a field reads in a cell.
enum class Reads : std::uint8_t { Time, Count, Bytes, ByteRate, Percent, Share, Text };

struct FieldColumn {
    PlainTable::Column column; ///< its name is the key of a field
    Reads reads = Reads::Time;
};

/// The fields of sums, as `strata timeline --json` prints them: all tables but that of idle time.
template <class Sums> class SumsTable final : public WorkTable {
public:
    SumsTable(std::shared_ptr<const WorkFigures> all, const std::vector<Sums>& rows,
        const std::vector<FieldColumn>& columns)
        : WorkTable(plainColumns(columns), std::move(all))
        , m_rows(rows)
        , m_columns(columns)
    {
    }
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_rows.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override
    {
        const model::FieldValue held = value(row, column);
        if (held.text.empty() && !held.figure)
            return noteCell(QStringLiteral("–"));
        switch (reads(column)) {
        case Reads::Text:
            return { text::shortened(held.text, 400), {} };
        case Reads::Share:
            return { QStringLiteral("%1 %").arg(100 * std::strtod(held.text.c_str(), nullptr), 0, 'f', 1),
                {} };
        case Reads::Time:
            return timeCell(*held.figure);
        case Reads::Bytes:
            return bytesCell(*held.figure);
        case Reads::ByteRate:
            return { text::byteRate(static_cast<double>(*held.figure)), {} };
        case Reads::Percent:
            return { QStringLiteral("%1 %").arg(*held.figure), {} };
        case Reads::Count:
            break;
        }
        return { text::count(*held.figure), {} };
    }
    [[nodiscard]] std::optional<model::StringId> nameOf(std::uint32_t row) const override
    {
        return m_rows[row].name;
    }

private:
    static std::vector<Column> plainColumns(const std::vector<FieldColumn>& columns)
    {
        std::vector<Column> plain;
        for (const FieldColumn& each : columns)
            plain.push_back(each.column);
        return plain;
    }
    [[nodiscard]] Reads reads(int column) const { return m_columns[static_cast<std::size_t>(column)].reads; }
    [[nodiscard]] model::FieldValue value(std::uint32_t row, int column) const
    {
        return model::fieldValue(
            m_columns[static_cast<std::size_t>(column)].column.name, m_rows[row], figures().lanes->strings());
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override
    {
        const bool isFigure = reads(column) != Reads::Text && reads(column) != Reads::Share;
        return isFigure ? value(row, column).figure : std::nullopt;
    }
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override
    {
        return value(row, column).text;
    }

    const std::vector<Sums>& m_rows; // of the figures
    std::vector<FieldColumn> m_columns;
};

using Columns = std::vector<FieldColumn>;

FieldColumn time(const QString& title, const QString& tip, const char* key)
{
    return { { { title, tip, kTime, true }, key }, Reads::Time };
}

FieldColumn bytes(const QString& title, const QString& tip, const char* key)
{
    return { { { title, tip, QStringLiteral("1,023"), true, QStringLiteral("MiB") }, key }, Reads::Bytes };
}

FieldColumn bandwidth(const QString& tip)
{
    return { { { WorkTableTexts::tr("Bandwidth"), tip, QStringLiteral("88.88 GB/s"), true },
                 "bytes_per_second" },
        Reads::ByteRate };
}

FieldColumn words(const QString& title, const QString& tip, const char* sample, const char* key)
{
    return { { { title, tip, QString::fromLatin1(sample), true }, key }, Reads::Text };
}

/// The last of all columns, if nothing stands behind it.
FieldColumn name(const QString& title, bool isLast = true)
{
    return { { { title, {}, kName, false, {}, isLast }, "name" }, Reads::Text };
}

FieldColumn calls()
{
    return { { { WorkTableTexts::tr("Calls"), {}, kCalls, true }, "calls" }, Reads::Count };
}

FieldColumn total()
{
    return time(WorkTableTexts::tr("Total"), {}, "total_ns");
}

FieldColumn mean()
{
    return time(WorkTableTexts::tr("Mean"), {}, "mean_ns");
}

Columns operatorColumns(const QString& what, model::OperatorsBy by)
{
    const bool areApart = by == model::OperatorsBy::NameAndShapes;
    Columns all{ time(WorkTableTexts::tr("Self"), WorkTableTexts::tr("On its thread, less what it calls"),
                     "self_ns"),
        time(
            WorkTableTexts::tr("Total"), WorkTableTexts::tr("On its thread, with what it calls"), "total_ns"),
        time(WorkTableTexts::tr("GPU self"), WorkTableTexts::tr("Of what it launched itself"), "gpu_self_ns"),
        time(WorkTableTexts::tr("GPU total"), WorkTableTexts::tr("Of what it and what it calls launched"),
            "gpu_total_ns"),
        calls(),
        bytes(WorkTableTexts::tr("Bytes self"),
            WorkTableTexts::tr("Of the GPU: allocated less freed, without what it calls"), "gpu_self_bytes"),
        bytes(WorkTableTexts::tr("Bytes total"),
            WorkTableTexts::tr("Of the GPU: allocated less freed, with what it calls"), "gpu_total_bytes"),
        bytes(WorkTableTexts::tr("Bytes peak"),
            WorkTableTexts::tr("Of the GPU: the most above its begin, within one call"), "gpu_peak_bytes"),
        name(what, !areApart) };
    if (areApart)
        all.push_back({ { { WorkTableTexts::tr("Shapes"), WorkTableTexts::tr("Of its inputs"),
                              QStringLiteral("[4096,4096] [4096,4096]"), false, {}, true },
                            "shapes" },
            Reads::Text });
    return all;
}

Columns kernelColumns()
{
    return { total(), mean(), calls(),
        { { { WorkTableTexts::tr("Occupancy"),
                WorkTableTexts::tr("As the profiler estimates it: the mean of its calls"),
                QStringLiteral("100 %"), true },
              "occupancy_percent" },
            Reads::Percent },
        words(WorkTableTexts::tr("Grid"), WorkTableTexts::tr("Blocks of its commonest launch"), "8888x88x8",
            "grid"),
        words(WorkTableTexts::tr("Block"), WorkTableTexts::tr("Threads of a block of its commonest launch"),
            "8888x88x8", "block"),
        name(WorkTableTexts::tr("Kernel")) };
}

Columns copyColumns()
{
    return { total(),
        bytes(WorkTableTexts::tr("Bytes"), WorkTableTexts::tr("Where all calls tell it"), "bytes"), calls(),
        bandwidth(WorkTableTexts::tr("Bytes by the time that they took")),
        time(WorkTableTexts::tr("Under kernels"),
            WorkTableTexts::tr("While kernels computed on other streams of the GPU"), "under_computation_ns"),
        words(WorkTableTexts::tr("Host memory"),
            WorkTableTexts::tr("From pageable memory a copy waits, and is slower"), "pageable",
            "host_memory"),
        name(WorkTableTexts::tr("Copy or set")) };
}

Columns collectiveColumns()
{
    return { total(), mean(), calls(),
        bytes(WorkTableTexts::tr("Bytes"),
            WorkTableTexts::tr("The larger of what the rank gives and gets, where all calls tell it"),
            "bytes"),
        bandwidth(WorkTableTexts::tr("Bytes by the time that they took, waiting for other ranks included")),
        time(WorkTableTexts::tr("Under kernels"), WorkTableTexts::tr("While kernels computed on the GPU"),
            "under_computation_ns"),
        time(WorkTableTexts::tr("Alone"), WorkTableTexts::tr("While no kernel computed on the GPU"),
            "exposed_ns"),
        name(WorkTableTexts::tr("Collective")) };
}

Columns loadingColumns()
{
    return { total(), mean(), calls(),
        { { { WorkTableTexts::tr("Of steps"), WorkTableTexts::tr("Of the time of all steps"),
                QStringLiteral("88.8 %"), true },
              "share_of_steps" },
            Reads::Share },
        name(WorkTableTexts::tr("Wait")) };
}

} // namespace

std::shared_ptr<const WorkTable> WorkTable::of(Kind kind, std::shared_ptr<const WorkFigures> figures)
{
    const model::WorkTables& tables = figures->report.tables;
    const auto make = [&]<class Sums>(const std::vector<Sums>& rows, const Columns& columns) {
        return std::make_shared<const SumsTable<Sums>>(figures, rows, columns);
    };
    switch (kind) {
    case Kind::Waits:
        return std::make_shared<const WaitsTable>(std::move(figures));
    case Kind::Operators:
        return make(tables.operators, operatorColumns(WorkTableTexts::tr("Operator"), figures->by));
    case Kind::Annotations:
        return make(
            tables.annotations, operatorColumns(WorkTableTexts::tr("Annotation"), model::OperatorsBy::Name));
    case Kind::Kernels:
        return make(tables.kernels, kernelColumns());
    case Kind::Calls:
    case Kind::Synchronisations:
        return make(kind == Kind::Calls ? tables.calls : tables.synchronisations,
            { total(), mean(), calls(), name(WorkTableTexts::tr("Call")) });
    case Kind::Collectives:
        return make(tables.collectives, collectiveColumns());
    case Kind::Loading:
        return make(tables.loading, loadingColumns());
    case Kind::Steps:
        return makeWorkStepsTable(std::move(figures));
    case Kind::Roofline:
        return makeRooflineTable(std::move(figures));
    case Kind::Copies:
        break;
    }
    return make(tables.copies, copyColumns());
}

} // namespace strata::views
