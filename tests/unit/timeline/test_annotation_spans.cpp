// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/annotation_spans.h"

#include "tests/support/make_recording.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <tuple>

using namespace strata;

namespace {

/// One line a span: level, name, begin-end in nanoseconds, first-last event, open ends.
std::string printed(const char* text)
{
    const auto recording = test::makeRecording(text);
    const auto trace = model::DeviceTrace::build(*recording, recording->devices.front(), {});
    const model::Clock clock(*trace);
    std::string out;
    for (const auto& span : model::annotationSpans(*recording, 0, clock)) {
        out += std::to_string(span.level) + " " + std::string(span.name) + " " + std::to_string(span.beginNs)
            + "-" + std::to_string(span.endNs) + " e" + std::to_string(span.first) + "-"
            + std::to_string(span.last) + (span.openBegin ? " <" : "") + (span.openEnd ? " >" : "") + "\n";
    }
    return out;
}

const std::string kEvents = "alloc 0x1000 512 time=1000\nalloc 0x2000 512 time=2000\n"
                            "alloc 0x3000 512 time=3000\nalloc 0x4000 512 time=4000\n";

} // namespace

TEST(AnnotationSpans, NestByTime)
{
    EXPECT_EQ(printed((kEvents
                  + "annotation start step time=1500\nannotation start forward time=1600\n"
                    "annotation end forward time=2500\nannotation start backward time=2600\n"
                    "annotation end backward time=3500\nannotation end step time=3600\n")
                          .c_str()),
        "0 step 500-2600 e0-2\n"
        "1 forward 600-1500 e0-1\n"
        "1 backward 1600-2500 e1-2\n");
}

TEST(AnnotationSpans, SameNameInsideItself)
{
    EXPECT_EQ(printed((kEvents
                  + "annotation start a time=1100\nannotation start a time=1200\n"
                    "annotation end a time=1300\nannotation end a time=1400\n")
                          .c_str()),
        "0 a 100-400 e0-0\n"
        "1 a 200-300 e0-0\n");
}

TEST(AnnotationSpans, ThreadsHaveRangesAndLevelsOfTheirOwn)
{
    EXPECT_EQ(printed((kEvents
                  + "annotation start step time=1100 thread=7\nannotation start step time=1200 thread=9\n"
                    "annotation start part time=1300 thread=7\nannotation start part time=1400 thread=9\n"
                    "annotation end part time=1500 thread=7\nannotation end step time=1600 thread=7\n"
                    "annotation end part time=2500 thread=9\nannotation end step time=2600 thread=9\n"
                    "annotation start step time=2700 thread=7\nannotation end step time=2800 thread=7\n")
                          .c_str()),
        "0 step 100-600 e0-0\n"
        "0 step 1700-1800 e1-1\n"
        "1 part 300-500 e0-0\n"
        "2 step 200-1600 e0-1\n"
        "3 part 400-1500 e0-1\n");
}

namespace {

using Span = std::tuple<std::string_view, std::uint32_t, std::int64_t, std::int64_t, bool, bool>;

/// An END closes the latest START of its name and thread, which is looked for among all that are open.
std::multiset<Span> naiveSpans(const model::Recording& recording, std::int64_t startNs, std::int64_t endNs)
{
    std::multiset<Span> found;
    std::vector<const model::Annotation*> open;
    for (const model::Annotation& row : recording.annotations) {
        const std::string_view name = recording.strings[row.name];
        const std::int64_t at = row.timeNs - startNs;
        if (row.kind == model::Annotation::Kind::Mark) {
            found.insert({ name, row.thread, at, at, false, false });
        } else if (row.kind == model::Annotation::Kind::Start) {
            open.push_back(&row);
        } else {
            const auto began = std::find_if(open.rbegin(), open.rend(), [&](const model::Annotation* each) {
                return each->name == row.name && each->thread == row.thread;
            });
            const bool none = began == open.rend();
            found.insert({ name, row.thread, none ? 0 : (*began)->timeNs - startNs, at, none, false });
            if (!none)
                open.erase(std::next(began).base());
        }
    }
    for (const model::Annotation* each : open)
        found.insert({ recording.strings[each->name], each->thread, each->timeNs - startNs, endNs - startNs,
            false, true });
    return found;
}

} // namespace

TEST(AnnotationSpans, PairAsANaiveWalkDoes)
{
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto recording = test::makeRecording(kEvents);
        static constexpr std::array<std::string_view, 3> kNames{ "a", "b", "c" };
        std::int64_t time = 1000;
        for (int i = 0; i < 60; ++i) {
            model::Annotation row;
            row.kind = static_cast<model::Annotation::Kind>(random() % 3);
            row.name = recording->strings.intern(kNames[random() % kNames.size()]);
            row.timeNs = time += static_cast<std::int64_t>(random() % 50);
            row.thread = static_cast<std::uint32_t>(random() % 3);
            recording->annotations.push_back(row);
        }
        const auto trace = model::DeviceTrace::build(*recording, recording->devices.front(), {});
        std::multiset<Span> found;
        for (const auto& span :
            model::annotationSpans(*recording, 0, model::Clock(*trace), model::SpanTimes::Whole))
            found.insert({ span.name, span.thread, span.beginNs, span.endNs, span.openBegin, span.openEnd });
        EXPECT_EQ(found, naiveSpans(*recording, 1000, 4000)) << "seed " << seed;
    }
}

TEST(AnnotationSpans, OpenEndsReachTheEdges)
{
    EXPECT_EQ(printed((kEvents + "annotation end a time=2000\nannotation start b time=3000\n").c_str()),
        "0 a 0-1000 e-1-1 <\n"
        "0 b 2000-3000 e1-3 >\n");
}

TEST(AnnotationSpans, MarksHaveNoLengthAndCrossingSpansTheirOwnLevels)
{
    EXPECT_EQ(printed((kEvents
                  + "annotation start a time=1100\nannotation start b time=1200\n"
                    "annotation end a time=2300\nannotation end b time=2400\nannotation mark m time=3000\n")
                          .c_str()),
        "0 a 100-1300 e0-1\n"
        "0 m 2000-2000 e1-2\n"
        "1 b 200-1400 e0-1\n");
}

TEST(AnnotationSpans, WithoutTimesThereIsNoPlaceForThem)
{
    EXPECT_EQ(printed("alloc 0x1000 512\nannotation start a time=5\nannotation end a time=6\n"), "");
}

TEST(AnnotationSpans, StepsAreThoseNumberedAsOne)
{
    const auto steps = [](std::initializer_list<const char*> names) {
        std::vector<model::AnnotationSpan> spans;
        for (const char* name : names)
            spans.push_back(
                { .name = name, .first = static_cast<model::EventIndex>(spans.size()), .level = 1 });
        std::string found;
        for (const model::AnnotationSpan& step : model::stepsAmong(spans))
            found += std::string(step.name) + ";";
        return found;
    };
    EXPECT_EQ(steps({ "ProfilerStep#12", "step 3", "## Step: 4", "iter-5", "Iteration 6", "batch 7 of 9",
                  "STEP8" }),
        "ProfilerStep#12;step 3;## Step: 4;iter-5;Iteration 6;batch 7 of 9;STEP8;");
    EXPECT_EQ(steps({ "stepping 3", "my step 3", "iterate 3", "step_3", "step", "", "batch\xc3\xa9 3" }),
        "batch\xc3\xa9 3;");
}

TEST(AnnotationSpans, WithoutNumbersTheOutermostAreTheSteps)
{
    std::vector<model::AnnotationSpan> spans{ { .name = "epoch", .first = 5, .level = 0 },
        { .name = "warmup", .first = 1, .level = 0 }, { .name = "forward", .first = 2, .level = 1 } };
    const auto steps = model::stepsAmong(spans);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].name, "warmup");
    EXPECT_EQ(steps[1].name, "epoch");
    spans.push_back({ .name = "step 0", .first = 0, .level = 2 });
    ASSERT_EQ(model::stepsAmong(spans).size(), 1u);
}

/// Where nobody marks steps, the optimizer tells of them: each ends with its update.
TEST(AnnotationSpans, OptimizersEndSteps)
{
    const auto span = [](const char* name, std::int64_t begin, std::int64_t end, int level = 0) {
        return model::AnnotationSpan{
            .name = name, .beginNs = begin, .endNs = end, .first = begin, .last = end, .level = level
        };
    };
    const std::vector<model::AnnotationSpan> spans{ span("Optimizer.step#AdamW.step", 30, 40),
        span("Optimizer.zero_grad#AdamW.zero_grad", 41, 42), span("Optimizer.step#Wrapper.step", 70, 80),
        span("Optimizer.step#AdamW.step", 72, 79, 1), span("Optimizer.zero_grad#AdamW.zero_grad", 81, 82),
        span("evaluate", 90, 99) };
    const auto steps = model::stepsAmong(spans);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(std::pair(steps[0].beginNs, steps[0].endNs), std::pair(std::int64_t{ 0 }, std::int64_t{ 40 }));
    EXPECT_EQ(std::pair(steps[0].first, steps[0].last),
        std::pair(model::EventIndex{ -1 }, model::EventIndex{ 40 }));
    EXPECT_TRUE(steps[0].openBegin);
    EXPECT_EQ(std::pair(steps[1].first, steps[1].last),
        std::pair(model::EventIndex{ 40 }, model::EventIndex{ 80 }));
    EXPECT_EQ(steps[1].name, "Optimizer.step#Wrapper.step");
    EXPECT_FALSE(steps[1].openBegin);

    const auto marked = [&](const char* name) {
        auto with = spans;
        with.push_back(span(name, 0, 50));
        return model::stepsAmong(with);
    };
    ASSERT_EQ(marked("ProfilerStep#1").size(), 1u) << "a mark of the program counts for more";
    EXPECT_EQ(marked("ProfilerStep#1")[0].name, "ProfilerStep#1");
    EXPECT_EQ(marked("epoch").size(), 2u);
    EXPECT_TRUE(model::stepsAmong({ span("Optimizer.zero_grad#SGD.zero_grad", 1, 2) }).empty());
}
