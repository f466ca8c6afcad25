// SPDX-License-Identifier: GPL-3.0-or-later
// A recorder writes into any sink: here into memory, and into one that fails.
#include "capture/agent/recorder.h"
#include "model/readers/reader.h"

#include <gtest/gtest.h>

#include <atomic>

namespace strata::agent {

namespace {

constexpr int kPairs = 200;

std::uint64_t nsTicks() noexcept
{
    return static_cast<std::uint64_t>(nowNs());
}

/// Keeps what it takes where a test finds it when the recorder is gone, up to so many chunks; then the peer
/// is away.
class KeepingSink final : public wire::ChunkSink {
public:
    struct Kept {
        wire::Bytes bytes;
        std::atomic<int> writes{ 0 }, checks{ 0 }, closes{ 0 };
        std::atomic<int> room{ 1'000'000 };
        std::thread::id writer;
    };
    explicit KeepingSink(Kept& kept)
        : m_kept(kept)
    {
    }

    bool write(std::span<const std::byte> chunk) override
    {
        m_kept.writer = std::this_thread::get_id();
        if (m_kept.writes++ >= m_kept.room) {
            fail("the peer is away");
            return false;
        }
        m_kept.bytes.insert(m_kept.bytes.end(), chunk.begin(), chunk.end());
        return true;
    }
    void check() override { ++m_kept.checks; }
    void close() override { ++m_kept.closes; }
    std::string name() const override { return "a peer"; }

private:
    Kept& m_kept;
};

class RecorderSinks : public testing::Test {
protected:
    RecorderSinks() { m_devices.push_back(std::make_unique<Device>(12)); }

    std::unique_ptr<Recorder> started(KeepingSink::Kept& kept)
    {
        auto recorder = std::make_unique<Recorder>(std::make_unique<KeepingSink>(kept),
            std::vector<wire::KeyValue>{ { wire::info::kFormat, "test" } }, m_devices, m_stacks, m_texts,
            nsTicks, Recorder::Options{});
        recorder->start();
        return recorder;
    }
    void push(std::uint8_t action, std::uint64_t address, std::int64_t bytes)
    {
        EventRecord* const record = m_devices[0]->ring.reserve(true);
        ASSERT_NE(record, nullptr);
        *record = {};
        record->action = action;
        record->address = address;
        record->bytes = bytes;
        record->counter = nsTicks();
        m_devices[0]->ring.commit();
    }
    void push(wire::EventAction action, std::uint64_t address, std::int64_t bytes)
    {
        push(static_cast<std::uint8_t>(action), address, bytes);
    }
    /// A state of the one segment, with nothing live in it.
    void state(Recorder& recorder, std::uint32_t number, StatePurpose purpose)
    {
        push(EventRecord::kCut, 0, number);
        TakenState state;
        state.number = number;
        state.purpose = purpose;
        state.segments = { { .device = 0, .large = true, .address = kAt, .bytes = 2 << 20 } };
        state.blockCounts = { 1 };
        state.blocks = { { .address = kAt, .bytes = 2 << 20 } };
        recorder.add(std::move(state));
    }
    void work()
    {
        for (int i = 0; i < kPairs; ++i) {
            push(wire::EventAction::Alloc, kAt, 1024 + i);
            push(wire::EventAction::FreeRequested, kAt, 1024 + i);
            push(wire::EventAction::FreeCompleted, kAt, 1024 + i);
        }
    }

    static constexpr std::uint64_t kAt = 0x7f0000000000;
    Devices m_devices;
    Stacks m_stacks{ 1 << 20 };
    SequenceTable m_texts{ 12, 14 };
};

} // namespace

TEST_F(RecorderSinks, WhatMemoryTookIsASession)
{
    KeepingSink::Kept kept;
    {
        const auto recorder = started(kept);
        state(*recorder, 1, StatePurpose::Base);
        ASSERT_TRUE(recorder->flush(10'000'000'000));
        recorder->annotate(wire::AnnotationKind::Mark, "half way", nowNs(), 1);
        work();
        state(*recorder, 2, StatePurpose::End);
        recorder->finish();
        EXPECT_TRUE(recorder->isWriting());
        EXPECT_EQ(recorder->name(), "a peer");
    }
    EXPECT_EQ(kept.closes, 1);
    EXPECT_GT(kept.checks, 0);
    EXPECT_NE(kept.writer, std::this_thread::get_id()); // never the program's own
    model::RecordingFile file(kept.bytes, {});
    EXPECT_TRUE(file.outline());
    const auto recording = file.all();
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_FALSE((*recording)->truncation);
    ASSERT_EQ((*recording)->devices.size(), 1u);
    EXPECT_EQ((*recording)->devices[0].events.size(), 3 * kPairs);
    EXPECT_EQ((*recording)->annotations.size(), 1u);
}

TEST_F(RecorderSinks, OneThatFailsEndsTheRecordingAndKeepsWhatItTook)
{
    KeepingSink::Kept kept;
    std::string said;
    {
        testing::internal::CaptureStderr();
        const auto recorder = started(kept);
        state(*recorder, 1, StatePurpose::Base);
        ASSERT_TRUE(recorder->flush(10'000'000'000));
        work();
        ASSERT_TRUE(recorder->flush(10'000'000'000));
        kept.room = kept.writes.load();
        work();
        ASSERT_TRUE(recorder->flush(10'000'000'000));
        EXPECT_FALSE(recorder->isWriting());
        recorder->finish();
        said = testing::internal::GetCapturedStderr();
    }
    EXPECT_NE(said.find("a peer: the peer is away: the recording ends here, the program goes on"), said.npos)
        << said;
    EXPECT_EQ(kept.writes, kept.room + 1); // asked once more, and never again
    EXPECT_EQ(kept.closes, 1);
    const auto recording = model::readRecording(std::span<const std::byte>(kept.bytes), {}, {});
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_TRUE((*recording)->truncation);
    EXPECT_EQ((*recording)->devices[0].events.size(), 3 * kPairs);
}

} // namespace strata::agent
