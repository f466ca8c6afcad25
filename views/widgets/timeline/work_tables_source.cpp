// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/work_tables_source.h"

#include "views/models/table_cells.h"
#include "views/style/texts.h"
#include "views/widgets/timeline/roofline_table.h"
#include "views/widgets/timeline/roofline_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

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

/// How a figure of a table reads.
enum class Reads : std::uint8_t { Time, Count, Bytes, ByteRate, Percent, Text };

/// Of figures and a name: all others.
template <class Sums> class SumsTable final : public WorkTable {
public:
    using WorkTable::Column;
    struct Figure {
        Column column;
        Reads reads;
        std::function<std::optional<std::int64_t>(const Sums&)> of; ///< nothing: it cannot be told
        std::function<std::string(const Sums&)> text = {}; ///< of Reads::Text alone
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
        if (shown.reads == Reads::Text)
            if (const std::string told = shown.text(m_rows[row]); !told.empty())
                return { QString::fromStdString(told), {} };
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
    static std::vector<Column> columnsOf(const std::vector<Figure>& figures, const QString& title)
    {
        std::vector<Column> columns;
        for (const Figure& each : figures)
            columns.push_back(each.column);
        columns.push_back({ { title, {}, kName, false, {}, true }, "name" });
        return columns;
    }
    [[nodiscard]] std::string_view nameText(std::uint32_t row) const
    {
        return figures().lanes->strings()[m_rows[row].name];
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override
    {
        if (static_cast<std::size_t>(column) == m_shown.size())
            return std::nullopt;
        const Figure& shown = m_shown[static_cast<std::size_t>(column)];
        return shown.of ? shown.of(m_rows[row]) : std::nullopt;
    }
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override
    {
        if (static_cast<std::size_t>(column) == m_shown.size())
            return std::string(nameText(row));
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
    return { column(Words::tr("Total"), {}, kTime, "total_ns"), Reads::Time,
        [](const Sums& row) { return std::optional(row.totalNs); } };
}
template <class Sums> typename SumsTable<Sums>::Figure meanOf()
{
    return { column(Words::tr("Mean"), {}, kTime, "mean_ns"), Reads::Time,
        [](const Sums& row) { return std::optional(row.totalNs / row.calls); } };
}
template <class Sums> typename SumsTable<Sums>::Figure callsOf()
{
    return { column(Words::tr("Calls"), {}, kCalls, "calls"), Reads::Count,
        [](const Sums& row) { return std::optional(row.calls); } };
}

std::optional<std::int64_t> rounded(const std::optional<double>& number)
{
    return number ? std::optional(std::llround(std::clamp(*number, 0.0, 9e18))) : std::nullopt;
}

Figures<model::OperatorSums> operatorFigures()
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
    return { time(Words::tr("Self"), Words::tr("On its thread, less what it calls"), "self_ns", &Row::selfNs),
        time(Words::tr("Total"), Words::tr("On its thread, with what it calls"), "total_ns", &Row::totalNs),
        time(Words::tr("GPU self"), Words::tr("Of what it launched itself"), "gpu_self_ns",
            &Row::deviceSelfNs),
        time(Words::tr("GPU total"), Words::tr("Of what it and what it calls launched"), "gpu_total_ns",
            &Row::deviceTotalNs),
        callsOf<Row>(),
        bytes(Words::tr("Bytes self"), Words::tr("Of the GPU: allocated less freed, without what it calls"),
            "gpu_self_bytes", &model::OperatorMemory::selfBytes),
        bytes(Words::tr("Bytes total"), Words::tr("Of the GPU: allocated less freed, with what it calls"),
            "gpu_total_bytes", &model::OperatorMemory::totalBytes),
        bytes(Words::tr("Bytes peak"), Words::tr("Of the GPU: the most above its begin, within one call"),
            "gpu_peak_bytes", &model::OperatorMemory::peakBytes) };
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
        { column(Words::tr("Occupancy"), Words::tr("As the profiler estimates it: the mean of its calls"),
              QStringLiteral("100 %"), "occupancy_percent"),
            Reads::Percent, [](const Row& row) { return rounded(row.occupancyPercent); } },
        launch(Words::tr("Grid"), Words::tr("Blocks of its commonest launch"), "grid",
            &model::KernelLaunch::grid),
        launch(Words::tr("Block"), Words::tr("Threads of a block of its commonest launch"), "block",
            &model::KernelLaunch::block) };
}

Figures<model::CopySums> copyFigures()
{
    using Row = model::CopySums;
    return { totalOf<Row>(),
        { bytesColumn(Words::tr("Bytes"), Words::tr("Where all calls tell it"), "bytes"), Reads::Bytes,
            [](const Row& row) { return row.bytes < 0 ? std::nullopt : std::optional(row.bytes); } },
        callsOf<Row>(),
        { column(Words::tr("Bandwidth"), Words::tr("Bytes by the time that they took"),
              QStringLiteral("88.88 GB/s"), "bytes_per_second"),
            Reads::ByteRate, [](const Row& row) { return rounded(row.bytesPerSecond()); } },
        { column(Words::tr("Under kernels"), Words::tr("While kernels computed on other streams of the GPU"),
              kTime, "under_computation_ns"),
            Reads::Time, [](const Row& row) { return std::optional(row.underComputationNs); } },
        { column(Words::tr("Host memory"), Words::tr("From pageable memory a copy waits, and is slower"),
              QStringLiteral("pageable"), "host_memory"),
            Reads::Text, {}, [](const Row& row) { return std::string(model::hostPagesWord(row.host)); } } };
}

Figures<model::CollectiveSums> collectiveFigures()
{
    using Row = model::CollectiveSums;
    return { totalOf<Row>(), meanOf<Row>(), callsOf<Row>(),
        { column(Words::tr("Under kernels"), Words::tr("While kernels computed on the GPU"), kTime,
              "under_computation_ns"),
            Reads::Time, [](const Row& row) { return std::optional(row.underComputationNs); } },
        { column(Words::tr("Alone"), Words::tr("While no kernel computed on the GPU"), kTime, "exposed_ns"),
            Reads::Time, [](const Row& row) { return std::optional(row.exposedNs()); } } };
}

Figures<model::LoadingSums> loadingFigures()
{
    using Row = model::LoadingSums;
    return { totalOf<Row>(), meanOf<Row>(), callsOf<Row>(),
        { column(Words::tr("Of steps"), Words::tr("Of the time of all steps"), QStringLiteral("88.8 %"),
              "share_of_steps"),
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
    const auto make
        = [&]<class Sums>(const std::vector<Sums>& rows, Figures<Sums> shown, const QString& title) {
              return std::make_shared<const SumsTable<Sums>>(figures, rows, std::move(shown), title);
          };
    using Call = model::CallSums;
    switch (kind) {
    case Kind::Waits:
        return std::make_shared<const WaitsTable>(std::move(figures));
    case Kind::Operators:
        return make(tables.operators, operatorFigures(), Words::tr("Operator"));
    case Kind::Kernels:
        return make(tables.kernels, kernelFigures(), Words::tr("Kernel"));
    case Kind::Calls:
    case Kind::Synchronisations:
        return make(kind == Kind::Calls ? tables.calls : tables.synchronisations,
            { totalOf<Call>(), meanOf<Call>(), callsOf<Call>() }, Words::tr("Call"));
    case Kind::Collectives:
        return make(tables.collectives, collectiveFigures(), Words::tr("Collective"));
    case Kind::Loading:
        return make(tables.loading, loadingFigures(), Words::tr("Wait"));
    case Kind::Roofline:
        return makeRooflineTable(std::move(figures));
    case Kind::Copies:
        break;
    }
    return make(tables.copies, copyFigures(), Words::tr("Copy or set"));
}

} // namespace strata::views
