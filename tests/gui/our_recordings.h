// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace strata::test {

/// A training, two devices, and out of memory in the newest format. With STRATA_ALL_RECORDINGS set, every
/// recording of tests/data (samples, versions and devices) and the sample sessions.
inline std::vector<std::string> ourRecordings()
{
    if (!std::getenv("STRATA_ALL_RECORDINGS"))
        return { STRATA_TEST_DATA "/../../resources/samples/gpt2_124m_bf16_train.strata",
            STRATA_TEST_DATA "/devices/two_devices.pickle.gz",
            STRATA_TEST_DATA "/versions/torch2.15_oom.pickle.gz" };
    std::vector<std::string> files;
    for (const char* folder : { STRATA_SAMPLES, STRATA_TEST_DATA "/versions", STRATA_TEST_DATA "/devices",
             STRATA_TEST_DATA "/../../resources/samples" })
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            if (entry.path().extension() == ".gz" || entry.path().extension() == ".strata")
                files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

/// The name of a test's parameter that is a file.
inline std::string recordingName(const testing::TestParamInfo<std::string>& info)
{
    std::string name = std::filesystem::path(info.param).filename();
    std::ranges::replace_if(
        name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
}

} // namespace strata::test
