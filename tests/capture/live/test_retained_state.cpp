// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/live/retained_state.h"

#include "model/wire/chunk_writer.h"

#include <gtest/gtest.h>

namespace strata::agent {

TEST(RetainedState, TellsAllEventsThatWereLost)
{
    RetainedState retained;
    const std::vector<std::vector<wire::LostRow>> told
        = { { { 0, 0, 5 } }, { { 0, 0, 7 }, { 1, 0, 2 } }, { { 0, 0, 1 } } };
    for (const std::vector<wire::LostRow>& rows : told) {
        wire::MemorySink sink;
        wire::ChunkWriter writer(sink);
        writer.chunk(wire::ChunkType::Lost, [&](wire::Bytes& bytes) { wire::encodeLost(rows, bytes); });
        retained.take(std::make_shared<const wire::Bytes>(sink.bytes()));
    }

    wire::Bytes written;
    (void)retained.write(written);
    std::vector<wire::LostRow> lost;
    std::span<const std::byte> stream(written);
    wire::ChunkHead head;
    for (wire::Bytes payload; wire::readHead(stream, head) == wire::ChunkStatus::Ok;
         stream = stream.subspan(wire::kHeadBytes + head.storedBytes)) {
        ASSERT_EQ(
            wire::unpack(head, stream.first(wire::kHeadBytes), stream.subspan(wire::kHeadBytes), payload),
            wire::ChunkStatus::Ok);
        if (head.type == wire::ChunkType::Lost) {
            ASSERT_TRUE(wire::decodeLost(payload, lost));
        }
    }
    EXPECT_EQ(lost, (std::vector<wire::LostRow>{ { 0, 0, 13 }, { 1, 0, 2 } }));
}

} // namespace strata::agent
