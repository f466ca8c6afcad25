// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/agent/agent.h"
#include "model/base/words.h"
#include "model/live/follow.h"
#include "model/session/opener.h"
#include "model/session/session.h"
#include "tests/capture/fake_allocator.h"
#include "tests/support/temporary_directory.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace strata::test {

/// A viewer on a thread of its own that keeps what it is given.
class Viewer final : public model::LinkTaker {
public:
    struct Piece {
        std::vector<wire::Gap::Missing> missing;
        wire::Bytes bytes;
    };

    explicit Viewer(model::LinkAddress address, model::FollowOptions options = {})
        : m_address(std::move(address))
        , m_options(std::move(options))
        , m_thread(
              [this](const std::stop_token& stop) { m_result = follow(m_address, m_options, *this, stop); })
    {
    }

    void onState(model::LinkState state, const model::Sentence&) override { m_state = state; }
    void onTotals(const wire::Totals& totals) override
    {
        const std::lock_guard lock(m_mutex);
        m_totals = totals;
        ++m_totalsCount;
    }
    model::Result<void> onBegin(const std::vector<wire::Gap::Missing>& missing) override
    {
        const std::lock_guard lock(m_mutex);
        m_pieces.push_back({ missing, {} });
        return {};
    }
    model::Result<void> onBytes(std::span<const std::byte> chunks) override
    {
        const std::lock_guard lock(m_mutex);
        m_pieces.back().bytes.insert(m_pieces.back().bytes.end(), chunks.begin(), chunks.end());
        m_bytes += chunks.size();
        return {};
    }

    void join() { m_thread.join(); }
    void stop() { m_thread.request_stop(); }
    [[nodiscard]] model::LinkState state() const { return m_state; }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    /// Behind join().
    [[nodiscard]] const model::Result<void>& result() const { return m_result; }
    [[nodiscard]] const std::vector<Piece>& pieces() const { return m_pieces; }
    [[nodiscard]] wire::Totals totals() const
    {
        const std::lock_guard lock(m_mutex);
        return m_totals;
    }

private:
    const model::LinkAddress m_address;
    const model::FollowOptions m_options;
    mutable std::mutex m_mutex;
    std::vector<Piece> m_pieces;
    wire::Totals m_totals;
    int m_totalsCount = 0;
    std::atomic<std::size_t> m_bytes{ 0 };
    std::atomic<model::LinkState> m_state{ model::LinkState::Connecting };
    model::Result<void> m_result;
    std::jthread m_thread; // last
};

/// A recording of a fake allocator at which others may look on.
class LiveRun : public testing::Test {
protected:
    LiveRun() { chmod(m_folder.c_str(), 0700); }

    agent::AgentOptions options(bool withFile)
    {
        agent::AgentOptions options;
        options.file = withFile ? (m_folder / "out.strata").string() : "";
        options.memoryLimit = 64 << 20;
        options.ringEvents = 1 << 18;
        options.live = agent::LiveOptions{};
        options.live->folder = m_folder;
        return options;
    }
    /// As in a process it is there for good: hooks may call it until the end.
    static agent::Agent& agentOf(FakeAllocator& allocator)
    {
        static auto& all = *new std::vector<agent::Agent*>;
        return *all.emplace_back(new agent::Agent(allocator.hook(), FakeAllocator::kDevices));
    }
    static std::vector<wire::KeyValue> facts()
    {
        return { { "format", "test" }, { "pid", std::to_string(getpid()) },
            { "command", "/usr/bin/python3 -u train.py --epochs 3" }, { "rank", "3" },
            { "world_size", "8" } };
    }
    [[nodiscard]] model::LinkAddress address() const
    {
        return { (m_folder / (std::to_string(getpid()) + ".sock")).string(), 0, geteuid() };
    }
    [[nodiscard]] wire::Bytes fileBytes() const
    {
        std::ifstream file(m_folder / "out.strata", std::ios::binary);
        const std::string content{ std::istreambuf_iterator<char>(file), {} };
        const auto bytes = std::as_bytes(std::span(content));
        return { bytes.begin(), bytes.end() };
    }
    /// The session that the bytes are.
    std::shared_ptr<const model::Session> sessionOf(std::span<const std::byte> bytes)
    {
        const auto path = m_folder / "received.strata";
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        auto session = model::Opener::openAll(path);
        if (!session) {
            ADD_FAILURE() << session.error().text();
            return nullptr;
        }
        return *session;
    }

    TemporaryDirectory m_temporary;
    const std::filesystem::path m_folder = m_temporary.path();
};

/// Allocates and frees at random, so many times, on both devices; what is left is freed at last.
inline void allocate(FakeAllocator& allocator, unsigned seed, int times)
{
    std::mt19937 random(seed);
    std::vector<std::pair<int, std::uint64_t>> mine;
    for (int i = 0; i < times; ++i) {
        if (mine.empty() || (mine.size() < 50 && random() % 2 == 0)) {
            const int device = static_cast<int>(random() % FakeAllocator::kDevices);
            mine.emplace_back(device, allocator.allocate(device, 1 + random() % 100'000));
        } else {
            const std::size_t which = random() % mine.size();
            allocator.release(mine[which].first, mine[which].second);
            mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    for (const auto& [device, at] : mine)
        allocator.release(device, at);
}

/// Until it is so, ten seconds at most.
template <class Condition> bool waitFor(const Condition& condition)
{
    for (int i = 0; i < 2000; ++i) {
        if (condition())
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return condition();
}

} // namespace strata::test
