// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshots of other accelerators, of several ranks in one file, of versions to come, and as other programs
// write text.
#include "model/analysis/allocator/replay.h"
#include "model/analysis/summary/summary.h"
#include "model/base/words.h"
#include "model/readers/reader.h"
#include "model/session/save.h"
#include "model/session/session.h"
#include "model/trace/producer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::int64_t kMiB = std::int64_t{ 1 } << 20;

Json event(const char* action, std::int64_t address, std::int64_t bytes)
{
    return { { "action", action }, { "addr", address }, { "size", bytes }, { "stream", 0 },
        { "frames", Json::array() }, { "time_us", 1000 } };
}

/// A segment of 20 MiB with two blocks of 4 MiB, and the trace that made them.
Json snapshot()
{
    const auto block = [](std::int64_t bytes, const char* state) {
        return Json{ { "size", bytes }, { "requested_size", bytes }, { "state", state },
            { "frames", Json::array() } };
    };
    Json segment{ { "device", 0 }, { "address", 4096 * kMiB }, { "total_size", 20 * kMiB }, { "stream", 0 },
        { "segment_type", "large" } };
    segment["blocks"] = Json::array({ block(4 * kMiB, "active_allocated"), block(4 * kMiB, "active_allocated"),
        block(12 * kMiB, "inactive") });
    const Json trace = Json::array({ event("segment_alloc", 4096 * kMiB, 20 * kMiB),
        event("alloc", 4096 * kMiB, 4 * kMiB), event("alloc", 4100 * kMiB, 4 * kMiB) });
    Json out;
    out["segments"] = Json::array({ segment });
    out["device_traces"] = Json::array({ trace });
    out["allocator_settings"] = { { "PYTORCH_CUDA_ALLOC_CONF", "" }, { "expandable_segments", false } };
    return out;
}

std::shared_ptr<const Session> sessionOf(const std::string& text)
{
    auto recording = readRecording(std::as_bytes(std::span(text)), {}, {});
    EXPECT_TRUE(recording) << recording.error().text();
    if (!recording)
        return nullptr;
    auto session = Session::fromRecording(std::move(*recording), {});
    EXPECT_TRUE(session);
    return session ? *session : nullptr;
}

std::string errorOf(std::string_view text)
{
    const auto found = readRecording(std::as_bytes(std::span(text)), {}, {});
    return found ? std::string() : found.error().text();
}

std::string needsText(const Session& session)
{
    const DeviceTrace& trace = session.devices().front();
    const DeviceSummary summary = summarize(trace, GroupTable(trace, Grouping::Line));
    std::string text;
    for (const Sentence& sentence : summary.needs->text())
        text += sentence.text() + ' ';
    return text;
}

std::string utf16(std::string_view text, bool bigEndian)
{
    std::string out = bigEndian ? "\xfe\xff" : "\xff\xfe";
    for (const char c : text) {
        if (bigEndian)
            out += '\0';
        out += c;
        if (!bigEndian)
            out += '\0';
    }
    return out;
}

TEST(Producers, NamesOtherAcceleratorsAndUsesTheirSettings)
{
    const std::pair<const char*, Accelerator> kinds[] = { { "PYTORCH_XPU_ALLOC_CONF", Accelerator::Xpu },
        { "PYTORCH_NPU_ALLOC_CONF", Accelerator::Npu }, { "PYTORCH_HIP_ALLOC_CONF", Accelerator::Rocm },
        { "PYTORCH_CUDA_ALLOC_CONF", Accelerator::Cuda }, { "PYTORCH_ALLOC_CONF", Accelerator::Cuda } };
    for (const auto& [variable, accelerator] : kinds) {
        Json file = snapshot();
        file["allocator_settings"] = Json::object();
        file["allocator_settings"][variable] = "expandable_segments:True";
        const auto session = sessionOf(file.dump());
        ASSERT_TRUE(session) << variable;
        EXPECT_EQ(acceleratorOf(session->recording()), accelerator) << variable;
        const auto report = checkReplay(session->devices().front(), {});
        ASSERT_TRUE(report) << variable;
        EXPECT_EQ(report->settingsText, "expandable_segments:True") << variable;
        const std::string needs = needsText(*session);
        EXPECT_EQ(needs.find("A100") == std::string::npos && needs.find("catalogue.") == std::string::npos,
            accelerator != Accelerator::Cuda)
            << needs;
    }
}

TEST(Producers, KeepsTheKindOfDeviceThroughSessionAndPickle)
{
    Json file = snapshot();
    file["segments"][0]["device_type"] = "xpu";
    const auto session = sessionOf(file.dump());
    ASSERT_TRUE(session);
    EXPECT_EQ(acceleratorOf(session->recording()), Accelerator::Xpu);
    const fs::path folder = fs::temp_directory_path() / ("strata-producers-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    ASSERT_TRUE(saveSession(session->recording(), folder / "a.strata"));
    const auto saved = readRecording(folder / "a.strata", {}, {});
    ASSERT_TRUE(saved);
    EXPECT_EQ(acceleratorOf(**saved), Accelerator::Xpu);
    ASSERT_TRUE(exportPickle(**saved, folder / "a.pickle"));
    const auto exported = readRecording(folder / "a.pickle", {}, {});
    ASSERT_TRUE(exported);
    EXPECT_EQ(acceleratorOf(**exported), Accelerator::Xpu);
    fs::remove_all(folder);
}

TEST(Producers, TakesNoCudaGpuForAFileWithoutStreamsAndTypes)
{
    Json file = snapshot();
    file.erase("allocator_settings");
    file["segments"][0].erase("stream");
    file["segments"][0].erase("segment_type");
    const auto session = sessionOf(file.dump());
    ASSERT_TRUE(session);
    EXPECT_EQ(acceleratorOf(session->recording()), Accelerator::Other);
    EXPECT_EQ(settingsVariable(Accelerator::Other), "");
}

TEST(Producers, CountsAnotherRanksMemoryFromItsTraceAlone)
{
    Json file = snapshot();
    file["device_traces"].push_back(file["device_traces"][0]);
    Json beganLate = file["device_traces"][0];
    beganLate.erase(0); // without the segment
    file["device_traces"].push_back(beganLate);
    const auto session = sessionOf(file.dump());
    ASSERT_TRUE(session);
    ASSERT_EQ(session->devices().size(), 3u);
    for (const DeviceTrace& trace : session->devices()) {
        EXPECT_EQ(trace.totals().reservedBytesStart, 0);
        EXPECT_EQ(trace.totals().reservedBytesPeak, trace.device() == 2 ? 0 : 20 * kMiB);
        EXPECT_EQ(trace.endKnown(), trace.device() == 0);
        int merged = 0;
        for (const Finding& finding : trace.findings()) {
            EXPECT_FALSE(isBreach(finding.check)) << checkName(finding.check);
            merged += finding.cause.text().find("traces of 3 devices and segments of 1") != std::string::npos;
        }
        EXPECT_EQ(merged, trace.device() == 0 ? 0 : 1);
    }
}

TEST(Producers, OpensBlocksInStatesOfLaterVersions)
{
    Json file = snapshot();
    file["segments"][0]["blocks"][1]["state"] = "active_migrating";
    file["segments"][0]["blocks"][2]["state"] = "inactive_split";
    const auto session = sessionOf(file.dump());
    ASSERT_TRUE(session);
    EXPECT_EQ(session->recording().unknownKeys.at("block.state=active_migrating"), 1);
    EXPECT_EQ(session->recording().unknownKeys.at("block.state=inactive_split"), 1);
    const Totals& totals = session->devices().front().totals();
    EXPECT_EQ(totals.activeBytesEnd, 8 * kMiB);
    EXPECT_EQ(totals.reservedBytesEnd, 20 * kMiB);
    bool isNamed = false;
    for (const Finding& finding : session->devices().front().findings())
        isNamed |= finding.cause.text().find("block state active_migrating") != std::string::npos;
    EXPECT_TRUE(isNamed);
}

TEST(Producers, KeepsMembersThatItDoesNotUseAndNamesThoseThatAreLost)
{
    Json file = snapshot();
    file["source_code"]["/p/train.py"] = "import torch\n";
    file["shape_data"] = Json::array({ Json::array(
        { Json{ { "addr", 4096 }, { "shape", { 2, 3 } }, { "dtype", "torch.float32" } } }) });
    file["rank"] = 3;
    file["segments"][0]["blocks"][0]["frames_extra"] = Json::array({ 1 });
    const auto session = sessionOf(file.dump());
    ASSERT_TRUE(session);
    EXPECT_EQ(lostKeys(session->recording()), (std::map<std::string, std::int64_t>{ { "block.frames_extra", 1 } }));
    const fs::path folder = fs::temp_directory_path() / ("strata-members-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    ASSERT_TRUE(saveSession(session->recording(), folder / "a.strata"));
    const auto saved = readRecording(folder / "a.strata", {}, {});
    ASSERT_TRUE(saved);
    ASSERT_TRUE(exportPickle(**saved, folder / "a.pickle"));
    const auto exported = readRecording(folder / "a.pickle", {}, {});
    ASSERT_TRUE(exported);
    for (const char* key : { "source_code", "shape_data", "rank" })
        EXPECT_EQ(Json::parse((*exported)->facts.at(std::string(snapshot_facts::kMember) + key)), file[key])
            << key;
    fs::remove_all(folder);
}

TEST(Producers, ReadsTextInUtf16AndWithByteOrderMarks)
{
    const std::string snapshotText = snapshot().dump();
    const std::string trace = "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::\u00e4\",\"pid\":1,"
                              "\"tid\":1,\"ts\":1,\"dur\":2}]}\r\n";
    for (const std::string& text : { snapshotText, trace, std::string("{\"traceEvents\": []}\r\n") }) {
        EXPECT_EQ(errorOf("\xef\xbb\xbf" + text), "");
        EXPECT_EQ(errorOf(utf16(text, false)), "");
        EXPECT_EQ(errorOf(utf16(text, true)), "");
    }
    const std::string big = utf16(snapshotText, true);
    const auto read = readRecording(std::as_bytes(std::span(big)), {}, {});
    ASSERT_TRUE(read);
    EXPECT_EQ((*read)->format, "PyTorch snapshot (JSON, UTF-16)");
    EXPECT_EQ((*read)->devices.front().events.size(), 3);
    EXPECT_NE(errorOf(utf16("a letter", false)).find("UTF-16"), std::string::npos);
    EXPECT_NE(errorOf(utf16(snapshotText, false).substr(0, 201)), "");
}

TEST(Producers, NamesArchivesAndReportsOfOtherTools)
{
    std::string tar(1024, '\0');
    tar.replace(0, 10, "run.pickle");
    tar.replace(257, 5, "ustar");
    EXPECT_NE(errorOf(tar).find("tar archive that begins with run.pickle"), std::string::npos) << errorOf(tar);
    EXPECT_NE(errorOf("SQLite format 3").find("Nsight"), std::string::npos);
    const fs::path folder = fs::temp_directory_path() / ("strata-reports-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    for (const auto& [name, tool] : { std::pair{ "a.nsys-rep", "Nsight Systems" },
             std::pair{ "a.qdrep", "Nsight Systems" }, std::pair{ "a.ncu-rep", "Nsight Compute" } }) {
        std::ofstream(folder / name) << "NV\x01\x02";
        const auto read = readRecording(folder / name, {}, {});
        ASSERT_FALSE(read);
        EXPECT_NE(read.error().text().find(tool), std::string::npos) << read.error().text();
    }
    fs::remove_all(folder);
}

} // namespace
} // namespace strata::model
