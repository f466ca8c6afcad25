// SPDX-License-Identifier: GPL-3.0-or-later
// Pickles by hand: what the opcode loop accepts, what it refuses, and how it says so.
#include "pickle_bytes.h"
#include "recording_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

using testing::HasSubstr;
using namespace std::string_view_literals;

std::string errorOf(std::string_view bytes)
{
    const auto recording = readBytes(bytes);
    return recording ? "read" : recording.error().text();
}

std::vector<std::int64_t> sizesOf(const Result<std::unique_ptr<Recording>>& recording, std::size_t device = 0)
{
    std::vector<std::int64_t> sizes;
    if (!recording || (*recording)->devices.size() <= device)
        return sizes;
    const EventColumns& events = (*recording)->devices[device].events;
    for (std::size_t e = 0; e < events.action.size(); ++e)
        sizes.push_back(events.bytes[e]);
    return sizes;
}

using Sizes = std::vector<std::int64_t>;

} // namespace

TEST(Pickle, RefusesEveryOpcodeThatRunsCode)
{
    const std::vector<std::pair<std::string, const char*>> codes{ { "P0\n", "PERSID" }, { "Q", "BINPERSID" },
        { "R", "REDUCE" }, { "b", "BUILD" }, { "cos\nsystem\n", "GLOBAL" },
        { "(S'x'\nios\nsystem\n", "INST" }, { "(o", "OBJ" }, { "\x81", "NEWOBJ" }, { "\x82\x01", "EXT1" },
        { "\x83\x01\x01", "EXT2" }, { "\x84\x01\x01\x01\x01", "EXT4" }, { "\x92", "NEWOBJ_EX" },
        { "\x93", "STACK_GLOBAL" }, { "\x97", "NEXT_BUFFER" }, { "\x98", "READONLY_BUFFER" } };
    for (const auto& [bytes, name] : codes) {
        const std::string trace = PickleBytes().raw("](").event(16, 1).raw("e").bytes();
        const std::string pickle = snapshotWith(trace + bytes);
        const auto recording = readBytes(pickle);
        ASSERT_FALSE(recording) << name;
        EXPECT_EQ(recording.error().kind, Error::Kind::Refused) << name;
        const std::size_t at
            = pickle.find(trace) + trace.size() + (bytes[0] == '(' ? bytes.find_first_of("io", 1) : 0);
        EXPECT_THAT(recording.error().what.text(),
            HasSubstr(
                fmt::format("opcode {} at byte {}", name, bytes[0] == '(' && bytes[1] == 'S' ? at + 0 : at)));
    }
}

TEST(Pickle, StopsWithExactlyOneValue)
{
    EXPECT_THAT(errorOf("\x80\x04}}."sv), HasSubstr("stops with 2 values"));
    EXPECT_THAT(errorOf("\x80\x04."sv), HasSubstr("stops with 0 values"));
    EXPECT_THAT(errorOf("\x80\x04}(."sv), HasSubstr("stops with"));
}

TEST(Pickle, NeedsItsOperands)
{
    for (const std::string_view bytes : { "\x80\x04"
                                          "a."sv,
             "\x80\x04]a."sv, "\x80\x04s."sv, "\x80\x04}Ks."sv, "\x80\x04u."sv, "\x80\x04(u."sv,
             "\x80\x04}(K\x01u."sv,
             "\x80\x04"
             "e."sv,
             "\x80\x04(e."sv, "\x80\x04t."sv, "\x80\x04\x86."sv,
             "\x80\x04"
             "0."sv,
             "\x80\x04"
             "1."sv,
             "\x80\x04"
             "2."sv,
             "\x80\x04\x94."sv, "\x80\x04q\x01."sv, "\x80\x04h\x01."sv, "\x80\x04j\x01\0\0\0."sv,
             "\x80\x04g12\n."sv, "\x80\x04](K\x01K\x02(a."sv, "\x80\x04\xff."sv, "\x80\x09}."sv }) {
        const auto recording = readBytes(bytes);
        ASSERT_FALSE(recording) << testing::PrintToString(bytes);
        EXPECT_THAT(recording.error().text(), HasSubstr("byte"));
    }
}

TEST(Pickle, SaysWhatItFoundWhenThereIsNoSnapshot)
{
    EXPECT_THAT(errorOf("\x80\x04]."sv), HasSubstr("an empty list"));
    EXPECT_THAT(errorOf("\x80\x04}."sv), HasSubstr("a dict without 'segments'"));
    EXPECT_THAT(errorOf("\x80\x04]K\x01"
                        "a."sv),
        HasSubstr("a list of other things"));
    EXPECT_THAT(errorOf("\x80\x04K\x01."sv), HasSubstr("a whole number"));
    EXPECT_THAT(errorOf("\x80\x04N."sv), HasSubstr("nothing (None)"));
    EXPECT_THAT(errorOf(PickleBytes().raw("\x80\x04](").event(1, 1).raw("e.").bytes()),
        HasSubstr("a list of events"));
}

TEST(Pickle, DeepNestingIsHarmless)
{
    for (const std::string_view open : { "]"sv, "("sv, "]("sv, "}(K\x01"sv, ")\x85"sv }) {
        std::string pickle = "\x80\x04";
        for (int i = 0; i < 100000; ++i)
            pickle += open;
        EXPECT_THAT(errorOf(pickle), HasSubstr("ends at byte")) << open;
        EXPECT_NE(errorOf(pickle + "."), "read");
    }
    // Closed properly, as the value of a key that nobody knows.
    std::string nested(100000, ']');
    nested += std::string(99999, 'a');
    const auto recording = readBytes("\x80\x04}(\x8c\x08segments]\x8c\x04"
                                     "deep"
        + nested + "u.");
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_EQ((*recording)->unknownKeys.at("snapshot.deep"), 1);
}

TEST(Pickle, DeepSettingsAreCutAndNotFollowed)
{
    std::string nested(100000, ']');
    nested += std::string(99999, 'a');
    const auto recording = readBytes("\x80\x04}(\x8c\x08segments]\x8c\x12"
                                     "allocator_settings}\x8c\x04"
                                     "deep"
        + nested + "su.");
    ASSERT_TRUE(recording) << recording.error().text();
    ASSERT_EQ((*recording)->settings.size(), 1u);
    EXPECT_LT((*recording)->settings[0].json.size(), 200u);
}

TEST(Pickle, ClaimedLengthsAllocateNothing)
{
    const auto claims = [](std::string_view opcode, std::uint64_t length, int bytes) {
        PickleBytes pickle;
        pickle.raw("\x80\x04}(").raw(opcode);
        for (int i = 0; i < bytes; ++i)
            pickle.raw(std::string(1, static_cast<char>(length >> 8 * i & 0xff)));
        return pickle.raw("abc").bytes();
    };
    for (const std::string_view opcode : { "X"sv, "B"sv, "T"sv, "\x8b"sv }) {
        EXPECT_NE(errorOf(claims(opcode, 0xfffffffe, 4)), "read");
        EXPECT_NE(errorOf(claims(opcode, 0x7fffffff, 4)), "read");
    }
    for (const std::string_view opcode : { "\x8d"sv, "\x8e"sv, "\x96"sv }) {
        EXPECT_NE(errorOf(claims(opcode, 0xffffffffffffffff, 8)), "read");
        EXPECT_NE(errorOf(claims(opcode, std::uint64_t{ 1 } << 32, 8)), "read");
    }
    // Numbers of stored values far beyond what there is.
    EXPECT_NE(errorOf("\x80\x04]r\xff\xff\xff\xff."sv), "read");
    EXPECT_NE(errorOf("\x80\x04]p18446744073709551615\n."sv), "read");
    EXPECT_NE(errorOf("\x80\x04]p-1\n."sv), "read");
}

TEST(Pickle, StoredValuesMayHaveAnyNumber)
{
    const std::string trace = PickleBytes()
                                  .raw("](}(")
                                  .text("action")
                                  .raw("r\xf0\xff\xff\xff")
                                  .text("alloc")
                                  .raw("p7\n")
                                  .member("size", 3)
                                  .raw("u}(j\xf0\xff\xff\xff"
                                       "g7\n")
                                  .member("size", 5)
                                  .raw("ue")
                                  .bytes();
    EXPECT_EQ(sizesOf(readBytes(snapshotWith(trace))), (Sizes{ 3, 5 }));
}

TEST(Pickle, StoredValuesMayBeReplaced)
{
    // Value 0 is first the key "size", then "addr": what was learned of the first event must not hold for the
    // third.
    PickleBytes trace;
    trace.text("action")
        .raw("q\0"sv)
        .raw("0")
        .text("size")
        .raw("q\1"sv)
        .raw("0")
        .text("alloc")
        .raw("q\2"sv)
        .raw("0](");
    for (int i = 0; i < 2; ++i)
        trace.raw("}(h\0h\2h\1K\7u"sv);
    trace.text("addr").raw("q\1"sv).raw("0");
    trace.raw("}(h\0h\2h\1K\x09"sv).member("size", 11).raw("u");
    trace.raw(std::string(400, 'N') + std::string(400, '0'))
        .raw("e"); // far from the end, where the short cut works
    const auto recording = readBytes(snapshotWith(trace.bytes()));
    EXPECT_EQ(sizesOf(recording), (Sizes{ 7, 7, 11 }));
    EXPECT_EQ((*recording)->devices[0].events.address[2], 9u);
}

TEST(Pickle, StacksWrittenTheSameWayAreTheSameUntilAStoredValueIsReplaced)
{
    const auto frame = [](std::string_view name) {
        return PickleBytes()
            .raw("}(")
            .member("filename", "a.py")
            .member("name", name)
            .member("line", 1)
            .raw("u")
            .bytes();
    };
    PickleBytes trace;
    trace.raw(frame("f")).raw("q\0"sv).raw("0").raw(frame("g")).raw("q\1"sv).raw("0](");
    const auto event = [&trace] {
        trace.raw("}(").member("action", "alloc").member("size", 1).text("frames").raw("](h\0h\1eu"sv);
    };
    event();
    event();
    trace.raw(frame("h")).raw("q\1"sv).raw("0");
    event();
    event();
    trace.raw(std::string(400, 'N') + std::string(400, '0')).raw("e");
    const auto recording = readBytes(snapshotWith(trace.bytes()));
    ASSERT_TRUE(recording) << recording.error().text();
    const EventColumns& events = (*recording)->devices.at(0).events;
    ASSERT_EQ(events.size(), 4);
    EXPECT_EQ(events.stack[0], events.stack[1]);
    EXPECT_NE(events.stack[1], events.stack[2]);
    EXPECT_EQ(events.stack[2], events.stack[3]);
    EXPECT_EQ(
        (*recording)
            ->strings[(*recording)->stacks.frame((*recording)->stacks.stack(events.stack[3])[1]).function],
        "h");
}

TEST(Pickle, CyclesAreHarmless)
{
    // A list in itself, a dict in itself, an event in its own unknown key, frames in their own dict.
    EXPECT_NE(errorOf("\x80\x04]q\0h\0a."sv), "read");
    EXPECT_NE(errorOf("\x80\x04}q\0(\x8c\x08segmentsh\0u."sv), "read");
    EXPECT_THAT(
        errorOf(PickleBytes().raw("\x80\x04]q\0(h\0h\0h\0"sv).raw("e.").bytes()), HasSubstr("other things"));
    const std::string trace = PickleBytes()
                                  .raw("](}q\0("sv)
                                  .member("action", "alloc")
                                  .member("size", 4)
                                  .text("me")
                                  .raw("h\0ue"sv)
                                  .bytes();
    const auto recording = readBytes(snapshotWith(trace));
    EXPECT_EQ(sizesOf(recording), (Sizes{ 4 }));
    EXPECT_EQ((*recording)->unknownKeys.at("event.me"), 1);
    const std::string frames = PickleBytes()
                                   .raw("](}(")
                                   .member("action", "alloc")
                                   .member("size", 4)
                                   .text("frames")
                                   .raw("]q\0h\0a"sv)
                                   .raw("ue")
                                   .bytes();
    EXPECT_NE(errorOf(snapshotWith(frames)), "read");
}

TEST(Pickle, AnEventMayStandInSeveralListsAndTwiceInOne)
{
    const std::string event = PickleBytes().event(32, 5).raw("\x94").bytes();
    EXPECT_EQ(sizesOf(readBytes(snapshotWith("](" + event + std::string("h\0h\0e", 5)))), (Sizes{ 5, 5, 5 }));
    const std::string pickle = PickleBytes()
                                   .raw("\x80\x04}(")
                                   .text("segments")
                                   .raw("]")
                                   .text("device_traces")
                                   .raw("](](")
                                   .event(32, 5)
                                   .raw("\x94")
                                   .event(64, 6)
                                   .raw("\x94"
                                        "e](h\1h\0eeu."sv)
                                   .bytes();
    const auto recording = readBytes(pickle);
    EXPECT_EQ(sizesOf(recording, 0), (Sizes{ 5, 6 }));
    EXPECT_EQ(sizesOf(recording, 1), (Sizes{ 6, 5 }));
}

TEST(Pickle, RefusesChangesToWhatWasUsed)
{
    const std::string change = PickleBytes().text("size").raw("K\1s"sv).bytes();
    const auto refused = [](const std::string& pickle, const char* what) {
        const auto recording = readBytes(pickle);
        ASSERT_FALSE(recording) << what;
        EXPECT_EQ(recording.error().kind, Error::Kind::Refused) << recording.error().text();
        EXPECT_THAT(recording.error().what.text(), HasSubstr(what));
        EXPECT_THAT(recording.error().what.text(), HasSubstr("at byte"));
    };
    refused(snapshotWith(PickleBytes()
                             .raw("](")
                             .event(16, 2)
                             .raw("\x94"
                                  "eh\0"sv)
                             .raw(change)
                             .bytes()),
        "an event");
    refused(snapshotWith(PickleBytes().raw("](").event(16, 2).raw(change).raw("e").bytes()), "an event");
    const std::string frame = PickleBytes()
                                  .raw("}(")
                                  .member("filename", "a")
                                  .member("name", "f")
                                  .member("line", 1)
                                  .raw("u")
                                  .bytes();
    const std::string withFrames = PickleBytes()
                                       .raw("](}(")
                                       .member("action", "alloc")
                                       .member("size", 4)
                                       .text("frames")
                                       .raw("]\x94")
                                       .raw(frame)
                                       .raw("\x94"
                                            "aue"sv)
                                       .bytes();
    EXPECT_EQ(sizesOf(readBytes(snapshotWith(withFrames))), Sizes{ 4 });
    refused(snapshotWith(withFrames + std::string("h\1", 2) + change), "a frame");
    refused(snapshotWith(withFrames + std::string("h\0h\1a0", 6)), "a stack");
    const std::string noFrames = PickleBytes()
                                     .raw("](}(")
                                     .member("action", "alloc")
                                     .member("size", 4)
                                     .text("frames")
                                     .raw("]\x94"
                                          "ue")
                                     .bytes();
    refused(snapshotWith(noFrames + std::string("h\0", 2) + frame + "a0"), "a stack");
}

TEST(Pickle, RefusesEventsThatTheirListNeverGets)
{
    for (const std::string_view away : { "0e"sv, "1]"sv, "l"sv, "t"sv, "\x91"sv }) {
        const std::string pickle = snapshotWith(PickleBytes().raw("](").event(16, 2).raw(away).bytes());
        const auto recording = readBytes(pickle);
        ASSERT_FALSE(recording) << testing::PrintToString(away);
        EXPECT_EQ(recording.error().kind, Error::Kind::Refused);
    }
}

TEST(Pickle, ReadsIntegersOfAllLengths)
{
    const auto eventWith = [](std::string_view addr, std::string_view size) {
        return snapshotWith(PickleBytes()
                                .raw("](}(")
                                .member("action", "alloc")
                                .text("addr")
                                .raw(addr)
                                .text("size")
                                .raw(size)
                                .raw("ue")
                                .bytes());
    };
    const auto addressOf = [&](std::string_view addr) -> std::uint64_t {
        const auto recording = readBytes(eventWith(addr, "K\1"));
        return recording ? (*recording)->devices.at(0).events.address[0] : 1;
    };
    EXPECT_EQ(addressOf("\x8a\0"sv), 0u);
    EXPECT_EQ(addressOf("\x8a\1\x7f"sv), 127u);
    EXPECT_EQ(addressOf("\x8a\1\xff"sv), ~std::uint64_t{ 0 }) << "negative addresses wrap";
    EXPECT_EQ(addressOf("\x8a\x09\0\0\0\0\0\0\0\x80\0"sv), std::uint64_t{ 1 } << 63)
        << "nine bytes, unsigned";
    EXPECT_EQ(addressOf("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0"sv), ~std::uint64_t{ 0 });
    EXPECT_EQ(addressOf("\x8a\x09\0\0\0\0\0\0\0\x80\xff"sv), std::uint64_t{ 1 } << 63);
    EXPECT_EQ(addressOf("\x8b\x08\0\0\0\0\0\0\0\0\0\0\x10"sv), std::uint64_t{ 1 } << 60);
    EXPECT_EQ(addressOf("\x8b\x03\0\0\0\0\0\1"sv), 65536u);
    EXPECT_EQ(addressOf("L140401574936576L\n"), 140401574936576u);
    EXPECT_EQ(addressOf("I-1\n"), ~std::uint64_t{ 0 });
    EXPECT_EQ(addressOf("I18446744073709551615\n"), ~std::uint64_t{ 0 });
    EXPECT_THAT(errorOf(eventWith("L99999999999999999999999999L\n", "K\1")), HasSubstr("more than 64 bits"));
    EXPECT_THAT(errorOf(eventWith("\x8a\x0a\0\0\0\0\0\0\0\0\0\1"sv, "K\1")), HasSubstr("more than 64 bits"));
    EXPECT_THAT(errorOf(eventWith("K\1", "I-5\n")), HasSubstr("negative"));
    EXPECT_THAT(errorOf(eventWith("K\1", "I9223372036854775808\n")), HasSubstr("below 2^63"));
    EXPECT_THAT(errorOf(eventWith("K\1", "I9223372036854775807\n")), HasSubstr("4 EiB"));
    EXPECT_THAT(errorOf(eventWith("F1.5\n", "K\1")), HasSubstr("fraction"));
    EXPECT_THAT(errorOf(eventWith("I01\n", "K\1")), HasSubstr("true or false"));
    for (const std::string_view bad :
        { "I\n"sv, "Ix\n"sv, "L5\n\n"sv, "F\n"sv, "F1x\n"sv, "S'x\n"sv, "Sx\n"sv, "V\\u12\n"sv, "gx\n"sv })
        EXPECT_NE(errorOf(eventWith(bad, "K\1")), "read") << bad;
}

TEST(Pickle, ReadsTextsOfOldProtocols)
{
    const auto nameOf = [](std::string_view literal) -> std::string {
        const auto recording = readBytes(
            snapshotWith(PickleBytes().raw("](}(").text("action").raw(literal).raw("ue").bytes()));
        return recording
            ? std::string((*recording)->strings[(*recording)->devices.at(0).events.otherAction.at(0)])
            : recording.error().text();
    };
    EXPECT_EQ(nameOf("S'it\\'s\\n\\x41\\\\'\n"), "it's\nA\\");
    EXPECT_EQ(nameOf("S\"a'b\"\n"), "a'b");
    EXPECT_EQ(nameOf("Vh\\u00e9\xe9\\U0001f600\n"), "h\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80");
    EXPECT_EQ(nameOf("V\\ud83d\\ude00\n"), "\xf0\x9f\x98\x80");
    EXPECT_EQ(nameOf("U\3abc"), "abc");
    EXPECT_EQ(nameOf("T\3\0\0\0abc"sv), "abc");
    EXPECT_EQ(nameOf("X\3\0\0\0\xff\xfe\0"sv), "\xff\xfe\0"sv) << "bytes that are not UTF-8 are kept";
}

TEST(Pickle, PassesOverBinaryData)
{
    const std::string pickle = PickleBytes()
                                   .raw("\x80\x05}(")
                                   .text("segments")
                                   .raw("]")
                                   .text("a")
                                   .raw("C\3xyz")
                                   .text("b")
                                   .raw("B\3\0\0\0xyz"sv)
                                   .text("c")
                                   .raw("\x8e\3\0\0\0\0\0\0\0xyz"sv)
                                   .text("d")
                                   .raw("\x96\3\0\0\0\0\0\0\0xyz"sv)
                                   .text("e")
                                   .raw("\x8f(K\1\x90"sv)
                                   .text("f")
                                   .raw("(K\1\x91"sv)
                                   .text("g")
                                   .raw("K\1K\2K\3\x87"sv)
                                   .raw("u.")
                                   .bytes();
    const auto recording = readBytes(pickle);
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_EQ((*recording)->unknownKeys.size(), 7u);
}

TEST(Pickle, OneHugeAppendsIsReadEventByEvent)
{
    PickleBytes trace;
    trace.raw("](");
    Sizes expected;
    for (int i = 0; i < 200000; ++i) {
        trace.event(512 * i, i);
        expected.push_back(i);
    }
    trace.raw("e");
    EXPECT_EQ(sizesOf(readBytes(snapshotWith(trace.bytes()))), expected);
}

TEST(Pickle, ManyStreamsAreRefusedQuickly)
{
    PickleBytes trace;
    trace.raw("](");
    for (int i = 0; i < 70000; ++i)
        trace.raw("}(").member("action", "alloc").member("size", 1).member("stream", i).raw("u");
    trace.raw("e");
    const auto recording = readBytes(snapshotWith(trace.bytes()));
    ASSERT_TRUE(recording);
    ASSERT_TRUE((*recording)->truncation);
    EXPECT_THAT((*recording)->truncation->reason.text(), HasSubstr("65534 streams"));
    EXPECT_EQ((*recording)->devices[0].events.size(), 65534);
}

TEST(Pickle, ManyListsOfEventsAreRefused)
{
    PickleBytes pickle;
    pickle.raw("\x80\x04}(").text("segments").raw("]").text("device_traces").raw("](");
    for (int i = 0; i < 5000; ++i)
        pickle.raw("](").event(16, 1).raw("e");
    pickle.raw("eu.");
    EXPECT_NE(errorOf(pickle.bytes()), "read");
}

TEST(Pickle, SharedPartsCannotMakeTheWalkEndless)
{
    // A list of 60,000 segments that are one, with a list of 60,000 blocks that are one.
    PickleBytes pickle;
    pickle.raw("\x80\x04}(")
        .text("segments")
        .raw("](}(")
        .member("device", 0)
        .member("address", 0)
        .member("total_size", 0)
        .text("blocks")
        .raw("](}(");
    pickle.member("size", 0).member("state", "inactive").raw("u\x94"sv);
    for (int i = 0; i < 60000; ++i)
        pickle.raw("h\0"sv);
    pickle.raw("eu\x94"sv);
    for (int i = 0; i < 60000; ++i)
        pickle.raw("h\1"sv);
    pickle.raw("eu.");
    EXPECT_THAT(errorOf(pickle.bytes()), HasSubstr("refer to each other"));
}

TEST(Pickle, CancelsAndReports)
{
    std::stop_source stop;
    Progress progress;
    progress.stop = stop.get_token();
    int reports = 0;
    progress.report = [&](const ProgressReport& report) {
        EXPECT_EQ(report.stage, Stage::Reading);
        if (++reports == 3)
            stop.request_stop();
    };
    PickleBytes trace;
    trace.raw("](");
    for (int i = 0; i < 200000; ++i)
        trace.event(512 * i, i);
    const auto recording = readBytes(snapshotWith(trace.raw("e").bytes()), {}, progress);
    ASSERT_FALSE(recording);
    EXPECT_EQ(recording.error().kind, Error::Kind::Cancelled);
    EXPECT_EQ(reports, 3);
}

} // namespace strata::model
