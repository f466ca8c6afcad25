// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"

#include <span>
#include <string>
#include <utility>

namespace strata::wire {

struct Totals; // model/wire/link/link_chunks.h

/// Where the chunks of a stream go: a file, a socket, memory. Whoever implements it takes them whole and in
/// order, from one thread at a time: the one that writes the stream, which in a program that is recorded is
/// the recorder's own and never one that allocates. It may wait for disk or peer as long as the stream may
/// wait, and throws nothing.
///
/// Its first failure is final: problem() says why, for the user, and nothing is taken any more. What was
/// taken before stays a stream that can be read.
class ChunkSink {
public:
    virtual ~ChunkSink() = default;
    ChunkSink() = default;
    ChunkSink(const ChunkSink&) = delete;
    ChunkSink& operator=(const ChunkSink&) = delete;

    /// Takes one whole chunk, head and payload; the bytes are the caller's again on return. True: they are
    /// out of this program's hands, so that they outlive it, or will be once the sink says that it is whole.
    /// False: none of it counts, and problem() says why.
    [[nodiscard]] virtual bool write(std::span<const std::byte> chunk) = 0;

    /// Fails if what is written from now on would reach nobody: a file that was removed, a peer that left.
    virtual void check() { }

    /// No more chunks will come. Once, from the thread that wrote, whether or not it failed.
    virtual void close() { }

    /// Somebody looks on: what is written soon is seen soon. Any thread; a load of a flag.
    [[nodiscard]] virtual bool isWatched() const noexcept { return false; }

    /// What stands now, for those who look on and are not told of it by chunks yet. As write().
    virtual void tell(const Totals&) { }

    /// In the child of a fork, where nothing is written any more: lets go of what others could see of it.
    virtual void forget() noexcept { }

    /// What messages call it: a path, a peer.
    [[nodiscard]] virtual std::string name() const = 0;

    /// Why it takes no more: "No space left on device". Empty as long as it does.
    [[nodiscard]] const std::string& problem() const { return m_problem; }

protected:
    void fail(std::string why) { m_problem = std::move(why); }

private:
    std::string m_problem;
};

/// Keeps the stream: what is to be written in one piece, and tests.
class MemorySink final : public ChunkSink {
public:
    [[nodiscard]] bool write(std::span<const std::byte> chunk) override
    {
        m_bytes.insert(m_bytes.end(), chunk.begin(), chunk.end());
        return true;
    }
    [[nodiscard]] std::string name() const override { return "memory"; }
    [[nodiscard]] const Bytes& bytes() const { return m_bytes; }

private:
    Bytes m_bytes;
};

} // namespace strata::wire
