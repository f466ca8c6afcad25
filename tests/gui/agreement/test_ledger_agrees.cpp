// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger on the page Summary against `strata ledger --json`.
#include "model/analysis/training/roles/category.h"
#include "tests/gui/agreement/agreement_test.h"
#include "views/models/document/ledger_source.h"
#include "views/pages/parts/bar_list.h"
#include "views/pages/summary/ledger_panel.h"
#include "views/pages/summary/module_tree.h"
#include "views/pages/summary/rules_dialog.h"
#include "views/pages/tables/blocks_page.h"

#include <QBuffer>
#include <QSignalSpy>

#include <functional>

using namespace strata;
using namespace strata::views;

namespace {

class LedgerAgrees : public test::AgreementTest {
protected:
    Page& page() { return driver().shown<Page>("summary"); }
    LedgerPanel* panel() { return page().findChild<LedgerPanel*>(); }
    void chooseModules(bool byModule)
    {
        page().findChild<LedgerSource*>()->setByModule(byModule);
        settle();
    }

    /// For each device and instant worth a look, and where nothing is selected: what `strata ledger` says.
    void everywhere(
        const std::vector<std::string>& arguments, const std::function<void(nlohmann::json)>& check)
    {
        for (const nlohmann::json& device : json("summary")["devices"]) {
            SCOPED_TRACE("device " + device["device"].dump());
            driver().state().setDevice(device["device"]);
            driver().state().select(std::nullopt);
            settle();
            if (device["requested_bytes_peak"] == 0) {
                EXPECT_FALSE(panel());
                continue;
            }
            std::vector<std::string> all = arguments;
            all.insert(all.end(), { "--device", device["device"].dump() });
            check(json("ledger", all));
            for (const model::EventIndex event : instants()) {
                SCOPED_TRACE(event);
                select(event);
                std::vector<std::string> at = all;
                at.insert(at.begin(), std::to_string(event));
                check(json("ledger", at));
            }
        }
    }

    /// The figures of a line of the ledger.
    struct Shown {
        QString bytes, share, about, all;
    };
    std::optional<Shown> line(const QString& label)
    {
        const auto* list = page().findChild<BarList*>(QStringLiteral("ledger"));
        for (int r = 0; list && r < list->rowCount(); ++r)
            if (list->item(r, 0)->text().startsWith(label)) {
                QString all;
                for (int c = 2; c < list->columnCount(); ++c)
                    all += list->item(r, c)->text() + QLatin1Char('|');
                return Shown{ list->item(r, 3)->text(), list->item(r, 2)->text(), list->item(r, 0)->toolTip(),
                    all };
            }
        ADD_FAILURE() << "no line " << label.toStdString();
        return std::nullopt;
    }
    void expectLine(const char* label, const nlohmann::json& value)
    {
        const auto shown = line(QLatin1String(label));
        ASSERT_TRUE(shown);
        EXPECT_EQ(shown->bytes, value.is_null() ? QStringLiteral("unknown") : bytes(value)) << label;
        if (!value.is_null()) {
            EXPECT_TRUE(shown->about.contains(exact(value))) << label << ": " << qPrintable(shown->about);
        }
    }
    void expectRow(const nlohmann::json& row, const nlohmann::json& ledger)
    {
        const auto category = model::categoryFromWord(row["category"].get<std::string>());
        ASSERT_TRUE(category);
        const auto shown = line(QString::fromStdString(std::string(model::categoryTitle(*category).text())));
        ASSERT_TRUE(shown);
        EXPECT_EQ(shown->bytes, bytes(row["bytes"]));
        EXPECT_EQ(shown->share.toStdString(),
            model::formatShare(row["bytes"], ledger["requested_bytes"].get<std::int64_t>()));
        EXPECT_TRUE(shown->about.contains(exact(row["bytes"])));
        EXPECT_TRUE(shown->about.contains(count(row["blocks"]) + QStringLiteral(" block")));
        for (const char* key : { "bytes_per_parameter", "expected_bytes_per_parameter" })
            if (!row[key].is_null()) {
                EXPECT_TRUE(shown->all.contains(QString::number(row[key].get<double>(), 'g', 3))) << key;
            }
        if (row["blocks"] > 0 && *category != model::Category::Unknown) {
            const bool some = row["recorded_bytes"] > 0, likely = row["certainty"] == "likely";
            const char* source = some ? "recorded" : likely ? "probably" : "shown by stack traces";
            EXPECT_TRUE(shown->all.endsWith(QLatin1String(source) + QLatin1Char('|')))
                << qPrintable(shown->all);
            EXPECT_EQ(shown->all.contains(QLatin1String("probably")), likely) << qPrintable(shown->all);
        }
        if (!row["note"].is_null()) {
            EXPECT_TRUE(shown->about.contains(QString::fromStdString(row["note"].get<std::string>())));
        }
    }
};

TEST_P(LedgerAgrees, InEveryLine)
{
    everywhere({}, [&](const nlohmann::json& ledger) {
        const auto* list = page().findChild<BarList*>(QStringLiteral("ledger"));
        ASSERT_TRUE(list);
        std::int64_t sum = 0;
        for (const nlohmann::json& row : ledger["rows"]) {
            expectRow(row, ledger);
            sum += row["bytes"].get<std::int64_t>();
        }
        EXPECT_EQ(sum, ledger["requested_bytes"]);
        expectLine("Requested", ledger["requested_bytes"]);
        expectLine("Rounding", ledger["rounding_bytes"]);
        expectLine("Fragmentation", ledger["fragmentation_bytes"]);
        expectLine("Cached", ledger["cached_free_bytes"]);
        expectLine("Reserved", ledger["reserved_bytes"]);
        expectLine("Outside PyTorch", ledger["outside_bytes"]);
        if (ledger["pending_free_bytes"] > 0)
            expectLine("Pending free", ledger["pending_free_bytes"]);
        for (const nlohmann::json& surprise : ledger["surprises"]) {
            EXPECT_TRUE(test::shows(
                *panel(), QString::fromStdString(surprise.get<std::string>()) + QLatin1Char('.')));
        }
        const bool known = !ledger["rounding_bytes"].is_null();
        const std::int64_t rest = ledger["reserved_bytes"].get<std::int64_t>() - sum
            - (known ? ledger["rounding_bytes"].get<std::int64_t>() : 0)
            - ledger["fragmentation_bytes"].get<std::int64_t>()
            - ledger["cached_free_bytes"].get<std::int64_t>();
        if (known) {
            EXPECT_EQ(rest, 0);
        }
        EXPECT_EQ(test::shows(*panel(), QStringLiteral("add up to all that is reserved")), rest >= 0);
    });
}

TEST_P(LedgerAgrees, InEveryModule)
{
    settle();
    if (!panel())
        GTEST_SKIP() << "no memory";
    chooseModules(true);
    everywhere({ "--by", "module" }, [&](const nlohmann::json& ledger) {
        const auto* tree = page().findChild<ModuleTree*>();
        ASSERT_TRUE(tree);
        std::size_t next = 0;
        const std::function<void(const QTreeWidgetItem&, int)> compare
            = [&](const QTreeWidgetItem& item, int depth) {
                  ASSERT_LT(next, ledger["rows"].size());
                  const nlohmann::json& row = ledger["rows"][next++];
                  EXPECT_EQ(row["depth"], depth);
                  EXPECT_EQ(item.toolTip(6), exact(row["total"]["bytes"]));
                  EXPECT_EQ(item.toolTip(1), exact(row["total"]["parameter_bytes"]));
                  EXPECT_EQ(item.toolTip(2), exact(row["total"]["gradient_bytes"]));
                  EXPECT_EQ(item.toolTip(3), exact(row["total"]["optimizer_state_bytes"]));
                  EXPECT_EQ(item.toolTip(4), exact(row["total"]["activation_bytes"]));
                  if (!row["module"].is_null()) {
                      EXPECT_EQ(item.toolTip(0).toStdString(), row["module"].get<std::string>());
                  }
                  for (int i = 0; i < item.childCount(); ++i)
                      compare(*item.child(i), depth + 1);
              };
        const int modules = tree->topLevelItemCount() - 1;
        for (int i = 0; i < modules; ++i)
            compare(*tree->topLevelItem(i), 0);
        EXPECT_EQ(next, ledger["rows"].size());
        if (modules >= 0) {
            EXPECT_EQ(tree->topLevelItem(modules)->toolTip(6), exact(ledger["requested_bytes"]));
        }
    });
}

TEST_P(LedgerAgrees, InTheBlocksThatAModuleLeadsTo)
{
    settle();
    if (!panel())
        GTEST_SKIP() << "no memory";
    const model::EventIndex peak = trace().totals().requestedPeakEvent;
    select(peak);
    constexpr int kMost = 8;
    int chosen = 0;
    for (const nlohmann::json& row : json("ledger", { "peak", "--by", "module" })["rows"]) {
        if (row["total"]["bytes"] == 0 || row["depth"] > 1 || ++chosen > kMost)
            continue;
        const std::string path = row["module"].is_null() ? std::string() : row["module"].get<std::string>();
        SCOPED_TRACE(path);
        chooseModules(true);
        Q_EMIT panel()->moduleChosen(path, peak);
        ASSERT_EQ(driver().currentPage(), QStringLiteral("blocks"));
        const auto& blocks = driver().shown<BlocksPage>("blocks");
        EXPECT_EQ(blocks.model().rows()->sums().first, row["total"]["bytes"]);
        driver().state().setFilter({});
        (void)page();
    }
}

TEST_P(LedgerAgrees, InWhatMakesThePeak)
{
    settle();
    if (!panel())
        GTEST_SKIP() << "no memory";
    select(trace().totals().requestedPeakEvent);
    const nlohmann::json ledger = json("ledger", { "peak" });
    std::vector<nlohmann::json> spikes;
    for (const nlohmann::json& spike : ledger["spikes"])
        if (spike["peak_without_bytes"] < ledger["requested_bytes"])
            spikes.push_back(spike);
    const auto* list = page().findChild<BarList*>(QStringLiteral("spikes"));
    ASSERT_EQ(list != nullptr, !spikes.empty());
    if (!list)
        return;
    ASSERT_EQ(list->rowCount(), std::min<int>(static_cast<int>(spikes.size()), 5));
    for (int r = 0; r < list->rowCount(); ++r) {
        const nlohmann::json& spike = spikes[static_cast<std::size_t>(r)];
        const QString about = list->item(r, 0)->toolTip();
        EXPECT_TRUE(
            about.startsWith(QString::fromStdString(spike["line"].get<std::string>()) + QLatin1Char('\n')));
        EXPECT_EQ(list->item(r, 2)->text(), bytes(spike["bytes"]));
        EXPECT_EQ(list->item(r, 3)->text(), bytes(spike["peak_without_bytes"]));
        EXPECT_TRUE(about.contains(exact(spike["peak_without_bytes"])));
        EXPECT_TRUE(about.contains(count(spike["peak_without_event"])));
        EXPECT_EQ(list->item(r, 4)->text(),
            bytes(ledger["requested_bytes"].get<std::int64_t>()
                - spike["peak_without_bytes"].get<std::int64_t>()));
    }
}

TEST_P(LedgerAgrees, WithTheCommandLineAndTheTableThatItCopies)
{
    settle();
    if (!panel())
        GTEST_SKIP() << "no memory";
    for (const bool selected : { false, true }) {
        if (selected)
            select(trace().eventCount() / 2 - 1);
        const auto copied = runCopied(panel()->commandLine());
        ASSERT_EQ(copied.size(), 1u);
        QBuffer csv;
        ASSERT_TRUE(csv.open(QIODevice::WriteOnly) && panel()->writeCsv(csv));
        for (const nlohmann::json& row : copied[0]["rows"]) {
            const std::string expected = row["category"].get<std::string>() + ',' + row["bytes"].dump() + ','
                + row["blocks"].dump() + ',' + row["recorded_bytes"].dump() + ',';
            EXPECT_TRUE(csv.data().contains('\n' + QByteArray::fromStdString(expected))) << expected;
        }
        EXPECT_TRUE(csv.data().contains(
            "\nreserved," + QByteArray::fromStdString(copied[0]["reserved_bytes"].dump()) + ','));
    }
}

TEST_P(LedgerAgrees, InCategoriesOfTheUsersOwn)
{
    settle();
    if (!panel())
        GTEST_SKIP() << "no memory";
    // Those of a snapshot lie beside the user's own files.
    const QTemporaryDir folder;
    const QByteArray before = qgetenv("XDG_DATA_HOME");
    qputenv("XDG_DATA_HOME", folder.path().toUtf8());
    select(trace().totals().requestedPeakEvent);
    QSignalSpy kept(&driver().document(), &Document::userKept);
    model::UserData user = driver().state().user();
    user.setRules(R"({"rules": [{"category": "input", "min_bytes": 4096, "max_bytes": "1MiB"},
        {"category": "communication", "min_bytes": "1MiB"}, {"category": "workspace", "frame": "never"}]})",
        1);
    driver().state().setUser(user);
    ASSERT_TRUE(test::eventually([&] { return !kept.isEmpty(); }));
    settle();
    const nlohmann::json ledger = json("ledger", { "peak" });
    ASSERT_EQ(ledger["rules"].size(), 3u) << "they are those of the command, too";
    for (const nlohmann::json& row : ledger["rows"])
        expectRow(row, ledger);
    Q_EMIT panel()->rulesAsked();
    auto* dialog = page().findChild<RulesDialog*>();
    ASSERT_TRUE(dialog);
    const auto* list = dialog->findChild<BarList*>();
    ASSERT_TRUE(test::eventually([&] { return list->rowCount() == 3; }));
    for (int r = 0; r < 3; ++r) {
        const nlohmann::json& rule = ledger["rules"][static_cast<std::size_t>(r)];
        EXPECT_EQ(list->item(r, 3)->text(), bytes(rule["bytes"]));
        EXPECT_EQ(list->item(r, 0)->toolTip(), exact(rule["bytes"]));
        EXPECT_EQ(list->item(r, 4)->text(), count(rule["blocks"]));
    }
    dialog->reject();
    before.isNull() ? qunsetenv("XDG_DATA_HOME") : qputenv("XDG_DATA_HOME", before);
}

INSTANTIATE_TEST_SUITE_P(Our, LedgerAgrees, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
