// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/roofline.h"

#include "model/analysis/work/device/launchers.h"
#include "model/readers/reader.h"
#include "model/session/opener.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace strata::model {

namespace {

/// A row of a trace; times in microseconds.
std::string rooflineRow(std::string_view category, std::string_view name, int begin, int length,
    const std::string& arguments, bool isOnDevice = false)
{
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", category,
        name, isOnDevice ? 0 : 10, isOnDevice ? 7 : 11, begin, length, arguments);
}

std::string mm(int begin, int length, int rows = 1024)
{
    return rooflineRow("cpu_op", "aten::mm", begin, length,
        fmt::format(R"("Input Dims":[[{},1024],[1024,1024]],"Input type":["c10::BFloat16","c10::BFloat16"],)"
                    R"("Concrete Inputs":["",""],"Input Strides":[[1024,1],[1024,1]])",
            rows));
}

std::string launched(int correlation, int callAt, int begin, int length, const char* name = "gemm",
    const char* category = "kernel")
{
    return rooflineRow(
               "cuda_runtime", "cudaLaunchKernel", callAt, 2, fmt::format(R"("correlation":{})", correlation))
        + ","
        + rooflineRow(category, name, begin, length,
            fmt::format(R"("device":0,"stream":7,"correlation":{})", correlation), true);
}

Roofline rooflineOfAll(
    const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range = {})
{
    return rooflineOf(work, strings, deviceWorkOf(work, strings, range), nestedCallsOf(work), range);
}

class RooflineTest : public testing::Test {
protected:
    Roofline of(const std::string& rows, const std::optional<TimeSpan>& range = {},
        const char* device = "NVIDIA A100-SXM4-80GB")
    {
        const std::string text = fmt::format(
            R"({{"deviceProperties":[{{"id":0,"name":"{}"}}],"traceEvents":[{}]}})", device, rows);
        auto read = readRecording(std::as_bytes(std::span(text)), {}, {});
        if (!read) {
            ADD_FAILURE() << read.error().text();
            return {};
        }
        m_recording = *std::move(read);
        m_work = m_recording->parts.find<Work>();
        return rooflineOfAll(*m_work, m_recording->strings, range);
    }
    [[nodiscard]] std::string_view nameOf(const RooflineRow& rooflineRow) const
    {
        return m_recording->strings[rooflineRow.name];
    }

    std::unique_ptr<Recording> m_recording;
    const Work* m_work = nullptr;
};

constexpr double kFlops = 2.0 * 1024 * 1024 * 1024;

} // namespace

TEST_F(RooflineTest, ChargesKernelsToTheOperatorThatLaunchedThemAlone)
{
    // aten::linear calls aten::mm, which launches; the kernel of aten::fuse has no known cost.
    const Roofline found
        = of(rooflineRow("cpu_op", "aten::linear", 0, 100, R"("Input Dims":[[1]],"Input type":["float"])")
            + "," + mm(10, 50) + "," + launched(1, 20, 100, 40) + "," + launched(2, 70, 140, 10, "bias") + ","
            + mm(200, 50) + "," + launched(3, 210, 300, 20) + "," + launched(4, 215, 320, 20) + ","
            + launched(5, 900, 910, 30, "graph") + ","
            + launched(6, 950, 960, 500, "Memcpy HtoD (Pinned -> Device)", "gpu_memcpy"));
    EXPECT_EQ(found.lack, RooflineLack::None);
    ASSERT_TRUE(found.card);
    EXPECT_EQ(found.card->name, "A100-80GB");
    ASSERT_EQ(found.rows.size(), 2u);
    const RooflineRow& product = found.rows[0];
    EXPECT_EQ(nameOf(product), "aten::mm");
    EXPECT_EQ(product.calls, 2);
    EXPECT_EQ(product.work.size(), 3u);
    EXPECT_EQ(product.deviceNs, 80'000);
    EXPECT_EQ(product.flops, 2 * kFlops);
    EXPECT_EQ(product.bytes, 2 * 3 * 2.0 * 1024 * 1024);
    EXPECT_NEAR(product.intensity(), 1024.0 / 3, 1e-9);
    EXPECT_NEAR(product.flopRate(), 2 * kFlops / 80e-6, 1);
    EXPECT_EQ(found.isComputeBound(product), true);
    EXPECT_FALSE(found.rows[1].isKnown);
    EXPECT_EQ(nameOf(found.rows[1]), "aten::linear");
    EXPECT_EQ(found.isComputeBound(found.rows[1]), std::nullopt);

    EXPECT_EQ(found.workNs, 120'000);
    EXPECT_EQ(found.knownNs, 80'000);
    EXPECT_EQ(found.unknownNs, 10'000);
    EXPECT_EQ(found.noOperatorNs, 30'000);
    EXPECT_EQ(found.elsewhereNs, 500'000);
    EXPECT_EQ(found.knownCalls, 2);
    EXPECT_EQ(found.unknownCalls, 1);
    ASSERT_TRUE(found.utilisation);
    EXPECT_NEAR(*found.utilisation, 2 * kFlops / 312e12 / 1360e-6, 1e-9);
    EXPECT_GT(product.leastNs, 0);
    EXPECT_LT(product.leastNs, static_cast<double>(product.deviceNs));
}

TEST_F(RooflineTest, CountsCallsByWhenTheirWorkBegins)
{
    const std::string rows = mm(0, 50) + "," + launched(1, 20, 100, 40) + "," + mm(60, 50) + ","
        + launched(2, 70, 200, 40) + "," + mm(120, 50, 2048) + "," + launched(3, 130, 300, 40);
    EXPECT_EQ(of(rows).rows.size(), 2u) << "of other sizes";
    const Roofline second = of(rows, TimeSpan{ 150'000, 250'000 });
    ASSERT_EQ(second.rows.size(), 1u);
    EXPECT_EQ(second.rows[0].calls, 1);
    EXPECT_EQ(second.spanNs, 100'000);
    EXPECT_EQ(second.flops, kFlops);
    EXPECT_EQ(of(rows, TimeSpan{ 0, 90'000 }).lack, RooflineLack::Work);
}

TEST_F(RooflineTest, SaysWhatItLacks)
{
    EXPECT_EQ(of(mm(0, 50)).lack, RooflineLack::Work);
    EXPECT_EQ(of(rooflineRow("cpu_op", "aten::mm", 0, 50, "") + "," + launched(1, 20, 100, 40)).lack,
        RooflineLack::Shapes);
    EXPECT_EQ(of(rooflineRow("cpu_op", "mine::op", 0, 50, R"("Input Dims":[[1]],"Input type":["float"])")
                  + "," + launched(1, 20, 100, 40))
                  .lack,
        RooflineLack::Costs);
    const Roofline noCard = of(mm(0, 50) + "," + launched(1, 20, 100, 40), {}, "NVIDIA H100 PCIe");
    EXPECT_EQ(noCard.lack, RooflineLack::Card);
    EXPECT_EQ(noCard.rows.at(0).flops, kFlops);
    EXPECT_EQ(noCard.utilisation, std::nullopt);
    EXPECT_EQ(noCard.isComputeBound(noCard.rows.at(0)), std::nullopt);
    for (const RooflineLack lack : { RooflineLack::None, RooflineLack::Work, RooflineLack::Shapes,
             RooflineLack::Costs, RooflineLack::Card }) {
        Roofline roofline;
        roofline.lack = lack;
        roofline.card = lack == RooflineLack::None ? &cards().front() : nullptr;
        roofline.device = 0;
        for (const bool isSimulated : { false, true })
            EXPECT_FALSE(sayRoofline(roofline, isSimulated).empty());
    }
}

TEST_F(RooflineTest, TakesADeviceThatIsNotDescribedForOneOfThoseThatAreAllAlike)
{
    const std::string work
        = R"(,"traceEvents":[)" + mm(0, 50) + "," + launched(1, 20, 100, 40) + "]}"; // of 0
    const auto deviceName = [&](const std::string& devices) {
        const std::string text = R"({"deviceProperties":[)" + devices + "]" + work;
        const auto read = readRecording(std::as_bytes(std::span(text)), {}, {});
        if (!read)
            return read.error().text();
        return rooflineOfAll(*(*read)->parts.find<Work>(), (*read)->strings).deviceName;
    };
    EXPECT_EQ(deviceName(R"({"id":3,"name":"NVIDIA A10"},{"id":4,"name":"NVIDIA A10"})"), "NVIDIA A10");
    EXPECT_EQ(deviceName(R"({"id":3,"name":"NVIDIA A10"},{"id":4,"name":"NVIDIA L4"})"), "");
    EXPECT_EQ(deviceName(R"({"id":3,"name":"NVIDIA A10"},{"id":0,"name":"NVIDIA L4"})"), "NVIDIA L4");
    EXPECT_EQ(deviceName(""), "");
}

TEST_F(RooflineTest, TellsTf32ByTheKernel)
{
    const auto typeOf = [&](const char* kernel) {
        return of(rooflineRow("cpu_op", "aten::mm", 0, 50,
                      R"("Input Dims":[[64,64],[64,64]],"Input type":["float","float"])")
            + "," + launched(1, 20, 100, 40, kernel))
            .rows.at(0)
            .type;
    };
    EXPECT_EQ(typeOf("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x16"), NumberType::Tf32);
    EXPECT_EQ(typeOf("cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4"), NumberType::Tf32);
    EXPECT_EQ(typeOf("ampere_sgemm_64x32_sliced1x4_nn"), NumberType::Fp32);
}

/// The bound of a call must hold in what other people measured: never above what its kernels took.
TEST(RooflineOfRealTraces, NoCallIsFasterThanItsBound)
{
    const auto folder = std::filesystem::path(STRATA_SHARED) / "realdata" / "kineto";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << folder << " is not there";
    struct Known {
        const char* file;
        double leastCovered;
    };
    for (const Known& known : { Known{ "tracelens_h100_bert_small.json.gz", 0.99 },
             Known{ "tracelens_h100_timesformer.json.gz", 0.97 } }) {
        const auto session = Opener::openAll(folder / known.file, {});
        ASSERT_TRUE(session) << session.error().text();
        const Recording& recording = (*session)->recording();
        const Work* const work = recording.parts.find<Work>();
        ASSERT_TRUE(work);
        const Roofline roofline = rooflineOfAll(*work, recording.strings);
        ASSERT_TRUE(roofline.card);
        EXPECT_EQ(roofline.card->name, "H100-80GB");
        int calls = 0, bounded = 0;
        double closest = 0;
        for (const LaunchedCall& call :
            launchedCallsOf(*work, recording.strings, nestedCallsOf(*work), *roofline.device)) {
            if (!call.cost)
                continue;
            ++calls;
            const double least = leastNs(*call.cost, *roofline.card);
            bounded += least > 0 ? 1 : 0;
            EXPECT_LE(least, static_cast<double>(call.deviceNs))
                << recording.strings[work->spans[call.call].name] << " in row " << call.call;
            closest = std::max(closest, least / static_cast<double>(call.deviceNs));
        }
        const double covered = static_cast<double>(roofline.knownNs) / static_cast<double>(roofline.workNs);
        fmt::print("{}: {} calls, {} with a bound above 0, the closest {:.1f} % of its time; {:.1f} % of the "
                   "kernels' time covered, all bounds together {:.1f} % of that\n",
            known.file, calls, bounded, 100 * closest, 100 * covered,
            100 * roofline.leastNs / static_cast<double>(roofline.knownNs));
        EXPECT_GT(covered, known.leastCovered);
        EXPECT_GT(bounded, 0);
    }
}

} // namespace strata::model
