// SPDX-License-Identifier: GPL-3.0-or-later
// Allocator state, Fragmentation and what Summary says to do, against `strata state`, `fragmentation` and
// `oom`.
#include "tests/gui/agreement/agreement_test.h"
#include "views/pages/allocator/allocator_page.h"
#include "views/pages/allocator/fragmentation_page.h"
#include "views/pages/summary/oom_panel.h"
#include "views/style/texts.h"
#include "views/widgets/allocator/segments_table.h"
#include "views/widgets/plain_table_view.h"

#include <QBuffer>
#include <QLabel>

#include <cstdlib>
#include <map>

using namespace strata;
using namespace strata::views;

namespace {

using Json = nlohmann::json;

class AllocatorAgrees : public test::AgreementTest {
protected:
    static QStringList csvLines(const Page& page)
    {
        QBuffer buffer;
        buffer.open(QIODevice::ReadWrite);
        EXPECT_TRUE(page.writeCsv(buffer));
        QStringList lines = QString::fromUtf8(buffer.data()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        if (!lines.isEmpty())
            lines.removeFirst();
        return lines;
    }
    static std::string position(model::EventIndex event) { return std::to_string(event); }
};

TEST_P(AllocatorAgrees, InWhatTheMapHolds)
{
    for (const model::EventIndex event : instants()) {
        SCOPED_TRACE(event);
        select(event);
        const auto& page = driver().shown<AllocatorPage>("allocator");
        const Json told = json("state", { position(event), "--device", std::to_string(trace().device()) });
        const MapPicture& picture = *page.map().picture();
        ASSERT_EQ(picture.map.event, told["event"].get<std::int64_t>());
        EXPECT_EQ(picture.map.exact, told["exact"].get<bool>());
        std::map<std::uint64_t, const model::MapSegment*> segments;
        for (const model::MapSegment& segment : picture.map.segments)
            segments[segment.address] = &segment;
        ASSERT_EQ(segments.size(), told["segments"].size());
        std::int64_t reserved = 0, used = 0;
        for (const Json& want : told["segments"]) {
            const auto found = segments.find(want["address"].get<std::uint64_t>());
            ASSERT_NE(found, segments.end());
            const model::MapSegment& segment = *found->second;
            EXPECT_EQ(segment.bytes, want["total_size"].get<std::int64_t>());
            EXPECT_EQ(segment.activeBytes, want["active_size"].get<std::int64_t>());
            const auto blocks = picture.map.blocksOf(segment);
            ASSERT_EQ(blocks.size(), want["blocks"].size());
            for (std::size_t b = 0; b < blocks.size(); ++b) {
                EXPECT_EQ(blocks[b].address, want["blocks"][b]["address"].get<std::uint64_t>());
                EXPECT_EQ(std::string(model::stateName(blocks[b])), want["blocks"][b]["state"]);
            }
            reserved += segment.bytes;
            used += segment.activeBytes;
        }
        // The table and the sentence say the same in sum.
        std::int64_t rowsReserved = 0, rowsUsed = 0;
        for (const QString& line : csvLines(page)) {
            const QStringList fields = line.split(QLatin1Char(','));
            rowsReserved += fields[SegmentsTable::Size].toLongLong();
            rowsUsed
                += fields[SegmentsTable::InUse].toLongLong() + fields[SegmentsTable::Pending].toLongLong();
        }
        EXPECT_EQ(rowsReserved, reserved);
        EXPECT_EQ(rowsUsed, used);
        if (reserved > 0) {
            EXPECT_TRUE(test::plainText(page.sentenceText()).contains(bytes(reserved)))
                << qPrintable(page.sentenceText());
        }
    }
}

TEST_P(AllocatorAgrees, InFragmentation)
{
    for (const model::EventIndex event : instants()) {
        SCOPED_TRACE(event);
        select(event);
        const auto& page = driver().shown<FragmentationPage>("fragmentation");
        const Json told = runCopied(page.commandLine()).at(0);
        ASSERT_EQ(event, told["event"].get<std::int64_t>());
        const QString sentence = test::plainText(page.sentenceText());
        if (const Json& free = told["free_bytes"]; free > 0) {
            EXPECT_TRUE(sentence.contains(bytes(free))) << qPrintable(sentence);
            if (told["cached_segments_bytes"] > 0) {
                EXPECT_TRUE(sentence.contains(bytes(told["cached_segments_bytes"]))) << qPrintable(sentence);
            }
        }
        ASSERT_TRUE(page.pinnedTable().source());
        ASSERT_EQ(page.pinnedTable().source()->rowCount(), told["segments"].size());
        for (std::uint32_t row = 0; row < page.pinnedTable().source()->rowCount(); ++row) {
            std::string line;
            page.pinnedTable().source()->appendCsv(line, row);
            const Json& want = told["segments"][row];
            const Json& pin = want["pins"][0];
            EXPECT_TRUE(QString::fromStdString(line).startsWith(QStringLiteral("%1,%2,%3,")
                                                                    .arg(want["address"].get<quint64>())
                                                                    .arg(want["free_bytes"].get<qint64>())
                                                                    .arg(want["total_size"].get<qint64>())))
                << line;
            EXPECT_TRUE(QString::fromStdString(line).trimmed().endsWith(
                QStringLiteral(",%1,%2,%3")
                    .arg(pin["bytes"].get<qint64>())
                    .arg(pin["age_events"].get<qint64>())
                    .arg(pin["gives_back_bytes"].get<qint64>())))
                << line;
        }
    }
}

TEST_P(AllocatorAgrees, InOtherSettingsAndOverTime)
{
    const auto& page = driver().shown<FragmentationPage>("fragmentation");
    const auto samples = page.chart().samples();
    const std::string count = samples ? std::to_string(samples->at.size()) : "0";
    const Json told
        = json("fragmentation", { "--device", std::to_string(trace().device()), "--over", count });
    const auto& settings = page.settingsTable().source();
    ASSERT_TRUE(settings);
    ASSERT_EQ(settings->rowCount(), told["settings"].size());
    for (std::uint32_t row = 0; row < settings->rowCount(); ++row) {
        const Json& want = told["settings"][row];
        EXPECT_EQ(settings->cell(row, SettingsTable::Settings).text.toStdString(), want["set"]);
        const auto shown = [&](int column) {
            const TableCell cell = settings->cell(row, column);
            return cell.text + QLatin1Char(' ') + cell.note;
        };
        EXPECT_EQ(shown(SettingsTable::Reserved), bytes(want["reserved_bytes_peak"]));
        const std::int64_t saved = want["saved_bytes"];
        EXPECT_EQ(shown(SettingsTable::Saved),
            bytes(std::abs(saved)) + (saved < 0 ? QStringLiteral(" more") : QString()));
        const Json& serves = want["serves_request"];
        ASSERT_EQ(settings->columns().size() > SettingsTable::Serves, !serves.is_null());
        if (!serves.is_null()) {
            EXPECT_EQ(
                settings->cell(row, SettingsTable::Serves).note == QStringLiteral("yes"), serves.get<bool>());
        }
        EXPECT_EQ(settings->cell(row, SettingsTable::Mallocs).text, this->count(want["device_mallocs"]));
        EXPECT_EQ(settings->cell(row, SettingsTable::Exact).note == QStringLiteral("exact"),
            want["exact"].get<bool>());
    }
    if (!samples)
        return;
    ASSERT_EQ(samples->at.size(), told["over"].size());
    for (std::size_t i = 0; i < samples->at.size(); ++i) {
        const model::Fragmentation& at = samples->at[i];
        const Json& want = told["over"][i];
        EXPECT_EQ(at.event, want["event"].get<std::int64_t>());
        EXPECT_EQ(at.reservedBytes, want["reserved_bytes"].get<std::int64_t>());
        EXPECT_EQ(at.freeBytes, want["free_bytes"].get<std::int64_t>());
        EXPECT_EQ(at.largestFreeBytes, want["largest_free_bytes"].get<std::int64_t>());
        EXPECT_EQ(at.exact, want["exact"].get<bool>());
        // The parts of the picture are all that is reserved.
        std::int64_t parts = 0;
        for (int p = 0; p < kReservedParts; ++p)
            parts += bytesOf(at, static_cast<ReservedPart>(p));
        EXPECT_EQ(parts, at.reservedBytes);
    }
}

TEST_P(AllocatorAgrees, InWhatToDo)
{
    const auto& page = driver().shown<Page>("summary");
    if (trace().outOfMemories().empty()) {
        EXPECT_TRUE(page.findChildren<AdviceList*>().isEmpty());
        const Json advice = json("summary", {})["advice"]; // which What-if would follow
        const bool isAdvised = std::ranges::any_of(
            advice, [&](const Json& row) { return row["device"].get<int>() == trace().device(); });
        EXPECT_EQ(test::shows(page, QStringLiteral("Do this")), isAdvised);
        return;
    }
    const Json told = json("oom", { "--device", std::to_string(trace().device()) })["devices"][0];
    const auto labels = page.findChildren<QLabel*>();
    const auto shows = [&](const QString& text) {
        return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text().contains(text); });
    };
    EXPECT_TRUE(shows(QStringLiteral("Do this")));
    const auto lists = page.findChildren<AdviceList*>();
    EXPECT_EQ(lists.isEmpty(), told["advice"].empty());
    for (const Json& advice : told["advice"]) {
        EXPECT_TRUE(shows(text::settingsVariable(advice["set"].get<std::string>())));
        EXPECT_TRUE(shows(bytes(advice["spare_bytes"]) + QStringLiteral(" to spare")));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Ours, AllocatorAgrees, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
