// SPDX-License-Identifier: GPL-3.0-or-later
// The Summary page and the status bar against `strata summary --json`.
#include "tests/gui/agreement/agreement_test.h"
#include "views/pages/parts/code_row.h"
#include "views/pages/parts/fold_section.h"
#include "views/pages/summary/oom_panel.h"
#include "views/pages/summary/share_list.h"
#include "views/shell/status_bar.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

using namespace strata;
using namespace strata::views;

namespace {

class SummaryAgrees : public test::AgreementTest {
protected:
    Page& page() { return driver().shown<Page>("summary"); }

    struct Shown {
        QString value, exact;
    };
    /// The figure beside a label of the page, below a heading; nothing if the page does not have it.
    std::optional<Shown> fact(const QString& label)
    {
        for (const auto* grid : page().findChildren<QGridLayout*>())
            for (int row = 0; row < grid->rowCount(); ++row)
                if (textAt(*grid, row, 0) == label)
                    return Shown{ textAt(*grid, row, 1), textAt(*grid, row, 2) };
        return std::nullopt;
    }

    /// Also where one has to scroll for it.
    bool hasHeading(const QString& text)
    {
        const auto labels = page().findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(),
            [&](const QLabel* label) { return label->text() == text && label->isVisibleTo(&page()); });
    }

    /// A figure of the waste at the peak and its share, with bounds where it has some.
    void expectWaste(const char* label, const nlohmann::json& waste, const char* key)
    {
        const auto shown = fact(QLatin1String(label));
        ASSERT_TRUE(shown) << label;
        std::int64_t least = waste[key], most = waste[key];
        if (!waste["bounds"].is_null() && waste["bounds"].contains(key)) {
            least = waste["bounds"][key][0];
            most = waste["bounds"][key][1];
        }
        const QString prefix = least == most ? QString() : QStringLiteral("≤ ");
        EXPECT_EQ(shown->value,
            least < most && least > 0 ? bytes(least) + QStringLiteral(" to ") + bytes(most)
                                      : prefix + bytes(most))
            << label;
        const double share = 100.0 * static_cast<double>(most) / waste["reserved"].get<double>();
        EXPECT_TRUE(shown->exact.startsWith(prefix
            + (share > 0 && share < 0.05 ? QStringLiteral("< 0.1 %")
                                         : QStringLiteral("%1 %").arg(share, 0, 'f', 1))))
            << label << ": " << qPrintable(shown->exact);
    }

    void expectFigures(const nlohmann::json& all, const nlohmann::json& device)
    {
        const auto expectBytes = [&](const char* label, const nlohmann::json& value) {
            const auto shown = fact(QString::fromUtf8(label));
            ASSERT_TRUE(shown) << label;
            EXPECT_EQ(shown->value, bytes(value)) << label;
            EXPECT_EQ(shown->exact, exact(value)) << label;
        };
        expectBytes("reserved, peak", device["reserved_bytes_peak"]);
        expectBytes("requested, peak", device["requested_bytes_peak"]);
        expectBytes("reserved, end", device["reserved_bytes_end"]);
        expectBytes("active, end", device["active_bytes_end"]);
        expectBytes("allocated, end", device["allocated_bytes_end"]);
        expectBytes("requested, end", device["requested_bytes_end"]);
        if (device["requested_bytes_start"] > 0)
            expectBytes("requested, start", device["requested_bytes_start"]);
        else {
            EXPECT_FALSE(fact(QStringLiteral("requested, start")));
        }
        expectBytes("file", all["file_bytes"]);

        const auto expectCount = [&](const char* label, const nlohmann::json& value) {
            const auto shown = fact(QString::fromUtf8(label));
            ASSERT_TRUE(shown) << label;
            EXPECT_EQ(shown->value, count(value)) << label;
        };
        expectCount("events", device["events"]);
        expectCount("segments, end", device["segments"]);
        expectCount("blocks, end", device["blocks"]);
        if (all["annotations"] > 0)
            expectCount("annotations", all["annotations"]);
        EXPECT_EQ(fact(QStringLiteral("format"))->value.toStdString(), all["format"].get<std::string>());

        const nlohmann::json& settings = device["settings"];
        if (settings.contains("simulated_device")) {
            expectBytes("capacity", settings["simulated_device"]["capacity_bytes"]);
            EXPECT_TRUE(hasHeading(QStringLiteral("Simulated device")));
        }

        expectBytes("free in segments, end", device["waste"]["free_in_segments"]);
        expectBytes("rounding, end", device["waste"]["rounding"]);
        expectBytes("pending free, end", device["waste"]["pending_free"]);
        for (const nlohmann::json& waste : all["waste_at_peak"]) {
            if (waste["device"] != device["device"])
                continue;
            for (const auto& [label, key] : { std::pair("free in segments", "free_in_segments"),
                     { "rounding", "rounding" }, { "pending free", "pending_free" } })
                expectWaste(label, waste, key);
        }
        for (const nlohmann::json& driver : all["driver"]) {
            if (driver["device"] != device["device"])
                continue;
            for (const auto& [label, key] : { std::pair("all processes", "used_bytes_peak"),
                     { "this process", "process_bytes_peak" }, { "outside PyTorch", "outside_bytes_peak" } })
                if (!driver[key].is_null())
                    expectBytes(label, driver[key]);
        }
        if (!all["host_memory"].is_null() && all["host_memory"]["segments"] > 0) {
            EXPECT_TRUE(hasHeading(QStringLiteral("Pinned host memory")));
        }
    }

private:
    static QString textAt(const QGridLayout& grid, int row, int column)
    {
        const QLayoutItem* item = grid.itemAtPosition(row, column);
        if (const auto* label = item ? qobject_cast<QLabel*>(item->widget()) : nullptr)
            return label->text();
        if (const auto* button = item ? qobject_cast<QPushButton*>(item->widget()) : nullptr)
            return button->text();
        return {};
    }
};

TEST_P(SummaryAgrees, InEveryFigure)
{
    const nlohmann::json all = json("summary");
    ASSERT_FALSE(all["devices"].empty());
    for (const nlohmann::json& device : all["devices"]) {
        SCOPED_TRACE("device " + device["device"].dump());
        driver().state().setDevice(device["device"]);
        settle();
        expectFigures(all, device);
    }
}

TEST_P(SummaryAgrees, InVerdictOutOfMemoryAndIntegrity)
{
    const nlohmann::json all = json("summary");
    const nlohmann::json& device = all["devices"][0];
    const std::string verdict = all["verdicts"][0]["text"].get<std::string>();
    EXPECT_EQ(test::shownTexts(page()).front().toStdString(), verdict);

    const auto panels = page().findChildren<OomPanel*>();
    ASSERT_EQ(panels.isEmpty(), device["oom"].empty());
    if (!panels.isEmpty()) {
        EXPECT_TRUE(verdict.starts_with("Out of memory")) << verdict;
        const nlohmann::json& oom = device["oom"].back();
        const QStringList texts = test::shownTexts(*panels.front());
        const auto expect = [&](const char* label, const QString& value) {
            const qsizetype at = texts.indexOf(QLatin1String(label));
            ASSERT_GE(at, 0) << label;
            EXPECT_EQ(texts[at + 1], value) << label;
        };
        expect("asked", bytes(oom["requested"]));
        expect("driver free", bytes(oom["device_free"]));
        expect("reserved by PyTorch", bytes(oom["reserved"]));
        const bool bound = !all["bounds"].empty();
        expect("free inside segments",
            (bound ? QStringLiteral("≤ ") : QString()) + bytes(oom["free_in_segments"]));
    }

    const std::size_t breaches = device["integrity"]["breaches"].size();
    const std::size_t notes = device["integrity"]["notes"].size();
    QString integrity = breaches == 0
        ? QStringLiteral("totals exact")
        : QStringLiteral("%1 breach%2").arg(breaches).arg(QLatin1String(breaches == 1 ? "" : "es"));
    if (notes > 0)
        integrity += QStringLiteral(", %1 note%2").arg(notes).arg(QLatin1String(notes == 1 ? "" : "s"));
    EXPECT_EQ(device["integrity"]["exact"].get<bool>(), breaches == 0);
    const auto* fold = page().findChild<FoldSection*>(QStringLiteral("integrity"));
    EXPECT_TRUE(test::shows(*fold, integrity)) << qPrintable(integrity);
    EXPECT_EQ(fold->isOpen(), breaches + notes > 0) << "folded while nothing is wrong";
    EXPECT_TRUE(test::shows(driver().window().status(), integrity)) << qPrintable(integrity);
    EXPECT_TRUE(test::shows(driver().window().status(), bytes(all["file_bytes"])));
}

TEST_P(SummaryAgrees, InTheCardsThatItFitsOn)
{
    const nlohmann::json all = json("summary");
    for (const nlohmann::json& device : all["devices"]) {
        SCOPED_TRACE("device " + device["device"].dump());
        driver().state().setDevice(device["device"]);
        settle();
        const nlohmann::json* fits = nullptr;
        for (const nlohmann::json& one : all["fits"])
            if (one["device"] == device["device"])
                fits = &one;
        const auto most = std::max({ device["reserved_bytes_peak"].get<std::int64_t>(),
            device["reserved_bytes_end"].get<std::int64_t>(),
            device["requested_bytes_peak"].get<std::int64_t>() });
        ASSERT_EQ(fits != nullptr, most > 0);
        if (!fits)
            continue;
        EXPECT_GE((*fits)["needed_bytes"], most);
        EXPECT_TRUE((*fits)["at_least"] || (*fits)["needed_bytes"] == most);
        QString shown = test::shownTexts(page()).at(1);
        if (const auto* command = page().findChild<CodeRow*>(); command && shown.endsWith(QLatin1Char(':')))
            shown += QLatin1Char(' ') + command->findChild<QLineEdit*>()->text();
        EXPECT_EQ(shown.toStdString(), (*fits)["text"].get<std::string>());
        const QLabel* line = nullptr;
        for (const auto* label : page().findChildren<QLabel*>())
            if (label->accessibleName().toStdString() == (*fits)["text"].get<std::string>())
                line = label;
        ASSERT_TRUE(line);
        std::int64_t before = 0;
        for (const nlohmann::json& card : (*fits)["cards"]) {
            const auto capacity = card["capacity_bytes"].get<std::int64_t>();
            const auto margin = card["margin_bytes"].get<std::int64_t>();
            EXPECT_GE(capacity, std::exchange(before, capacity)) << "the smallest first";
            EXPECT_EQ(margin, capacity - (*fits)["needed_bytes"].get<std::int64_t>());
            const std::string word = card["fits"].get<std::string>();
            const auto least = (*fits)["least_outside_bytes"].get<std::int64_t>();
            const bool compared = word != "not_comparable";
            EXPECT_EQ(word == "no", compared && margin < least);
            EXPECT_EQ(word == "unknown", compared && margin >= least && (*fits)["at_least"].get<bool>());
            EXPECT_EQ(word == "tight",
                compared && margin >= least && margin < (*fits)["outside_bytes"].get<std::int64_t>()
                    && !(*fits)["at_least"].get<bool>());
            const QString left = word == "unknown" ? QStringLiteral("not known")
                : word == "not_comparable"         ? QStringLiteral("other kernels: dry-run on it")
                : word == "no"                     ? bytes(least - margin) + QStringLiteral(" too little")
                                                   : bytes(margin) + QStringLiteral(" left");
            EXPECT_TRUE(line->toolTip().contains(
                QString::fromStdString(card["name"].get<std::string>()) + QStringLiteral("</td><td>") + left))
                << qPrintable(left);
        }
    }
}

TEST_P(SummaryAgrees, InWhatFillsThePeak)
{
    const nlohmann::json all = json("summary");
    const nlohmann::json& device = all["devices"][0];
    const auto lists = page().findChildren<ShareList*>();
    if (device["peak"]["groups"].empty()) {
        EXPECT_TRUE(lists.isEmpty());
        return;
    }
    const auto compare = [&](const ShareList& list, const nlohmann::json& groups, std::int64_t whole) {
        for (int row = 0; row < list.rowCount(); ++row) {
            const auto text = [&](int column) { return list.item(row, column)->text(); };
            std::int64_t sum = 0, blocks = 0;
            const bool rest = row == 10;
            for (std::size_t g = static_cast<std::size_t>(row); g < groups.size(); ++g) {
                sum += groups[g]["bytes"].get<std::int64_t>();
                blocks += groups[g]["blocks"].get<std::int64_t>();
                if (!rest || groups.size() == 11)
                    break;
            }
            EXPECT_EQ(text(3), bytes(sum));
            EXPECT_EQ(list.item(row, 3)->toolTip(), exact(sum));
            EXPECT_EQ(text(4),
                count(blocks) + (blocks == 1 ? QStringLiteral(" block") : QStringLiteral(" blocks")));
            const double share = 100.0 * static_cast<double>(sum) / static_cast<double>(whole);
            if (sum == 0 || share >= 0.05) {
                EXPECT_EQ(text(2), QStringLiteral("%1 %").arg(share, 0, 'f', 1));
            } else {
                EXPECT_EQ(text(2), QStringLiteral("< 0.1 %"));
            }
            if (!rest || groups.size() == 11) {
                const QString key
                    = QString::fromStdString(groups[static_cast<std::size_t>(row)]["key"].get<std::string>());
                EXPECT_TRUE(text(0).startsWith(key.mid(key.lastIndexOf(QLatin1Char('/')) + 1)))
                    << qPrintable(text(0));
            }
        }
    };
    compare(*lists.back(), device["peak"]["groups"], device["requested_bytes_peak"].get<std::int64_t>());
    EXPECT_EQ(lists.back()->rowCount(), std::min<int>(static_cast<int>(device["peak"]["groups"].size()), 11));
    if (device["oom"].empty())
        return;
    const nlohmann::json at = json("at", { "oom" });
    ASSERT_EQ(lists.size(), 2);
    compare(*lists.front(), at["groups"], at["requested_bytes"].get<std::int64_t>());
    EXPECT_TRUE(test::shows(page(), QStringLiteral("of %1 requested:").arg(bytes(at["requested_bytes"]))));
}

TEST_P(SummaryAgrees, WithTheCommandLineThatItCopies)
{
    const auto copied = runCopied(page().commandLine());
    ASSERT_EQ(copied.size(), 1u);
    EXPECT_EQ(copied[0]["verdicts"][0]["text"], json("summary")["verdicts"][0]["text"]);
}

INSTANTIATE_TEST_SUITE_P(Our, SummaryAgrees, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
