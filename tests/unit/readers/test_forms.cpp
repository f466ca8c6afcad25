// SPDX-License-Identifier: GPL-3.0-or-later
// The same snapshot in every form says the same.
#include "model/readers/reader.h"
#include "recording_text.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace strata::model {

namespace {

namespace fs = std::filesystem;
using testing::ElementsAreArray;
using testing::StartsWith;

std::vector<fs::path> samples()
{
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(fs::path(STRATA_TEST_DATA) / "versions")) {
        if (entry.path().extension() == ".gz")
            found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// `sample` in every form, in a directory that goes away with the object.
class Forms {
public:
    explicit Forms(const fs::path& sample)
        : m_directory(fs::temp_directory_path() / fmt::format("strata_forms_{}", ::getpid()))
    {
        fs::remove_all(m_directory);
        const std::string command = fmt::format(
            "python3 '{}/redump.py' '{}' '{}'", STRATA_TEST_DATA, sample.string(), m_directory.string());
        m_made = std::system(command.c_str()) == 0;
    }
    ~Forms() { fs::remove_all(m_directory); }
    Forms(const Forms&) = delete;
    Forms& operator=(const Forms&) = delete;

    [[nodiscard]] bool made() const { return m_made; }
    [[nodiscard]] const fs::path& directory() const { return m_directory; }

private:
    fs::path m_directory;
    bool m_made;
};

bool havePython()
{
    return std::system("python3 -c 'import pickle' 2>/dev/null") == 0;
}

/// The list that torch 1.13 wrote has no trace and no pools, but the same blocks.
void expectSameBlocks(const Recording& original, const Recording& old)
{
    EXPECT_THAT(old.format, StartsWith("PyTorch 1.13 snapshot"));
    ASSERT_EQ(old.devices.size(), original.devices.size());
    for (std::size_t d = 0; d < old.devices.size(); ++d) {
        const DeviceRecording& a = original.devices[d];
        const DeviceRecording& b = old.devices[d];
        EXPECT_EQ(b.events.size(), 0);
        ASSERT_EQ(a.finalBlocks.size(), b.finalBlocks.size());
        for (std::size_t i = 0; i < a.finalBlocks.size(); ++i) {
            EXPECT_EQ(a.finalBlocks[i].address, b.finalBlocks[i].address);
            EXPECT_EQ(a.finalBlocks[i].bytes, b.finalBlocks[i].bytes);
            EXPECT_EQ(a.finalBlocks[i].state, b.finalBlocks[i].state);
            if (a.finalBlocks[i].state == BlockState::Inactive)
                continue;
            EXPECT_EQ(a.finalBlocks[i].requestedBytes, b.finalBlocks[i].requestedBytes);
            EXPECT_EQ(original.stacks.stack(a.finalBlocks[i].stack).size(),
                old.stacks.stack(b.finalBlocks[i].stack).size());
        }
    }
}

class EveryForm : public testing::TestWithParam<fs::path> { };

} // namespace

TEST_P(EveryForm, SaysTheSame)
{
    if (!havePython())
        GTEST_SKIP() << "python3 writes the forms, and it is missing";
    const Forms forms(GetParam());
    ASSERT_TRUE(forms.made());
    const auto original = readRecording(GetParam(), {}, {});
    ASSERT_TRUE(original) << original.error().text();
    const std::vector<std::string> expected = linesOf(**original);
    ASSERT_GT(expected.size(), 250u);

    int read = 0;
    for (const auto& entry : fs::directory_iterator(forms.directory())) {
        const std::string name = entry.path().filename();
        SCOPED_TRACE(name);
        const auto recording = readRecording(entry.path(), {}, {});
        ASSERT_TRUE(recording) << recording.error().text();
        EXPECT_FALSE((*recording)->truncation) << (*recording)->truncation->reason.text();
        if (name == "torch1.13.list")
            expectSameBlocks(**original, **recording);
        else
            EXPECT_THAT(linesOf(**recording), ElementsAreArray(expected));
        ++read;
    }
    EXPECT_EQ(read, 18);
}

INSTANTIATE_TEST_SUITE_P(Samples, EveryForm, testing::ValuesIn(samples()), [](const auto& sample) {
    std::string name = sample.param.filename().string();
    name.resize(name.find(".pickle"));
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
});

} // namespace strata::model
