// SPDX-License-Identifier: GPL-3.0-or-later
// Every figure of the search against the command that it names, run by a shell.
#include "tests/gui/agreement/agreement_test.h"
#include "views/contents/search/search_box.h"
#include "views/contents/search/search_list.h"
#include "views/contents/search/search_palette.h"
#include "views/style/texts.h"

using namespace strata;
using namespace strata::views;

namespace {

using SearchAgrees = test::AgreementTest;

TEST_P(SearchAgrees, WithItsCommands)
{
    SearchBox& box = driver().searchBox();
    const model::BlockColumns& blocks = trace().blocks();
    QStringList texts{ QStringLiteral("train"), QStringLiteral("forward > 1 MiB"), QStringLiteral(".py:1"),
        QStringLiteral("= 512") };
    if (blocks.size() > 0)
        texts.append(text::address(blocks.address[blocks.at(blocks.size() / 2)]));
    int run = 0;
    for (const model::EventIndex event : { trace().totals().requestedPeakEvent, trace().eventCount() / 3 }) {
        select(event);
        for (const QString& typed : texts) {
            box.openPalette();
            box.clear();
            QTest::keyClicks(&box, typed);
            ASSERT_TRUE(test::eventually([&] { return box.popup()->shownText() == typed; }));
            const SearchRows& rows = box.popup()->list().rows();
            int ofText = 0;
            for (int row = 0; row < rows.rowCount() && ofText < 4; ++row) {
                const SearchItem* item = rows.itemAt(row);
                if (!item || item->command.isEmpty())
                    continue;
                const auto printed = runCopied(item->command);
                ASSERT_EQ(printed.size(), 1u) << qPrintable(item->command);
                const auto bytes = printed[0]["requested_bytes"].get<std::int64_t>();
                EXPECT_TRUE(
                    item->toolTip.contains(text::exactBytes(bytes) + QStringLiteral(" requested in ")))
                    << qPrintable(item->toolTip) << ": " << bytes;
                EXPECT_TRUE(item->figure.isEmpty() || item->figure == text::bytes(bytes))
                    << qPrintable(item->figure) << ": " << bytes;
                EXPECT_TRUE(item->toolTip.contains(text::counted(printed[0]["blocks"].get<std::int64_t>(),
                    QStringLiteral("1 block"), QStringLiteral("%1 blocks"))))
                    << qPrintable(item->toolTip);
                ++ofText;
                ++run;
            }
        }
    }
    EXPECT_TRUE(run > 0 || blocks.size() == 0);
}

INSTANTIATE_TEST_SUITE_P(Our, SearchAgrees, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
