// SPDX-License-Identifier: GPL-3.0-or-later
// The page Summary while a session still loads: it says from the digests what it says from the events.
#include "model/analysis/summary/summary.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "resources/resources.h"
#include "tests/gui/agreement/agreement_test.h"
#include "tests/gui/fresh_start.h"
#include "tests/integration/run_strata.h"
#include "views/contents/document/document_view.h"
#include "views/pages/summary/ledger_panel.h"
#include "views/pages/summary/share_list.h"
#include "views/pages/summary/summary_page.h"
#include "views/widgets/memory/curve_overview.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>

#include <gtest/gtest.h>

using namespace strata;
using namespace strata::views;

namespace {

/// Every text of the page and of its lists.
QStringList textsOf(const SummaryPage& page)
{
    page.findChild<LedgerPanel*>()->hide(); // of which an outline knows nothing
    QStringList texts = test::shownTexts(page);
    for (const ShareList* list : page.findChildren<ShareList*>())
        for (int row = 0; row < list->rowCount(); ++row)
            for (int column = 0; column < list->columnCount(); ++column)
                texts += list->item(row, column)->text();
    return texts;
}

const QWidget* contentOf(const SummaryPage& page)
{
    return page.findChild<QScrollArea*>()->widget();
}

class SummaryOutline : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override
    {
        initResources();
        qputenv("XDG_DATA_HOME", m_scratch.path().toUtf8());
        const auto session = model::Opener::openAll(GetParam());
        ASSERT_TRUE(session);
        m_digests = model::digestsOf((*session)->devices());
        ASSERT_TRUE(model::saveSession((*session)->recording(), path().toStdString(), m_digests));
        m_session = *session;
    }
    [[nodiscard]] QString path() const { return m_scratch.filePath(QStringLiteral("session.strata")); }

    /// Opens the session and stops once there is an outline: nothing of its events has come.
    void openOutline(Document& document)
    {
        QObject::connect(&document, &Document::outlineReady, &document, &Document::cancel);
        document.open(path());
        ASSERT_TRUE(test::eventually([&] { return document.state() == Document::State::Stopped; }));
        ASSERT_FALSE(document.session());
    }
    void openAll(Document& document)
    {
        document.leaveReplaysOut(); // of which an outline knows nothing
        document.open(path());
        ASSERT_TRUE(test::eventually([&] { return document.device() && !document.working(); }));
    }
    /// All that it has to say is made, and unfolded.
    static void finish(SummaryPage& page)
    {
        page.setUnfolded(
            { QStringLiteral("integrity"), QStringLiteral("numbers"), QStringLiteral("settings") });
        ASSERT_TRUE(test::eventually([&] { return !page.busy(); }));
    }

    QTemporaryDir m_scratch;
    Theme m_theme{ *qApp }; // the size of texts
    std::shared_ptr<const model::Session> m_session;
    std::vector<model::DeviceDigest> m_digests;
};

TEST_P(SummaryOutline, SaysWhatTheEventsSay)
{
    if (m_digests.empty())
        GTEST_SKIP() << "not exact: such a session has no digests";
    Document first, whole;
    SummaryPage early(first);
    openOutline(first);
    openAll(whole);
    SummaryPage late(whole);
    for (const model::DeviceTrace& trace : m_session->devices()) {
        SCOPED_TRACE(trace.device());
        first.viewState().setDevice(trace.device());
        whole.viewState().setDevice(trace.device());
        ASSERT_TRUE(test::eventually([&] { return whole.device() && !whole.working(); }));
        finish(early);
        finish(late);
        ASSERT_TRUE(first.summary());
        EXPECT_EQ(textsOf(early), textsOf(late));
        EXPECT_EQ(early.copyText(), late.copyText());
        const auto listsEarly = early.findChildren<ShareList*>(), listsLate = late.findChildren<ShareList*>();
        ASSERT_EQ(listsEarly.size(), listsLate.size());
        // A colour may be missing until the events are there; none is another one then.
        for (std::uint32_t group = 0; group < first.summary()->byLine->count(); ++group) {
            const auto same = whole.device()->byLine->find({ first.summary()->byLine->label(group) });
            ASSERT_TRUE(same);
            const int rank = first.summary()->lineRank[group];
            EXPECT_TRUE(rank == -1 || rank == whole.device()->lineRank[*same]);
        }
    }
}

TEST_P(SummaryOutline, SaysWhatTheCommandLineSays)
{
    if (m_digests.empty())
        GTEST_SKIP() << "not exact: such a session has no digests";
    Document document;
    SummaryPage page(document);
    openOutline(document);
    finish(page);
    const auto ran = test::strata({ "summary", path().toStdString(), "--json" });
    ASSERT_EQ(ran.code, 0) << ran.err;
    const nlohmann::json all = nlohmann::json::parse(ran.out);
    const auto text = [](const nlohmann::json& bytes) {
        return QString::fromStdString(model::formatBytes(bytes.get<std::int64_t>()));
    };
    for (std::size_t i = 0; i < all["devices"].size(); ++i) {
        const nlohmann::json& device = all["devices"][i];
        document.viewState().setDevice(device["device"]);
        finish(page);
        EXPECT_EQ(
            test::shownTexts(page).front().toStdString(), all["verdicts"][i]["text"].get<std::string>());
        const auto fits = std::ranges::find(
            all["fits"], device["device"], [](const nlohmann::json& one) { return one["device"]; });
        ASSERT_EQ(fits != all["fits"].end(), document.summary()->summary->needs.has_value());
        if (fits != all["fits"].end()) {
            const auto labels = page.findChildren<QLabel*>();
            EXPECT_TRUE(std::ranges::any_of(labels, [&](const QLabel* label) {
                return label->accessibleName().toStdString() == (*fits)["text"].get<std::string>();
            })) << (*fits)["text"];
        }
        const model::Totals& totals = document.summary()->summary->totals;
        EXPECT_EQ(totals.reservedBytesPeak, device["reserved_bytes_peak"].get<std::int64_t>());
        EXPECT_EQ(totals.requestedBytesPeak, device["requested_bytes_peak"].get<std::int64_t>());
        EXPECT_EQ(document.summary()->summary->peak.event, device["peak"]["event"].get<std::int64_t>());
        EXPECT_TRUE(test::shows(page, text(device["reserved_bytes_peak"])));
        EXPECT_TRUE(test::shows(page, text(device["requested_bytes_peak"])));
        EXPECT_TRUE(test::shows(page, text(device["requested_bytes_end"])));
        const auto lists = page.findChildren<ShareList*>();
        const nlohmann::json& groups = device["peak"]["groups"];
        ASSERT_EQ(lists.isEmpty(), groups.empty());
        for (int row = 0; !groups.empty() && row < std::min<int>(static_cast<int>(groups.size()), 10); ++row)
            EXPECT_EQ(
                lists.back()->item(row, 3)->text(), text(groups[static_cast<std::size_t>(row)]["bytes"]));
    }
}

TEST_P(SummaryOutline, StaysAsItIsWhenTheEventsCome)
{
    Document document;
    SummaryPage page(document);
    page.resize(1000, 300);
    page.show();
    const QWidget* atOutline = nullptr;
    QObject::connect(&document, &Document::outlineReady, &page, [&] {
        atOutline = contentOf(page);
        if (document.summary() && document.summary()->summary->totals.events > 0)
            document.viewState().select(EventRange{ 0, 0 });
        EXPECT_EQ(document.state(), Document::State::Loading);
    });
    openAll(document);
    finish(page);
    EXPECT_EQ(atOutline != nullptr, !m_digests.empty()) << "without digests the events say it";
    if (!atOutline)
        return;
    EXPECT_EQ(contentOf(page), atOutline) << "the page was made anew";
    const auto* picture = page.findChild<CurveOverview*>();
    ASSERT_EQ(picture != nullptr, document.device()->trace->eventCount() > 0);
    if (picture) {
        EXPECT_FALSE(picture->waits());
    }
    if (document.device()->trace->eventCount() > 0) {
        EXPECT_EQ(document.viewState().selection(), (EventRange{ 0, 0 }));
    }
    // What was clicked in between is told of once there is a device.
    if (auto lists = page.findChildren<ShareList*>(); !lists.isEmpty()) {
        QSignalSpy focus(&page, &Page::focusChanged);
        Q_EMIT lists.back()->cellClicked(0, 0);
        EXPECT_EQ(focus.count(), 1);
    }
}

TEST_P(SummaryOutline, OfADigestThatIsWrongGivesWay)
{
    if (m_digests.empty() || m_digests.front().peak.empty())
        GTEST_SKIP() << "nothing to lie about";
    // It still adds up, so that it is believed.
    m_digests.front().peak.front().blocks += 7;
    ASSERT_TRUE(model::saveSession(m_session->recording(), path().toStdString(), m_digests));
    Document document;
    SummaryPage page(document);
    QSignalSpy outline(&document, &Document::outlineReady), wrong(&document, &Document::outlineWrong);
    openAll(document);
    document.viewState().setDevice(m_digests.front().device);
    ASSERT_TRUE(test::eventually([&] { return document.device() && !document.working(); }));
    finish(page);
    EXPECT_EQ(outline.count(), 1);
    EXPECT_EQ(wrong.count(), 1);
    SummaryPage right(document);
    finish(right);
    EXPECT_EQ(textsOf(page), textsOf(right));
    EXPECT_EQ(document.summary()->summary->peak.blocks, document.device()->summary->peak.blocks);
}

INSTANTIATE_TEST_SUITE_P(Our, SummaryOutline, testing::ValuesIn(test::ourRecordings()), test::recordingName);

/// A view with every page, of a document that has an outline and no more.
class OutlineView : public testing::Test {
protected:
    OutlineView()
    {
        initResources();
        while (m_view.addNextPage()) { }
        m_view.resize(1280, 800);
    }
    void expectEverywhere(const char* part)
    {
        for (const char* id : { "memory", "flame", "blocks", "events", "notes" })
            EXPECT_TRUE(test::shows(*m_view.findPage(QLatin1String(id)), QLatin1String(part))) << id;
    }

    const QString m_path
        = QStringLiteral(STRATA_TEST_DATA "/../../resources/samples/gpt2_124m_bf16_train.strata");
    Theme m_theme{ *qApp };
    Document m_document;
    DocumentView m_view{ m_document };
};

TEST_F(OutlineView, OtherPagesSayThatTheyAreStillLoading)
{
    bool asked = false;
    QObject::connect(&m_document, &Document::outlineReady, &m_view, [&] {
        asked = true;
        expectEverywhere("Still loading");
    });
    m_document.open(m_path);
    ASSERT_TRUE(test::eventually([&] { return m_document.device() && !m_document.working(); }));
    EXPECT_TRUE(asked);
    for (const Page* page : m_view.pages())
        EXPECT_FALSE(test::shows(*page, QStringLiteral("Still loading"))) << qPrintable(page->id());
}

TEST_F(OutlineView, OtherPagesSayThatLoadingWasCancelled)
{
    QObject::connect(&m_document, &Document::outlineReady, &m_document, &Document::cancel);
    m_document.open(m_path);
    ASSERT_TRUE(test::eventually([&] { return m_document.state() == Document::State::Stopped; }));
    expectEverywhere("Loading was cancelled");
    EXPECT_FALSE(m_document.working());
    ASSERT_TRUE(test::jobsEnd());
    EXPECT_FALSE(m_document.session()) << "nothing of the cancelled load arrives later";
    const Page& summary = *m_view.findPage(QStringLiteral("summary"));
    ASSERT_TRUE(test::eventually([&] { return !summary.busy(); }));
    EXPECT_TRUE(test::shows(summary, QStringLiteral("What fills the peak")));
    const auto* picture = summary.findChild<CurveOverview*>();
    ASSERT_TRUE(picture) << "its room is kept";
    EXPECT_TRUE(picture->waits());
    EXPECT_EQ(picture->accessibleDescription(), QStringLiteral("Loading was cancelled"));
}

} // namespace
