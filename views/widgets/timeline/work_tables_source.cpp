// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/work_tables_source.h"

#include "model/analysis/work/costs/operator_inputs.h"
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
            .arg(text::said(
                model::waitRemedy(m_rows[row], timeOf(m_rows[row]), figures().report.waits.tellsOperators)));
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

/// How a figure of a table reads.
enum class Reads : std::uint8_t { Time, Count, Bytes, ByteRate, Percent, Text };

/// Of figures and texts, the name among them: all others.
template <class Sums> class SumsTable final : public WorkTable {
public:
    using WorkTable::Column;
    struct Figure {
        Column column;
        Reads reads;
        std::function<std::optional<std::int64_t>(const Sums&)> of; ///< nothing: it cannot be told
        std::function<std::string(const Sums&)> text = {}; ///< of Reads::Text alone
    };
    SumsTable(
        std::shared_ptr<const WorkFigures> all, const std::vector<Sums>& rows, std::vector<Figure> figures)
        : WorkTable(columnsOf(figures), std::move(all))
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
        const Figure& shown = m_shown[static_cast<std::size_t>(column)];
        if (shown.reads == Reads::Text)
            if (const std::string told = shown.text(m_rows[row]); !told.empty())
                return { text::shortened(told, 400), {} };
        const auto value = figure(row, column);
        if (!value)
            return noteCell(QStringLiteral("–"));
        switch (shown.reads) {
        case Reads::Time:
            return timeCell(*value);
        case Reads::Bytes:
            return bytesCell(*value);
        case Reads::ByteRate:
            return { text::byteRate(static_cast<double>(*value)), {} };
        case Reads::Percent:
            return { QStringLiteral("%1 %").arg(*value), {} };
        case Reads::Count:
        case Reads::Text:
            break;
        }
        return { text::count(*value), {} };
    }
    [[nodiscard]] std::optional<model::StringId> nameOf(std::uint32_t row) const override
    {
        return m_rows[row].name;
    }

private:
    static std::vector<Column> columnsOf(const std::vector<Figure>& figures)
    {
        std::vector<Column> columns;
        for (const Figure& each : figures)
            columns.push_back(each.column);
        return columns;
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override
    {
        const Figure& shown = m_shown[static_cast<std::size_t>(column)];
        return shown.of ? shown.of(m_rows[row]) : std::nullopt;
    }
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override
    {
        const Figure& shown = m_shown[static_cast<std::size_t>(column)];
        return shown.text ? shown.text(m_rows[row]) : std::string();
    }

    const std::vector<Sums>& m_rows; // of the figures
    std::vector<Figure> m_shown;
};

template <class Sums> using Figures = std::vector<typename SumsTable<Sums>::Figure>;

using Column = SumsTable<model::CallSums>::Column;

Column column(const QString& title, const QString& tip, const QString& sample, const char* name)
{
    return { { title, tip, sample, true }, name };
}

Column bytesColumn(const QString& title, const QString& tip, const char* name)
{
    return { { title, tip, QStringLiteral("1,023"), true, QStringLiteral("MiB") }, name };
}

/// Total and calls, and the mean, of any.
template <class Sums> typename SumsTable<Sums>::Figure totalOf()
{
    return { column(WorkTableTexts::tr("Total"), {}, kTime, "total_ns"), Reads::Time,
        [](const Sums& row) { return std::optional(row.totalNs); } };
}
template <class Sums> typename SumsTable<Sums>::Figure meanOf()
{
    return { column(WorkTableTexts::tr("Mean"), {}, kTime, "mean_ns"), Reads::Time,
        [](const Sums& row) { return std::optional(row.meanNs()); } };
}
template <class Sums> typename SumsTable<Sums>::Figure callsOf()
{
    return { column(WorkTableTexts::tr("Calls"), {}, kCalls, "calls"), Reads::Count,
        [](const Sums& row) { return std::optional(row.calls); } };
}

std::optional<std::int64_t> rounded(const std::optional<double>& number)
{
    return number ? std::optional(std::llround(std::clamp(*number, 0.0, 9e18))) : std::nullopt;
}

/// Of what moves data.
template <class Sums> typename SumsTable<Sums>::Figure bytesOf(const QString& tip)
{
    return { bytesColumn(WorkTableTexts::tr("Bytes"), tip, "bytes"), Reads::Bytes,
        [](const Sums& row) { return row.bytes < 0 ? std::nullopt : std::optional(row.bytes); } };
}
template <class Sums> typename SumsTable<Sums>::Figure bandwidthOf(const QString& tip)
{
    return { column(WorkTableTexts::tr("Bandwidth"), tip, QStringLiteral("88.88 GB/s"), "bytes_per_second"),
        Reads::ByteRate, [](const Sums& row) { return rounded(row.bytesPerSecond()); } };
}

/// The last of all columns, if nothing stands behind it.
template <class Sums>
typename SumsTable<Sums>::Figure nameText(
    const QString& title, const model::StringTable& strings, bool isLast = true)
{
    return { { { title, {}, kName, false, {}, isLast }, "name" }, Reads::Text, {},
        [&strings](const Sums& row) { return std::string(strings[row.name]); } };
}

SumsTable<model::OperatorSums>::Figure shapesOf(const model::StringTable& strings)
{
    return { { { WorkTableTexts::tr("Shapes"), WorkTableTexts::tr("Of its inputs"),
                   QStringLiteral("[4096,4096] [4096,4096]"), false, {}, true },
                 "shapes" },
        Reads::Text, {}, [&strings](const model::OperatorSums& row) {
            return row.shapes.valid() ? model::shapesText(strings[row.shapes]) : std::string();
        } };
}

Figures<model::OperatorSums> operatorFigures(
    const QString& what, const model::StringTable& strings, model::OperatorsBy by)
{
    using Row = model::OperatorSums;
    const auto time = [](const QString& title, const QString& tip, const char* name, std::int64_t Row::*of) {
        return SumsTable<Row>::Figure{ column(title, tip, kTime, name), Reads::Time,
            [of](const Row& row) { return std::optional(row.*of); } };
    };
    const auto bytes = [](const QString& title, const QString& tip, const char* name,
                           std::int64_t model::OperatorMemory::*of) {
        return SumsTable<Row>::Figure{ bytesColumn(title, tip, name), Reads::Bytes,
            [of](const Row& row) { return row.memory ? std::optional((*row.memory).*of) : std::nullopt; } };
    };
    const bool areApart = by == model::OperatorsBy::NameAndShapes;
    Figures<Row> all{ time(WorkTableTexts::tr("Self"),
                          WorkTableTexts::tr("On its thread, less what it calls"), "self_ns", &Row::selfNs),
        time(WorkTableTexts::tr("Total"), WorkTableTexts::tr("On its thread, with what it calls"), "total_ns",
            &Row::totalNs),
        time(WorkTableTexts::tr("GPU self"), WorkTableTexts::tr("Of what it launched itself"), "gpu_self_ns",
            &Row::deviceSelfNs),
        time(WorkTableTexts::tr("GPU total"), WorkTableTexts::tr("Of what it and what it calls launched"),
            "gpu_total_ns", &Row::deviceTotalNs),
        callsOf<Row>(),
        bytes(WorkTableTexts::tr("Bytes self"),
            WorkTableTexts::tr("Of the GPU: allocated less freed, without what it calls"), "gpu_self_bytes",
            &model::OperatorMemory::selfBytes),
        bytes(WorkTableTexts::tr("Bytes total"),
            WorkTableTexts::tr("Of the GPU: allocated less freed, with what it calls"), "gpu_total_bytes",
            &model::OperatorMemory::totalBytes),
        bytes(WorkTableTexts::tr("Bytes peak"),
            WorkTableTexts::tr("Of the GPU: the most above its begin, within one call"), "gpu_peak_bytes",
            &model::OperatorMemory::peakBytes),
        nameText<Row>(what, strings, !areApart) };
    if (areApart)
        all.push_back(shapesOf(strings));
    return all;
}

std::string threeText(const std::array<std::int32_t, 3>& three)
{
    return std::to_string(three[0]) + "x" + std::to_string(three[1]) + "x" + std::to_string(three[2]);
}

Figures<model::KernelSums> kernelFigures()
{
    using Row = model::KernelSums;
    const auto launch = [](const QString& title, const QString& tip, const char* name,
                            std::array<std::int32_t, 3> model::KernelLaunch::*of) {
        return SumsTable<Row>::Figure{ column(title, tip, QStringLiteral("8888x88x8"), name), Reads::Text, {},
            [of](const Row& row) { return row.launch ? threeText((*row.launch).*of) : std::string(); } };
    };
    return { totalOf<Row>(), meanOf<Row>(), callsOf<Row>(),
        { column(WorkTableTexts::tr("Occupancy"),
              WorkTableTexts::tr("As the profiler estimates it: the mean of its calls"),
              QStringLiteral("100 %"), "occupancy_percent"),
            Reads::Percent, [](const Row& row) { return rounded(row.occupancyPercent); } },
        launch(WorkTableTexts::tr("Grid"), WorkTableTexts::tr("Blocks of its commonest launch"), "grid",
            &model::KernelLaunch::grid),
        launch(WorkTableTexts::tr("Block"), WorkTableTexts::tr("Threads of a block of its commonest launch"),
            "block", &model::KernelLaunch::block) };
}

Figures<model::CopySums> copyFigures()
{
    using Row = model::CopySums;
    return { totalOf<Row>(), bytesOf<Row>(WorkTableTexts::tr("Where all calls tell it")), callsOf<Row>(),
        bandwidthOf<Row>(WorkTableTexts::tr("Bytes by the time that they took")),
        { column(WorkTableTexts::tr("Under kernels"),
              WorkTableTexts::tr("While kernels computed on other streams of the GPU"), kTime,
              "under_computation_ns"),
            Reads::Time, [](const Row& row) { return std::optional(row.underComputationNs); } },
        { column(WorkTableTexts::tr("Host memory"),
              WorkTableTexts::tr("From pageable memory a copy waits, and is slower"),
              QStringLiteral("pageable"), "host_memory"),
            Reads::Text, {}, [](const Row& row) { return std::string(model::hostPagesWord(row.host)); } } };
}

Figures<model::CollectiveSums> collectiveFigures()
{
    using Row = model::CollectiveSums;
    return { totalOf<Row>(), meanOf<Row>(), callsOf<Row>(),
        bytesOf<Row>(
            WorkTableTexts::tr("The larger of what the rank gives and gets, where all calls tell it")),
        bandwidthOf<Row>(
            WorkTableTexts::tr("Bytes by the time that they took, waiting for other ranks included")),
        { column(WorkTableTexts::tr("Under kernels"), WorkTableTexts::tr("While kernels computed on the GPU"),
              kTime, "under_computation_ns"),
            Reads::Time, [](const Row& row) { return std::optional(row.underComputationNs); } },
        { column(WorkTableTexts::tr("Alone"), WorkTableTexts::tr("While no kernel computed on the GPU"),
              kTime, "exposed_ns"),
            Reads::Time, [](const Row& row) { return std::optional(row.exposedNs()); } } };
}

Figures<model::LoadingSums> loadingFigures()
{
    using Row = model::LoadingSums;
    return { totalOf<Row>(), meanOf<Row>(), callsOf<Row>(),
        { column(WorkTableTexts::tr("Of steps"), WorkTableTexts::tr("Of the time of all steps"),
              QStringLiteral("88.8 %"), "share_of_steps"),
            Reads::Text, {}, [](const Row& row) {
                return row.shareOfSteps
                    ? QStringLiteral("%1 %").arg(100 * *row.shareOfSteps, 0, 'f', 1).toStdString()
                    : std::string();
            } } };
}

} // namespace

std::shared_ptr<const WorkTable> WorkTable::of(Kind kind, std::shared_ptr<const WorkFigures> figures)
{
    const model::WorkTables& tables = figures->report.tables;
    const model::StringTable& strings = figures->lanes->strings();
    const auto make = [&]<class Sums>(const std::vector<Sums>& rows, Figures<Sums> shown) {
        return std::make_shared<const SumsTable<Sums>>(figures, rows, std::move(shown));
    };
    const auto named
        = [&]<class Sums>(const std::vector<Sums>& rows, Figures<Sums> shown, const QString& title) {
              shown.push_back(nameText<Sums>(title, strings));
              return make(rows, std::move(shown));
          };
    using Call = model::CallSums;
    switch (kind) {
    case Kind::Waits:
        return std::make_shared<const WaitsTable>(std::move(figures));
    case Kind::Operators:
        return make(tables.operators, operatorFigures(WorkTableTexts::tr("Operator"), strings, figures->by));
    case Kind::Annotations:
        return make(tables.annotations,
            operatorFigures(WorkTableTexts::tr("Annotation"), strings, model::OperatorsBy::Name));
    case Kind::Kernels:
        return named(tables.kernels, kernelFigures(), WorkTableTexts::tr("Kernel"));
    case Kind::Calls:
    case Kind::Synchronisations:
        return named(kind == Kind::Calls ? tables.calls : tables.synchronisations,
            { totalOf<Call>(), meanOf<Call>(), callsOf<Call>() }, WorkTableTexts::tr("Call"));
    case Kind::Collectives:
        return named(tables.collectives, collectiveFigures(), WorkTableTexts::tr("Collective"));
    case Kind::Loading:
        return named(tables.loading, loadingFigures(), WorkTableTexts::tr("Wait"));
    case Kind::Steps:
        return makeWorkStepsTable(std::move(figures));
    case Kind::Roofline:
        return makeRooflineTable(std::move(figures));
    case Kind::Copies:
        break;
    }
    return named(tables.copies, copyFigures(), WorkTableTexts::tr("Copy or set"));
}

} // namespace strata::views
