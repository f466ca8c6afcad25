// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/work_steps_table.h"

#include "model/analysis/work/waits/step_fields.h"
#include "model/base/field_value.h"
#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

namespace strata::views {

namespace {

struct WorkStepsTexts {
    Q_DECLARE_TR_FUNCTIONS(WorkStepsTable)
};

class WorkStepsTable final : public WorkTable {
public:
    explicit WorkStepsTable(std::shared_ptr<const WorkFigures> all)
        : WorkTable(columnsOf(), std::move(all))
        , m_times(model::stepTimesOf(figures().report.steps).value_or(model::StepTimes{}))
    {
    }
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(figures().report.steps.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override
    {
        const model::ProfilerStep& step = at(row);
        switch (column) {
        case At:
            return { text::seconds(step.time.beginNs - figures().lanes->tracks().startNs()),
                QStringLiteral("s") };
        case ToMedian: {
            const auto more = model::shareAboveMedian(step, m_times);
            if (step.warmsUp || !more)
                return noteCell(step.warmsUp ? WorkStepsTexts::tr("warms up")
                        : step.isEmpty       ? WorkStepsTexts::tr("empty")
                                             : QStringLiteral("–"));
            return { QString::asprintf("%+.1f %%", 100 * *more), {} };
        }
        case Busy:
            return step.deviceBusyNs ? TableCell{ text::share(*step.deviceBusyNs, step.time.ns()), {} }
                                     : noteCell(QStringLiteral("–"));
        case Name:
            return { text::shortened(step.name, 400), {} };
        default: {
            const auto ns = figure(row, column);
            return ns ? TableCell{ text::duration(*ns), {} } : noteCell(QStringLiteral("–"));
        }
        }
    }
    [[nodiscard]] std::optional<std::int64_t> exampleNs(std::uint32_t row) const override
    {
        return at(row).time.beginNs;
    }
    [[nodiscard]] std::int64_t longestNs(std::uint32_t row) const override { return at(row).time.ns(); }

private:
    enum Place { At, Takes, ToMedian, Busy, Loading, Compiling, Tail, Name };

    static std::vector<Column> columnsOf()
    {
        const auto number
            = [](const QString& title, const QString& tip, const char* sample, const char* name) {
                  return Column{ { title, tip, QString::fromLatin1(sample), true }, name };
              };
        return { { { WorkStepsTexts::tr("At"), WorkStepsTexts::tr("Since the first event"),
                       QStringLiteral("888.888888"), true, QStringLiteral("s") },
                     "start_ns" },
            number(WorkStepsTexts::tr("Takes"), WorkStepsTexts::tr("On the thread that steps"), "888.8 ms",
                "duration_ns"),
            number(WorkStepsTexts::tr("To median"),
                WorkStepsTexts::tr("Of the steps that do not warm up: by how much this one is longer"),
                "+8,888.8 %", "above_median_ns"),
            number(WorkStepsTexts::tr("GPU busy"), WorkStepsTexts::tr("With work of any stream, of the step"),
                "88.8 %", "gpu_busy_ns"),
            number(WorkStepsTexts::tr("Data"), WorkStepsTexts::tr("While a thread waits for its DataLoader"),
                "888.8 ms", "loading_ns"),
            number(WorkStepsTexts::tr("Compiling"), WorkStepsTexts::tr("While torch.compile compiles"),
                "888.8 ms", "compile_ns"),
            number(WorkStepsTexts::tr("Tail"),
                WorkStepsTexts::tr("While collectives run alone behind the last kernel of its backward"),
                "888.8 ms", "communication_tail_ns"),
            { { WorkStepsTexts::tr("Step"), {}, QStringLiteral("ProfilerStep#888"), false, {}, true },
                "name" } };
    }
    [[nodiscard]] const model::ProfilerStep& at(std::uint32_t row) const
    {
        return figures().report.steps[row];
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override
    {
        return column == Name ? std::nullopt : value(row, column).figure;
    }
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override
    {
        return value(row, column).text;
    }
    [[nodiscard]] model::FieldValue value(std::uint32_t row, int column) const
    {
        return model::fieldValue(sortName(column).toStdString(), at(row), m_times);
    }

    model::StepTimes m_times;
};

} // namespace

std::shared_ptr<const WorkTable> makeWorkStepsTable(std::shared_ptr<const WorkFigures> figures)
{
    return std::make_shared<const WorkStepsTable>(std::move(figures));
}

} // namespace strata::views
