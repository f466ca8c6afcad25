// SPDX-License-Identifier: GPL-3.0-or-later
// The page What-if against `strata whatif`: what "Copy as Command Line" gives prints what the page shows.
#include "tests/gui/agreement/agreement_test.h"
#include "tests/gui/whatif/batch_run.h"
#include "views/models/whatif/what_if_curves.h"
#include "views/pages/summary/advice_rows.h"
#include "views/pages/summary/summary_page.h"
#include "views/pages/whatif/what_if_batch_card.h"
#include "views/pages/whatif/what_if_device_card.h"
#include "views/pages/whatif/what_if_page.h"
#include "views/pages/whatif/what_if_plan_panel.h"
#include "views/pages/whatif/what_if_recordings_card.h"
#include "views/pages/whatif/what_if_sequence_card.h"
#include "views/pages/whatif/what_if_settings_card.h"
#include "views/style/texts.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/whatif/run_chart.h"
#include "views/widgets/whatif/what_if_tables.h"

#include <QLabel>
#include <QSpinBox>

#include <cstring>

using namespace strata;
using namespace strata::views;

namespace {

using Json = nlohmann::json;

class WhatIfAgrees : public test::AgreementTest {
protected:
    [[nodiscard]] WhatIfPage& page() { return driver().shown<WhatIfPage>("whatif"); }
    [[nodiscard]] static QStringList rows(const PlainTableView& table)
    {
        QStringList rows;
        for (std::uint32_t row = 0; table.source() && row < table.source()->rowCount(); ++row) {
            std::string line;
            table.source()->appendCsv(line, row);
            rows << QString::fromStdString(line).trimmed();
        }
        return rows;
    }

    void agreesOnPeaks(const Json& device)
    {
        const QStringList shown = rows(page().table(WhatIfPage::Peaks));
        ASSERT_EQ(shown.size(), 3);
        const char* const peaks[] = { "requested_bytes_peak", "allocated_bytes_peak", "reserved_bytes_peak" };
        for (int i = 0; i < 3; ++i) {
            const QStringList fields = shown[i].split(QLatin1Char(','));
            EXPECT_EQ(fields[PeaksTable::Recorded].toLongLong(), device["recorded"][peaks[i]].get<qint64>());
            if (device["predicted"].is_null()) {
                EXPECT_TRUE(fields[PeaksTable::Predicted].isEmpty());
            } else {
                EXPECT_EQ(
                    fields[PeaksTable::Predicted].toLongLong(), device["predicted"][peaks[i]].get<qint64>());
            }
            EXPECT_EQ(fields[PeaksTable::Least].toLongLong(), device["interval"][peaks[i]][0].get<qint64>());
            EXPECT_EQ(fields[PeaksTable::Most].toLongLong(), device["interval"][peaks[i]][1].get<qint64>());
            // The picture is of the same figures.
            const QString said = page().chart().describe(i).join(QLatin1Char(' '));
            EXPECT_TRUE(said.contains(exact(device["recorded"][peaks[i]]))) << qPrintable(said);
        }
        agreesOnCurves(device);
        const QString sentence = test::plainText(page().sentenceText());
        EXPECT_TRUE(sentence.contains(bytes(device["recorded"]["reserved_bytes_peak"]))
            || device["predicted"] != device["recorded"])
            << qPrintable(sentence);
        if (!device["predicted"].is_null()) {
            EXPECT_TRUE(sentence.contains(bytes(device["predicted"]["reserved_bytes_peak"])))
                << qPrintable(sentence);
        } else if (device["at_least"].get<bool>()) {
            const Json& least = device["interval"]["reserved_bytes_peak"][0];
            EXPECT_TRUE(sentence.contains(bytes(std::max(least, device["needed_bytes"]))))
                << qPrintable(sentence);
            EXPECT_TRUE(sentence.contains(bytes(device["needed_bytes"]))) << qPrintable(sentence);
        } else {
            for (const Json& bound : device["interval"]["reserved_bytes_peak"])
                EXPECT_TRUE(sentence.contains(bytes(bound))) << qPrintable(sentence);
        }
    }

    void agreesOnCurves(const Json& device)
    {
        const auto& curves = page().run().curves();
        ASSERT_EQ(curves != nullptr, trace().eventCount() > 0);
        if (!curves)
            return;
        EXPECT_EQ(curves->recordedPeak.bytes, device["recorded"]["requested_bytes_peak"].get<qint64>());
        ASSERT_EQ(curves->isPredicted, !device["predicted"].is_null());
        if (!curves->isPredicted)
            return;
        EXPECT_EQ(curves->predictedPeak.bytes, device["predicted"]["requested_bytes_peak"].get<qint64>());
        qint64 reserved = 0;
        for (const WhatIfCurves::Column& column : curves->columns)
            reserved = std::max(reserved, qint64{ column.predictedReserved });
        EXPECT_TRUE(curves->hasReserved);
        if (!device["out_of_memory"].get<bool>()) {
            EXPECT_EQ(reserved, device["predicted"]["reserved_bytes_peak"].get<qint64>());
        }
    }

    void agreesOnTheRest(const Json& device, const Json& evidence)
    {
        std::map<std::string, std::pair<qint64, std::string>> fits;
        for (const QString& row : rows(page().table(WhatIfPage::Cards))) {
            const QStringList fields = row.split(QLatin1Char(','));
            if (const QString& word = fields[FittingCardsTable::Fits]; word == QStringLiteral("yes")
                || word == QStringLiteral("tight") || word == QStringLiteral("not_comparable"))
                fits[fields[FittingCardsTable::Card].toStdString()]
                    = { fields[FittingCardsTable::Margin].toLongLong(),
                          fields[FittingCardsTable::Fits].toStdString() };
        }
        EXPECT_EQ(fits.size(), device["fits_on"].size());
        for (const Json& card : device["fits_on"])
            EXPECT_EQ(fits[card["name"].get<std::string>()],
                std::pair(card["margin_bytes"].get<qint64>(), card["fits"].get<std::string>()));
        const QStringList rules = rows(page().table(WhatIfPage::Blocks));
        ASSERT_EQ(static_cast<std::size_t>(rules.size()), device["rules"].size());
        for (qsizetype i = 0; i < rules.size(); ++i) {
            const Json& want = device["rules"][static_cast<std::size_t>(i)];
            EXPECT_EQ(rules[i].toStdString(),
                want["rule"].get<std::string>() + "," + std::to_string(want["blocks"].get<qint64>()) + ","
                    + std::to_string(want["bytes"].get<qint64>()));
        }
        const QString said = test::plainText(page().evidenceText()).replace(QChar::Nbsp, QLatin1Char(' '));
        EXPECT_TRUE(
            said.contains(QStringLiteral("by ") + QString::fromStdString(evidence.get<std::string>())))
            << qPrintable(said);
        EXPECT_EQ(said.startsWith(QStringLiteral("Exact")), device["exact"].get<bool>()) << qPrintable(said);
        if (!device["reason"].is_null()) {
            QString reason = QString::fromStdString(device["reason"].get<std::string>());
            for (const char* sure : { "an estimate: ", "bounds alone: " }) // it is said in front of it
                if (reason.startsWith(QLatin1String(sure)))
                    reason.remove(0, static_cast<qsizetype>(std::strlen(sure)));
            reason.replace(QLatin1String("--with FILE2"), QLatin1String("Other recordings at the left"));
            reason[0] = reason[0].toUpper();
            EXPECT_TRUE(said.contains(reason)) << qPrintable(said);
        }
        if (const auto unknown = device["unknown_bytes"].get<std::int64_t>(); unknown > 0) {
            EXPECT_TRUE(said.contains(bytes(device["unknown_bytes"]))) << qPrintable(said);
        }
        const QString sentence = test::plainText(page().sentenceText());
        EXPECT_EQ(
            sentence.contains(QStringLiteral("runs out of memory")), device["out_of_memory"].get<bool>());
        if (!device["out_of_memory_event"].is_null()) {
            EXPECT_TRUE(sentence.contains(text::event(device["out_of_memory_event"].get<std::int64_t>())))
                << qPrintable(sentence);
        }
    }

    /// The command refuses too, for the reason that the page gives.
    void refusesAs(const QString& command, const model::Error& error, const QString& said)
    {
        EXPECT_TRUE(test::plainText(said).contains(text::said(error.what))) << qPrintable(said);
        const test::Ran ran = runAsCopied(command);
        EXPECT_NE(ran.err.find(error.text()), std::string::npos) << ran.err;
        if (error.kind == model::Error::Kind::Usage) { // it lacks an option
            EXPECT_EQ(ran.code, 2);
            return;
        }
        EXPECT_EQ(ran.code, 1);
        const Json told = ran.json();
        EXPECT_TRUE(told["devices"].empty());
        EXPECT_TRUE(told["plan"].is_null());
        EXPECT_EQ(told["refused"].get<std::string>(), error.text());
    }

    /// Each row of the table, on top of what is asked.
    void agreesOnAlternatives(const model::Scenario& asked)
    {
        std::vector<std::string> words{ "--device", std::to_string(trace().device()), "--alternatives",
            "--batch-of", "8" };
        for (const model::Change& change : asked.changes)
            words.insert(words.end(), { "--change", change.text });
        if (asked.settings)
            words.insert(words.end(), { "--set", *asked.settings });
        if (asked.capacityBytes)
            words.insert(words.end(), { "--capacity", std::to_string(*asked.capacityBytes) });
        const Json told = json("whatif", words)["devices"][0]["alternatives"];
        const auto& source = page().table(WhatIfPage::Alternatives).source();
        ASSERT_EQ(source ? source->rowCount() : 0, told.size());
        for (std::uint32_t row = 0; row < told.size(); ++row) {
            const Json& want = told[row];
            const auto text
                = [](const Json& value) { return value.is_null() ? std::string() : value.dump(); };
            std::string line;
            source->appendCsv(line, row);
            const QStringList fields
                = QString::fromStdString(line).remove(QLatin1Char('"')).trimmed().split(QLatin1Char(','));
            const bool saysServed = source->columns().size() > AlternativesTable::Serves;
            const std::string change = want["change"];
            EXPECT_TRUE(QString::fromStdString(line)
                            .remove(QLatin1Char('"'))
                            .startsWith(QString::fromStdString(change + ',')))
                << line;
            const qsizetype figures = QString::fromStdString(change).count(QLatin1Char(',')) + 1;
            EXPECT_EQ(fields[figures].toStdString(), text(want["reserved_bytes_peak"])) << line;
            EXPECT_EQ(fields[figures + 1].toStdString(), text(want["saved_bytes"])) << line;
            if (want["refused"].is_null()) {
                EXPECT_EQ(fields[figures + 2] == QStringLiteral("exact"), want["exact"].get<bool>()) << line;
            }
            if (saysServed) {
                EXPECT_EQ(fields.back().toStdString(), text(want["serves_request"])) << line;
            }
        }
    }

    /// What the page says of what it is asked now is what the command that it gives prints.
    void agrees()
    {
        settle();
        const QString command = page().commandLine();
        SCOPED_TRACE(command.toStdString());
        const auto& answer = page().whatIf().answer();
        ASSERT_TRUE(answer);
        if (!answer->prediction)
            return refusesAs(command, answer->prediction.error(), page().sentenceText());
        const Json told = runCopied(command).at(0);
        ASSERT_EQ(told["devices"].size(), 1u);
        const Json& device = told["devices"][0];
        ASSERT_NO_FATAL_FAILURE(agreesOnPeaks(device));
        ASSERT_NO_FATAL_FAILURE(agreesOnTheRest(device, told["evidence"]));
    }
    void ask(const model::Scenario& scenario)
    {
        page().setScenario(scenario);
        agrees();
    }
};

TEST_P(WhatIfAgrees, AsRecorded)
{
    agrees();
}

TEST_P(WhatIfAgrees, OfSettingsAndOtherCards)
{
    ASSERT_NO_FATAL_FAILURE(
        ask({ .changes = {}, .settings = "expandable_segments:True", .capacityBytes = {} }));
    ASSERT_NO_FATAL_FAILURE(ask({ .changes = {}, .settings = "", .capacityBytes = {} }));
    const std::int64_t half = trace().totals().reservedBytesPeak / 2 + 1;
    ASSERT_NO_FATAL_FAILURE(ask({ .changes = {}, .settings = {}, .capacityBytes = half }));
    ASSERT_NO_FATAL_FAILURE(ask(
        { .changes = {}, .settings = "max_split_size_mb:64", .capacityBytes = std::int64_t{ 16 } << 30 }));
}

TEST_P(WhatIfAgrees, OfAnotherBatch)
{
    page().card<WhatIfBatchCard>().recorded().setValue(8);
    settle();
    for (const char* change : { "batch=x0.5", "batch=x2", "batch=11" })
        ASSERT_NO_FATAL_FAILURE(
            ask({ .changes = { *model::Change::parse(change) }, .settings = {}, .capacityBytes = {} }));
}

TEST_P(WhatIfAgrees, InSingleChanges)
{
    page().card<WhatIfBatchCard>().recorded().setValue(8);
    settle();
    agreesOnAlternatives({});
}

/// Each row is what the command says with its change behind those that are asked.
TEST_P(WhatIfAgrees, InChangesOnTopOfWhatIsAsked)
{
    page().card<WhatIfBatchCard>().recorded().setValue(8);
    settle();
    for (const model::Scenario& asked : { model::Scenario{ .changes = { *model::Change::parse("batch=12") },
                                                           .settings = {},
                                                           .capacityBytes = std::int64_t{ 12 } << 30 },
             model::Scenario{
                 .changes = {}, .settings = "garbage_collection_threshold:0.8", .capacityBytes = {} } }) {
        page().setScenario(asked);
        settle();
        if (page().whatIf().alternativesOn()) // else it has no estimate
            agreesOnAlternatives(asked);
    }
}

TEST_P(WhatIfAgrees, InPlans)
{
    page().card<WhatIfBatchCard>().recorded().setValue(8);
    settle();
    page().setBelow(WhatIfPage::Plan);
    WhatIfPlanPanel& panel = page().planPanel();
    for (const PlanGoal goal : { PlanGoal::LargestBatch, PlanGoal::Cheapest }) {
        panel.setGoal(goal);
        panel.plan();
        settle();
        const auto& plan = panel.planner().plan();
        ASSERT_TRUE(plan);
        ASSERT_EQ(plan->goal, goal);
        const QString command = page().commandLine();
        SCOPED_TRACE(command.toStdString());
        if (!plan->made) { // no steps, no capacity
            ASSERT_NO_FATAL_FAILURE(refusesAs(command, plan->made.error(), panel.sentenceText()));
            continue;
        }
        const Json told = runCopied(command, plan->met() ? 0 : 1).at(0)["plan"];
        EXPECT_EQ(told["met"].get<bool>(), plan->met());
        EXPECT_EQ(told["needed_bytes"].get<qint64>(), plan->neededBytes());
        EXPECT_TRUE(test::plainText(panel.sentenceText()).contains(bytes(told["needed_bytes"])))
            << qPrintable(panel.sentenceText());
        const QStringList shown = rows(panel.table());
        ASSERT_EQ(static_cast<std::size_t>(shown.size()), told["rows"].size());
        for (qsizetype i = 0; i < shown.size(); ++i) {
            const Json& row = told["rows"][static_cast<std::size_t>(i)];
            EXPECT_TRUE(shown[i].contains(QStringLiteral(",%1,").arg(row["needed_bytes"].get<qint64>())))
                << qPrintable(shown[i]);
            const char* const fits = row["fits"].get<bool>() ? ",yes"
                : row["fits_likely"].get<bool>()             ? ",likely"
                                                             : ",no";
            EXPECT_TRUE(shown[i].endsWith(QLatin1String(fits))) << qPrintable(shown[i]);
        }
        EXPECT_EQ(panel.code().toStdString(),
            told["code"].is_null() ? std::string() : told["code"].get<std::string>());
    }
}

/// "Do this" of the Summary is the advice of `strata summary`, and a click asks What-if the same.
TEST_P(WhatIfAgrees, InWhatTheSummaryAdvises)
{
    auto& summary = driver().shown<SummaryPage>("summary");
    const Json told = json("summary")["advice"];
    std::vector<Json> wanted;
    for (const Json& one : told.is_null() ? Json::array() : told)
        if (one["device"] == trace().device())
            wanted.push_back(one);
    const auto all = summary.findChildren<AdviceRows*>();
    QStringList lines;
    for (const AdviceRows* rows : all)
        lines += rows->lines();
    ASSERT_EQ(static_cast<std::size_t>(lines.size()), wanted.size())
        << qPrintable(lines.join(QLatin1Char(';')));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const QString& line = lines[static_cast<qsizetype>(i)];
        QString change = QString::fromStdString(wanted[i]["change"].get<std::string>());
        if (change.startsWith(QStringLiteral("settings=")))
            change.remove(0, 9);
        EXPECT_TRUE(line.startsWith(change)) << qPrintable(line);
        EXPECT_TRUE(line.contains(bytes(wanted[i]["saved_bytes"]))) << qPrintable(line);
        if (!trace().outOfMemories().empty())
            continue; // both peaks are with endless memory
        EXPECT_TRUE(line.contains(bytes(wanted[i]["recorded"]["reserved_bytes_peak"]))) << qPrintable(line);
        EXPECT_TRUE(line.contains(
            bytes(wanted[i]["predicted"].is_null() ? wanted[i]["reserved_bytes_peak_range"][1]
                                                   : wanted[i]["predicted"]["reserved_bytes_peak"])))
            << qPrintable(line);
    }
    if (wanted.empty()) {
        for (const AdviceRows* rows : all)
            EXPECT_FALSE(rows->isVisible());
        return;
    }
    ASSERT_EQ(all.size(), 1);
    EXPECT_TRUE(all.front()->isVisible());
    Q_EMIT all.front()
        ->findChildren<QLabel*>(QStringLiteral("advice"))
        .front()
        ->linkActivated(QStringLiteral("advice:0"));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("whatif"));
    agrees();
    const std::string& change = wanted.front()["change"].get_ref<const std::string&>();
    const model::Scenario& asked = page().whatIf().scenario();
    EXPECT_EQ(asked.settings ? "settings=" + *asked.settings : asked.changes.at(0).text, change);
}

/// Of a recording that each of these makes, beside another one: of longer sequences one alone tells nothing.
class WhatIfOfTwoAgrees : public WhatIfAgrees {
protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(open(test::writeSequenceRun(m_folder, 512))); }

    QTemporaryDir m_folder;
};

TEST_P(WhatIfOfTwoAgrees, OfLongerSequences)
{
    const auto asked = [](const std::string& change) {
        return model::Scenario{
            .changes = { *model::Change::parse(change) }, .settings = {}, .capacityBytes = {}
        };
    };
    page().card<WhatIfSequenceCard>().recorded().setValue(512);
    ASSERT_NO_FATAL_FAILURE(ask(asked(GetParam()))); // refused, of one alone
    auto& others = page().card<WhatIfRecordingsCard>();
    others.add(test::writeSequenceRun(m_folder, 1024));
    settle();
    auto* length = others.findChild<QSpinBox*>(QStringLiteral("length0"));
    ASSERT_TRUE(length);
    length->setValue(1024);
    ASSERT_NO_FATAL_FAILURE(agrees());
    const auto& prediction = page().whatIf().answer()->prediction;
    ASSERT_TRUE(prediction) << prediction.error().text();
    EXPECT_EQ(prediction->predicted->requestedBytesPeak, test::sequenceRunBytes(*prediction->sequenceAfter));
    page().card<WhatIfBatchCard>().recorded().setValue(8);
    model::Scenario both = asked(GetParam());
    both.changes.push_back(*model::Change::parse("batch=x2"));
    ASSERT_NO_FATAL_FAILURE(ask(both)); // refused
    EXPECT_FALSE(page().whatIf().answer()->prediction);
}

INSTANTIATE_TEST_SUITE_P(Of, WhatIfOfTwoAgrees,
    testing::Values("sequence=2048", "sequence=x1.5", "sequence=1024"),
    [](const testing::TestParamInfo<std::string>& param) { return "Length" + std::to_string(param.index); });
INSTANTIATE_TEST_SUITE_P(Ours, WhatIfAgrees, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
