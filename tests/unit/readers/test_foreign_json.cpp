// SPDX-License-Identifier: GPL-3.0-or-later
// JSON that is no recording: the error says what it seems to be, and what Strata opens.
#include "model/readers/reader.h"

#include <gtest/gtest.h>
#include <string_view>

namespace strata::model {

namespace {

std::string errorOf(std::string_view text)
{
    const auto found = readRecording(std::as_bytes(std::span(text)), {}, {});
    return found ? std::string() : found.error().text();
}

TEST(ForeignJson, IsNamedWhereItIsKnown)
{
    const std::pair<const char*, const char*> kFiles[] = {
        { R"({"cells":[{"cell_type":"code","source":["x"]}],"nbformat":4})", "a Jupyter notebook" },
        { R"({"schema":"1.1.1-chakra.0.0.4","nodes":[{"id":1,"ctrl_deps":0}]})",
            "an execution trace of PyTorch" },
        { R"({"allocated_bytes.all.current":512})", "what torch.cuda.memory_stats() returns" },
        { R"({"metadata_of":1,"weight_map":{}})", "the list of a model's weights" },
        { R"({"architectures":["GPT2LMHeadModel"]})", "the configuration of a model" },
        { R"({"$schema":"https://www.speedscope.app/file-format-schema.json"})", "a profile of speedscope" },
    };
    for (const auto& [text, what] : kFiles) {
        EXPECT_NE(errorOf(text).find(what), std::string::npos) << text << ": " << errorOf(text);
        EXPECT_NE(errorOf(text).find("traces and memory timelines of torch.profiler"), std::string::npos)
            << text;
    }
}

TEST(ForeignJson, OfOthersSaysWhatOpens)
{
    for (const char* text : { R"({"a":1})", "[]", R"([{"a":1}])" })
        EXPECT_NE(errorOf(text).find("Strata opens memory snapshots"), std::string::npos) << errorOf(text);
}

TEST(ForeignJson, ASnapshotWithSuchAKeyOpens)
{
    const std::string text
        = R"({"segments":[],"device_traces":[[{"action":"alloc","addr":512,"size":512,"stream":0,)"
          R"("frames":[]}]],"weight_map":{}})";
    EXPECT_EQ(errorOf(text), "");
}

} // namespace

} // namespace strata::model
