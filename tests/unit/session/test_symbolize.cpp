// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/session_file.h"
#include "model/base/words.h"
#include "model/readers/reader.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "model/session/session.h"
#include "model/session/symbolize.h"
#include "tests/support/make_recording.h"

#include <gtest/gtest.h>

#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <link.h>
#include <string>
#include <unistd.h>
#include <vector>

/// A place in this program, to be found again.
extern "C" __attribute__((noinline)) void strataTestPlace()
{
    asm volatile("");
}

namespace {

/// Functions of which the compiler leaves nothing but their place in strataTestOuter().
struct Inner {
    __attribute__((always_inline)) static inline void deepest()
    {
        asm volatile(".globl strataTestInside\nstrataTestInside: nop\nnop");
    }
};
template <class What> __attribute__((always_inline)) inline void between()
{
    What::deepest();
}

} // namespace
extern "C" void strataTestInside();
extern "C" __attribute__((noinline)) void strataTestOuter()
{
    between<Inner>();
}

namespace strata::model {
namespace {

namespace fs = std::filesystem;

/// Of this program, which is the first that the loader tells of; empty where the linker wrote none.
std::string ownBuildId()
{
    std::string id;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                if (info->dlpi_phdr[i].p_type != PT_NOTE)
                    continue;
                const char* at = reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
                const char* const end = at + info->dlpi_phdr[i].p_memsz;
                while (at < end) {
                    ElfW(Nhdr) note;
                    std::memcpy(&note, at, sizeof note);
                    const char* content = at + sizeof note + ((note.n_namesz + 3) & ~3u);
                    if (note.n_type == NT_GNU_BUILD_ID)
                        for (std::uint32_t k = 0; k < note.n_descsz; ++k)
                            *static_cast<std::string*>(out)
                                += fmt::format("{:02x}", static_cast<std::uint8_t>(content[k]));
                    at = content + ((note.n_descsz + 3) & ~3u);
                }
            }
            return 1;
        },
        &id);
    return id;
}

/// A session with one block, made by a frame at `offset` in this program.
fs::path sessionWith(const std::string& buildId, std::uint64_t offset)
{
    auto recording = test::makeRecording(R"(
        segment_alloc 0x1000 2097152
        alloc 0x1000 500
        segment 0x1000 2097152 small
        block 0x1000 512 req=500 allocated
    )");
    Frame frame;
    frame.file = recording->strings.intern(fs::read_symlink("/proc/self/exe").string());
    frame.function = recording->strings.intern("??");
    frame.extras = recording->strings.intern(
        fmt::format(R"({{"build_id": "{}", "offset": "0x{:x}"}})", buildId, offset));
    const FrameId id = recording->stacks.internFrame(frame);
    recording->devices[0].events.stack.edit(1) = recording->stacks.internStack({ &id, 1 });
    const fs::path path = fs::temp_directory_path() / fmt::format("strata-symbols-{}.strata", ::getpid());
    EXPECT_TRUE(saveSession(*recording, path));
    return path;
}

Frame frameOf(const Session& session, std::string& function)
{
    const Recording& recording = session.recording();
    const Frame& frame = recording.stacks.frame(FrameId{ 0 });
    function = recording.strings[frame.function];
    return frame;
}

std::uint64_t offsetOf(void (*function)())
{
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(function), &info);
    return reinterpret_cast<std::uintptr_t>(function) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
}

std::uint64_t offsetOfPlace()
{
    return offsetOf(strataTestPlace);
}

/// Its only stack, innermost first: "function file:line", with file and line where they are known.
std::vector<std::string> stackOf(const Session& session)
{
    const Recording& recording = session.recording();
    std::vector<std::string> names;
    for (const FrameId id : recording.stacks.stack(session.devices().at(0).events().stack[1])) {
        const Frame& frame = recording.stacks.frame(id);
        names.push_back(fmt::format("{} {}:{}", recording.strings[frame.function],
            fs::path(recording.strings[frame.file]).filename().string(), frame.line > 0));
    }
    return names;
}

/// GCC gives no names for the linker to functions that no other file sees, clang does.
#ifdef __clang__
const std::vector<std::string> kInlined{ "(anonymous namespace)::Inner::deepest() test_symbolize.cpp:true",
    "void (anonymous namespace)::between<(anonymous namespace)::Inner>() test_symbolize.cpp:true",
    "strataTestOuter test_symbolize.cpp:true" };
#else
const std::vector<std::string> kInlined{ "Inner::deepest test_symbolize.cpp:true",
    "between<(anonymous namespace)::Inner> test_symbolize.cpp:true",
    "strataTestOuter test_symbolize.cpp:true" };
#endif

} // namespace

TEST(Symbolize, FindsAFunctionOfThisProgram)
{
    const std::string buildId = ownBuildId();
    if (buildId.empty())
        GTEST_SKIP() << "the linker writes no build ids";
    const fs::path path = sessionWith(buildId, offsetOfPlace());
    const auto before = fs::file_size(path);
    const auto found = symbolize(path);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->places, 1);
    EXPECT_GT(fs::file_size(path), before);
    const auto session = Opener::openAll(path);
    ASSERT_TRUE(session);
    EXPECT_FALSE((*session)->recording().truncation);
    std::string function;
    const Frame frame = frameOf(**session, function);
    EXPECT_EQ(function, "strataTestPlace");
    if (found->withLine > 0) { // a build with debug information
        EXPECT_TRUE((*session)->recording().strings[frame.file].ends_with("test_symbolize.cpp"));
        EXPECT_GT(frame.line, 0);
    }
    // What is known stays, also through a copy.
    const fs::path copy = path.string() + ".copy.strata";
    ASSERT_TRUE(saveSession((*session)->recording(), copy));
    const auto again = Opener::openAll(copy);
    ASSERT_TRUE(again);
    frameOf(**again, function);
    EXPECT_EQ(function, "strataTestPlace");
    fs::remove(copy);
    fs::remove(path);
}

TEST(Symbolize, ShowsInlinedFunctions)
{
    if (ownBuildId().empty())
        GTEST_SKIP() << "the linker writes no build ids";
    const fs::path path = sessionWith(ownBuildId(), offsetOf(strataTestInside));
    EXPECT_EQ(stackOf(**Opener::openAll(path)), kInlined) << "looked up as it is opened";
    const auto before = fs::file_size(path);
    ASSERT_TRUE(symbolize(path));
    EXPECT_GT(fs::file_size(path), before);
    EXPECT_EQ(stackOf(**Opener::openAll(path)), kInlined) << "what was written";
    const auto reader = readRecording(path, {}, {});
    ASSERT_TRUE(reader);
    EXPECT_EQ((*reader)->stacks.stack((*reader)->devices[0].events.stack[1]).size(), kInlined.size())
        << "without looking anything up";
    ASSERT_TRUE(saveSession((*Opener::openAll(path))->recording(), path));
    EXPECT_EQ(stackOf(**Opener::openAll(path)), kInlined) << "a copy";
    EXPECT_EQ(symbolize(path)->places, 0) << "nothing is left to look up";
    fs::remove(path);
}

TEST(Symbolize, BelievesNoOtherBuild)
{
    const fs::path path = sessionWith("0123456789abcdef", offsetOfPlace());
    const auto before = fs::file_size(path);
    const auto found = symbolize(path);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->places, 1);
    EXPECT_EQ(found->withLine, 0);
    EXPECT_EQ(fs::file_size(path), before);
    fs::remove(path);
}

TEST(Symbolize, AddsNothingWhileARecorderIsAtWork)
{
    const fs::path path = sessionWith(ownBuildId(), offsetOfPlace());
    const auto half = fs::file_size(path) - 5;
    fs::resize_file(path, half);
    agent::SessionFile recorder;
    const fs::path recorded = path.string() + ".recorded";
    ASSERT_TRUE(recorder.create(recorded));
    fs::copy_file(path, recorded, fs::copy_options::overwrite_existing);
    EXPECT_FALSE(symbolize(recorded));
    EXPECT_EQ(fs::file_size(recorded), half);
    EXPECT_FALSE(symbolize("/nowhere/at.all"));
    fs::remove(recorded);
    fs::remove(path);
}

TEST(Symbolize, AddsBehindWhatAKilledRecorderLeft)
{
    if (ownBuildId().empty())
        GTEST_SKIP() << "the linker writes no build ids";
    const fs::path path = sessionWith(ownBuildId(), offsetOfPlace());
    fs::resize_file(path, fs::file_size(path) - 5);
    const auto found = symbolize(path);
    ASSERT_TRUE(found) << found.error().text();
    const auto session = Opener::openAll(path);
    ASSERT_TRUE(session);
    std::string function;
    frameOf(**session, function);
    EXPECT_EQ(function, "strataTestPlace");
    EXPECT_EQ((*session)->devices()[0].eventCount(), 2);
    fs::remove(path);
}

} // namespace strata::model
