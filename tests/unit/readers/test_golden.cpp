// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/reader.h"
#include "recording_text.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

const std::filesystem::path kReal = std::filesystem::path(STRATA_SHARED) / "realdata";

} // namespace

TEST(RealFiles, MeetTheGoldenFigures)
{
    if (!std::filesystem::exists(kReal / "golden.jsonl"))
        GTEST_SKIP() << "no recordings of other people beside the repository";
    std::ifstream golden(kReal / "golden.jsonl");
    std::string line;
    int files = 0;
    while (std::getline(golden, line)) {
        const nlohmann::json expected = nlohmann::json::parse(line);
        const std::string name = expected["file"];
        SCOPED_TRACE(name);
        const auto recording = readRecording(kReal / "snapshots" / name, {}, {});
        ASSERT_TRUE(recording) << recording.error().text();
        EXPECT_FALSE((*recording)->truncation) << (*recording)->truncation->reason.text();
        nlohmann::json figures = figuresOf(**recording);
        ASSERT_EQ(figures.size(), expected["devices"].size());
        for (std::size_t d = 0; d < figures.size(); ++d) {
            for (const auto& [key, value] : figures[d].items())
                EXPECT_EQ(value, expected["devices"][d][key]) << key;
        }
        EXPECT_EQ((*recording)->unknownKeys.size(), 0u) << nlohmann::json((*recording)->unknownKeys);
        ++files;
    }
    EXPECT_EQ(files, 14);
}

} // namespace strata::model
