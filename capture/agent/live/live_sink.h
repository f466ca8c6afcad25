// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/live/live_server.h"
#include "capture/agent/session_file.h"

#include <memory>
#include <string>
#include <vector>

namespace strata::agent {

/// A recording at which others may look on while it is made, whether or not it goes to a file too:
///
///     recorder -> LiveSink -> SessionFile -> FileStore ...   a viewer reads what it has not got
///                          -> MemoryStore ............ LiveServer -> viewers
///
/// What goes wrong with viewers is theirs: only the file's trouble ends the recording.
class LiveSink final : public wire::ChunkSink {
public:
    /// `file` may be none. nullptr: `why` says what keeps viewers away, and `file` is as it was.
    [[nodiscard]] static std::unique_ptr<LiveSink> open(std::unique_ptr<SessionFile>& file,
        const std::vector<wire::KeyValue>& facts, const LiveOptions& options, std::string& why);
    ~LiveSink() override;

    [[nodiscard]] bool write(std::span<const std::byte> chunk) override;
    void check() override;
    void close() override;
    [[nodiscard]] bool isWatched() const noexcept override { return m_server->isWatched(); }
    void tell(const wire::Totals& totals) override { m_server->tell(totals); }
    void forget() noexcept override { m_server->forget(); }
    [[nodiscard]] std::string name() const override; ///< of the file, else of the socket

    [[nodiscard]] const LiveServer& server() const { return *m_server; }

private:
    LiveSink() = default;

    std::unique_ptr<SessionFile> m_file;
    std::unique_ptr<ChunkStore> m_store;
    std::unique_ptr<LiveServer> m_server;
};

/// What a greeting says besides what the recording does: the program's name, and the job of its ranks.
[[nodiscard]] std::vector<wire::KeyValue> greetingFacts(
    const std::vector<wire::KeyValue>& facts, const std::string& file);

} // namespace strata::agent
