// SPDX-License-Identifier: GPL-3.0-or-later
// Leaks and the steps beside them, against `strata leaks` and `strata steps`.
#include "model/analysis/training/leaks/leak_sites.h"
#include "tests/gui/agreement/agreement_test.h"
#include "tests/gui/training/training_run.h"
#include "views/models/document/training_words.h"
#include "views/pages/leaks/leak_texts.h"
#include "views/pages/leaks/leaks_page.h"
#include "views/pages/memory/memory_page.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/training/steps_view.h"

#include <QBuffer>
#include <QTemporaryDir>

using namespace strata;
using namespace strata::views;

namespace {

using Json = nlohmann::json;

/// Ours, one that leaks, one of which nobody knows where, and one whose segments pile up.
std::vector<std::string> trainingRuns()
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
    return files;
}

class TrainingAgrees : public test::AgreementTest {
protected:
    /// Of a line of CSV; a text with a comma is quoted.
    static std::vector<std::string> fieldsOf(std::string_view line)
    {
        std::vector<std::string> fields(1);
        bool quoted = false;
        for (std::size_t i = 0; i < line.size() && line[i] != '\n'; ++i) {
            if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
                fields.back() += line[i++];
            else if (line[i] == '"')
                quoted = !quoted;
            else if (line[i] == ',' && !quoted)
                fields.emplace_back();
            else
                fields.back() += line[i];
        }
        return fields;
    }
    /// A row of a CSV table as its command has it: the columns by their names.
    static void expectRow(const PlainTable& table, std::uint32_t row, const Json& want)
    {
        std::string text;
        table.appendCsv(text, row);
        const std::vector<std::string> names = fieldsOf(table.csvHeader()), fields = fieldsOf(text);
        ASSERT_EQ(names.size(), fields.size()) << text;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Json& value = want[names[i]];
            const std::string& got = fields[i];
            if (value.is_number_float()) {
                EXPECT_DOUBLE_EQ(std::stod(got), value.get<double>()) << names[i];
            } else if (value.is_null()) {
                EXPECT_EQ(got, "") << names[i];
            } else {
                EXPECT_EQ(got, value.is_string() ? value.get<std::string>() : value.dump()) << names[i];
            }
        }
    }
    static void expectPoints(const std::vector<GrowthSeries::Point>& points, const Json& growth)
    {
        ASSERT_EQ(points.size(), growth.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            EXPECT_EQ(points[i].step, growth[i]["step"].get<std::int64_t>());
            EXPECT_EQ(points[i].event, growth[i]["event"].get<std::int64_t>());
            EXPECT_EQ(points[i].bytes, growth[i]["allocated_bytes"].get<std::int64_t>());
            EXPECT_EQ(points[i].blocks, growth[i]["blocks"].get<std::int64_t>());
        }
    }
};

TEST_P(TrainingAgrees, InWhatGrows)
{
    auto& page = driver().shown<LeaksPage>("leaks");
    const Json told = runCopied(page.commandLine()).at(0);
    const QString sentence = test::plainText(page.sentenceText());
    const std::string verdict = told["verdict"];
    EXPECT_TRUE(sentence.startsWith(verdict == "found" ? QStringLiteral("Leaks ")
            : verdict == "none"                        ? QStringLiteral("No leak.")
                                                       : QStringLiteral("Undecided.")))
        << qPrintable(sentence);
    if (verdict == "found") {
        std::int64_t perStep = 0;
        for (const Json& site : told["sites"])
            perStep += site["kind"] == "leak" ? site["bytes_per_step_allocated"].get<std::int64_t>() : 0;
        EXPECT_TRUE(sentence.contains(bytes(perStep) + QStringLiteral(" of allocated memory per step"))) << qPrintable(sentence);
    } else {
        const std::string why = told["why"];
        EXPECT_TRUE(sentence.contains(QString::fromStdString(why.substr(1)))) << qPrintable(sentence);
    }
    const bool guessed = told["why"].get<std::string>().find("the steps are a guess") != std::string::npos;
    if (guessed) { // nothing was compared
        EXPECT_TRUE(page.howText().startsWith(QStringLiteral("Steps are "))) << qPrintable(page.howText());
    } else if (told["steps"].get<int>() - told["warmup"].get<int>() >= 6) {
        EXPECT_TRUE(page.howText().contains(count(told["steps"]) + QStringLiteral(" step")))
            << qPrintable(page.howText());
    }
    if (!told["steps_to_oom"].is_null()) {
        EXPECT_TRUE(sentence.contains(count(roughly(told["steps_to_oom"])))) << qPrintable(sentence);
    }
    ASSERT_TRUE(page.sites().source());
    ASSERT_EQ(page.sites().source()->rowCount(), told["sites"].size());
    for (std::uint32_t row = 0; row < page.sites().source()->rowCount(); ++row) {
        SCOPED_TRACE(row);
        const Json& want = told["sites"][row];
        expectRow(*page.sites().source(), row, want);
        page.chooseSite(row);
        if (!want["growth"].empty()) {
            expectPoints(page.chart().series().points, want["growth"]);
        }
        ASSERT_EQ(page.survivors().source()->rowCount(), want["survivors"].size());
        for (std::uint32_t of = 0; of < page.survivors().source()->rowCount(); ++of)
            expectRow(*page.survivors().source(), of, want["survivors"][of]);
    }
}

TEST_P(TrainingAgrees, InTheSteps)
{
    auto& leaks = driver().shown<LeaksPage>("leaks");
    const Json told = json("steps", { "--device", std::to_string(trace().device()) })["devices"][0]["steps"];
    ASSERT_FALSE(told.empty());
    leaks.setMode(LeaksPage::Steps);
    auto& memory = driver().shown<MemoryPage>("memory");
    for (const StepsView* steps : { &leaks.steps(), &memory.steps() }) {
        ASSERT_TRUE(steps->figures());
        ASSERT_TRUE(steps->table().source());
        ASSERT_EQ(steps->table().source()->rowCount(), told.size());
        for (std::uint32_t row = 0; row < told.size(); ++row) {
            SCOPED_TRACE(row);
            expectRow(*steps->table().source(), row, told[row]);
            const model::TrainingStep& step = *steps->figures()->rows[row].step;
            EXPECT_EQ(Json(step.shownNumber() ? Json(*step.shownNumber()) : Json()), told[row]["step"]);
            ASSERT_EQ(step.phases.size(), told[row]["phases"].size());
            const QString said = steps->multiples().describe(row).join(QLatin1Char(' '));
            EXPECT_TRUE(said.contains(bytes(told[row]["requested_bytes_peak"]))) << qPrintable(said);
            EXPECT_TRUE(said.contains(bytes(told[row]["reserved_bytes"]))) << qPrintable(said);
        }
    }
    // A position names the step that the window shows under that number.
    const auto& rows = memory.steps().figures()->rows;
    for (const model::StepMemory* const row : { &rows.front(), &rows[rows.size() / 2], &rows.back() }) {
        if (!row->step->shownNumber())
            continue;
        const Json at = json(
            "at", { text::stepName(*row->step).toStdString(), "--device", std::to_string(trace().device()) });
        EXPECT_EQ(at["event"].get<std::int64_t>(), row->peak.maxEvent);
    }
}

INSTANTIATE_TEST_SUITE_P(Ours, TrainingAgrees, testing::ValuesIn(trainingRuns()), test::recordingName);

} // namespace
