// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_page.h"

#include "tests/gui/allocator/replayed.h"
#include "tests/gui/timeline/made_trace.h"
#include "views/widgets/timeline/lane_words.h"
#include "views/widgets/timeline/work_callers.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace strata;
using namespace strata::views;

namespace {

/// A module's forward, and its backward on autograd's thread, which Python does not know of.
std::string forwardAndBackward()
{
    using test::row;
    const std::string sequence = R"("Sequence number":7)";
    std::string rows = row("python_function", "<built-in method run>", 1, 2, 0, 1000);
    rows += "," + row("python_function", "train.py(31): step", 1, 2, 1, 900);
    rows += "," + row("python_function", "nn.Module: Linear_0", 1, 2, 10, 300);
    rows += "," + row("python_function", "torch/nn/modules/linear.py(124): forward", 1, 2, 20, 280);
    rows += "," + row("cpu_op", "aten::linear", 1, 2, 30, 200, sequence);
    rows += "," + row("cpu_op", "aten::addmm", 1, 2, 40, 150, sequence);
    rows += "," + row("cuda_runtime", "cudaLaunchKernel", 1, 2, 50, 5, R"("correlation":1)");
    rows += "," + row("kernel", "gemm", 0, 7, 60, 40, R"("correlation":1,"device":0,"stream":7)");
    rows += "," + row("cpu_op", "AddmmBackward0", 1, 3, 500, 100, sequence + R"(,"Fwd thread id":2)");
    rows += "," + row("cpu_op", "aten::mm", 1, 3, 510, 50);
    rows += "," + row("cuda_runtime", "cudaLaunchKernel", 1, 3, 520, 5, R"("correlation":2)");
    rows += "," + row("kernel", "gemm_backward", 0, 7, 540, 40, R"("correlation":2,"device":0,"stream":7)");
    return R"({"traceEvents":[)" + rows + "]}";
}

TEST(PythonPlace, IsReadFromTheNamesOfProfilers)
{
    const auto place = pythonPlaceOf("train.py(57): forward(x): y");
    ASSERT_TRUE(place);
    EXPECT_EQ(place->file, "train.py");
    EXPECT_EQ(place->line, 57);
    EXPECT_EQ(place->function, "forward(x): y");
    EXPECT_EQ(pythonPlaceOf("/a (b)/c.py(3): f")->file, "/a (b)/c.py");
    for (const char* name : { "nn.Module: Linear_0", "<built-in method run of X object at 0x7f>", "(3): f",
             "", "a.py(x): f", "a.py(3)", "<string>(1): f" })
        EXPECT_FALSE(pythonPlaceOf(name)) << name;
}

class Jumps : public testing::Test, protected test::WindowFont {
protected:
    Jumps()
        : m_page(m_document)
        , m_focus(&m_page, &Page::focusChanged)
        , m_opened(&m_page, &Page::openPage)
    {
        m_page.setPalette(Palette::light());
        m_page.resize(1200, 800);
        m_page.QWidget::show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_page));
    }
    void open(const QString& path, bool hasDevice = true)
    {
        m_document.open(path);
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                return m_document.state() == Document::State::Ready && lanes().data() && !m_page.busy()
                    && (!hasDevice || m_document.device());
            },
            20'000))
            << m_document.error().text();
        lanes().setFocus();
    }
    void openMade()
    {
        const QString path = m_folder.filePath(QStringLiteral("trace.json"));
        ASSERT_TRUE(test::write(path, forwardAndBackward()));
        open(path, false);
    }
    [[nodiscard]] LanesView& lanes() const { return m_page.lanes(); }
    [[nodiscard]] std::uint32_t pieceOf(std::string_view name, int number = 0) const
    {
        const LanesData& data = *lanes().data();
        for (std::uint32_t piece = 0; piece < data.work().spans.size(); ++piece)
            if (data.nameOf(piece) == name && number-- == 0)
                return piece;
        ADD_FAILURE() << "no " << name;
        return 0;
    }
    [[nodiscard]] std::string nameOf(std::optional<std::uint32_t> piece) const
    {
        return piece ? std::string(lanes().data()->nameOf(*piece)) : std::string("-");
    }
    [[nodiscard]] QStringList offered(std::uint32_t piece)
    {
        lanes().reveal(piece);
        QContextMenuEvent event(QContextMenuEvent::Mouse, lanes().placeOf(piece), QCursor::pos());
        QCoreApplication::sendEvent(lanes().viewport(), &event);
        m_menu = lanes().findChildren<QMenu*>().last();
        QStringList texts;
        for (const QAction* action : m_menu->actions())
            if (action->text().startsWith(QStringLiteral("To "))
                || action->text().startsWith(QStringLiteral("Blocks")))
                texts += action->text();
        return texts;
    }
    void take(const QString& text)
    {
        for (QAction* action : m_menu->actions())
            if (action->text() == text)
                return action->trigger();
        ADD_FAILURE() << qPrintable(text);
    }
    /// The last of the device's events at or before a time, one after the other.
    [[nodiscard]] model::EventIndex lastAt(std::int64_t timeNs) const
    {
        const model::EventColumns& events = m_document.device()->trace->events();
        model::EventIndex last = -1;
        for (model::EventIndex event = 0; event < events.size(); ++event)
            if (events.timeNs[static_cast<std::size_t>(event)] <= timeNs)
                last = event;
        return last;
    }

    QTemporaryDir m_folder;
    Document m_document;
    TimelinePage m_page;
    QSignalSpy m_focus, m_opened;
    QMenu* m_menu = nullptr;
};

TEST_F(Jumps, AnOperatorKnowsItsModuleAndItsLine)
{
    openMade();
    const LanesData& data = *lanes().data();
    const WorkCallers of = callersOf(data, pieceOf("aten::addmm"));
    EXPECT_EQ(nameOf(of.op), "aten::addmm");
    EXPECT_EQ(nameOf(of.module), "nn.Module: Linear_0");
    EXPECT_EQ(nameOf(of.line), "train.py(31): step") << "the user's own, not torch's";
    ASSERT_EQ(of.functions.size(), 2u);
    EXPECT_EQ(nameOf(of.functions[0]), "torch/nn/modules/linear.py(124): forward");
    EXPECT_FALSE(of.forward || of.launch);

    const WorkCallers kernel = callersOf(data, pieceOf("gemm"));
    EXPECT_EQ(nameOf(kernel.launch), "cudaLaunchKernel");
    EXPECT_EQ(nameOf(kernel.op), "aten::addmm");
    EXPECT_EQ(nameOf(kernel.module), "nn.Module: Linear_0");

    const WorkCallers backward = callersOf(data, pieceOf("AddmmBackward0"));
    EXPECT_EQ(nameOf(backward.forward), "aten::addmm") << "the innermost with its number";
    EXPECT_EQ(nameOf(backward.module), "nn.Module: Linear_0");
    EXPECT_EQ(nameOf(backward.line), "train.py(31): step");
    EXPECT_EQ(nameOf(callersOf(data, pieceOf("gemm_backward")).module), "nn.Module: Linear_0")
        << "through the operator around the one that launched it";
}

TEST_F(Jumps, KeysAndTheMenuLeadFromAnOperatorToItsCode)
{
    openMade();
    lanes().setCurrent(pieceOf("aten::addmm"));
    QTest::keyClick(&lanes(), Qt::Key_M);
    EXPECT_EQ(nameOf(lanes().current()), "nn.Module: Linear_0");
    ASSERT_EQ(m_focus.size(), 1);
    lanes().setCurrent(pieceOf("AddmmBackward0"));
    QTest::keyClick(&lanes(), Qt::Key_L);
    EXPECT_EQ(nameOf(lanes().current()), "train.py(31): step");
    ASSERT_EQ(m_focus.size(), 2);
    EXPECT_EQ(lanes().pieceAt(lanes().placeOf(*lanes().current())), lanes().current()) << "it is in view";
    const auto told = m_focus.last().front().value<Focus>();
    ASSERT_EQ(told.work->frames.size(), 1u);
    EXPECT_EQ(told.work->frames[0].file, QStringLiteral("train.py")) << "the details open it";
    EXPECT_EQ(told.work->frames[0].line, 31);
    EXPECT_TRUE(told.work->frames[0].isOwn);

    EXPECT_EQ(offered(pieceOf("gemm")),
        (QStringList{ QStringLiteral("To Its Launch"), QStringLiteral("To Its Operator"),
            QStringLiteral("To Its Module"), QStringLiteral("To Its Source Line") }))
        << "no memory was recorded";
    take(QStringLiteral("To Its Operator"));
    EXPECT_EQ(nameOf(lanes().current()), "aten::addmm");
    EXPECT_TRUE(offered(pieceOf("AddmmBackward0")).contains(QStringLiteral("To Its Forward Operator")));
}

TEST_F(Jumps, ABlockLeadsToWhatRanWhileItLived)
{
    open(QStringLiteral(STRATA_TEST_DATA "/gpu/several.trace.json.gz"));
    const model::DeviceTrace& trace = *m_document.device()->trace;
    const model::BlockColumns& blocks = trace.blocks();
    const model::EventColumns& events = trace.events();
    int withKernels = 0;
    for (const model::BlockId block : blocks.all()) {
        if (block.isOlder())
            continue;
        m_page.showFocus(Focus::onBlock(block));
        m_page.goTo(blocks.birth(block));
        const std::int64_t begin = events.timeNs[static_cast<std::size_t>(blocks.birth(block))];
        const bool ends = blocks.death(block) != model::BlockColumns::kNever;
        const std::int64_t end
            = events.timeNs[static_cast<std::size_t>(ends ? blocks.death(block) : events.size() - 1)];
        const model::Work& work = lanes().data()->work();
        std::int64_t ran = 0;
        for (std::uint32_t piece = 0; piece < work.spans.size(); ++piece)
            ran += model::isDeviceWork(work.spans[piece].kind) && work.spans[piece].startNs < end
                    && work.spans[piece].endNs() > begin
                ? 1
                : 0;
        ASSERT_EQ(lanes().foundCount(), ran) << blocks.birth(block);
        withKernels += ran > 0 ? 1 : 0;
        const double start = static_cast<double>(begin - lanes().data()->tracks().startNs());
        ASSERT_TRUE(lanes().measured());
        EXPECT_DOUBLE_EQ(lanes().measured()->begin, start);
        EXPECT_DOUBLE_EQ(lanes().measured()->width(), static_cast<double>(end - begin));
    }
    EXPECT_GT(withKernels, 20);
    const std::int64_t found = lanes().foundCount();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    EXPECT_EQ(lanes().foundCount(), found) << "and stands out still once the stretch is added up";
    m_page.showFocus({});
    lanes().measure(std::nullopt);
    m_page.showLifeOfBlock();
    EXPECT_FALSE(lanes().measured()) << "no block is in the details";
}

TEST_F(Jumps, AKernelLeadsToTheBlocksAliveWhileItRanAndAtItsLaunch)
{
    open(QStringLiteral(STRATA_TEST_DATA "/gpu/training.trace.json.gz"));
    const model::Work& work = lanes().data()->work();
    std::uint32_t kernel = 0; // amidst of it
    for (std::uint32_t piece = 0, seen = 0; piece < work.spans.size() && seen < 500; ++piece)
        if (work.spans[piece].kind == model::WorkKind::Kernel && ++seen == 500)
            kernel = piece;
    const model::WorkSpan& span = work.spans[kernel];
    ASSERT_EQ(span.kind, model::WorkKind::Kernel);
    lanes().setCurrent(kernel);
    QTest::keyClick(&lanes(), Qt::Key_B);
    ASSERT_EQ(m_opened.size(), 1);
    EXPECT_EQ(m_opened.front().front().toString(), QStringLiteral("blocks"));
    const EventRange during{ lastAt(span.startNs), lastAt(span.endNs()) };
    EXPECT_GT(during.first, 0);
    EXPECT_EQ(m_document.viewState().selection(), during);

    const QStringList texts = offered(kernel);
    EXPECT_TRUE(texts.contains(QStringLiteral("Blocks Alive While It Ran")));
    take(QStringLiteral("Blocks Alive at Its Launch"));
    const auto launch = lanes().data()->partnerOf(kernel);
    ASSERT_TRUE(launch);
    const model::EventIndex then = lastAt(work.spans[*launch].startNs);
    EXPECT_EQ(m_document.viewState().selection(), (EventRange{ then, then }));
    EXPECT_LE(then, during.first) << "it was launched before";
    lanes().setCurrent(*launch);
    QTest::keyClick(&lanes(), Qt::Key_B);
    EXPECT_EQ(m_opened.size(), 2) << "a call is no kernel";
}

TEST_F(Jumps, AnEventIsShownAtItsTime)
{
    open(QStringLiteral(STRATA_TEST_DATA "/gpu/several.trace.json.gz"));
    lanes().showSpan({ 0, 1'000'000 });
    m_page.goTo(100);
    const double at = static_cast<double>(
        m_document.device()->trace->events().timeNs[100] - lanes().data()->tracks().startNs());
    EXPECT_TRUE(lanes().view().contains(at));
    EXPECT_DOUBLE_EQ(lanes().view().width(), 1'000'000);
}

} // namespace
