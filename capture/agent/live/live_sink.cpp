// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/live/live_sink.h"

#include "capture/agent/live/file_store.h"
#include "capture/agent/live/memory_store.h"
#include "model/wire/link/process_names.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace strata::agent {

namespace {

std::string_view fact(const std::vector<wire::KeyValue>& facts, std::string_view key)
{
    const auto found = std::ranges::find(facts, key, &wire::KeyValue::first);
    return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

} // namespace

std::vector<wire::KeyValue> greetingFacts(const std::vector<wire::KeyValue>& facts, const std::string& file)
{
    std::vector<wire::KeyValue> all = facts;
    const auto add = [&](const char* key, std::string value) {
        if (!value.empty())
            all.emplace_back(key, std::move(value));
    };
    add(wire::greeting::kName, wire::programName(fact(facts, wire::info::kCommand)));
    add(wire::greeting::kJob, wire::jobName([](const char* name) -> std::string {
        const char* value = std::getenv(name);
        return value ? value : "";
    }));
    add(wire::greeting::kFile, file);
    return all;
}

std::unique_ptr<LiveSink> LiveSink::open(std::unique_ptr<SessionFile>& file,
    const std::vector<wire::KeyValue>& facts, const LiveOptions& options, std::string& why)
{
    std::unique_ptr<LiveSink> sink(new LiveSink);
    if (file) {
        auto store = std::make_unique<FileStore>();
        if (!store->open(file->name())) {
            why = file->name() + ": " + std::strerror(errno);
            return nullptr;
        }
        sink->m_store = std::move(store);
    } else
        sink->m_store = std::make_unique<MemoryStore>(options.memory);
    sink->m_server = std::make_unique<LiveServer>(
        options, greetingFacts(facts, file ? file->name() : std::string()), *sink->m_store);
    if (!sink->m_server->start(why))
        return nullptr;
    sink->m_file = std::move(file);
    return sink;
}

LiveSink::~LiveSink()
{
    close();
}

bool LiveSink::write(std::span<const std::byte> chunk)
{
    if (!problem().empty())
        return false;
    if (m_file && !m_file->write(chunk)) {
        fail(m_file->problem());
        return false;
    }
    try {
        m_server->onChunk(m_store->add(chunk));
    } catch (const std::exception&) {
        fail("there is no memory for what viewers have not seen yet");
        return false;
    }
    return true;
}

void LiveSink::check()
{
    if (!m_file)
        return;
    m_file->check();
    if (!m_file->problem().empty())
        fail(m_file->problem());
}

/// The file is whole before viewers are waited for.
void LiveSink::close()
{
    if (m_file)
        m_file->close();
    if (m_server)
        m_server->finish();
}

std::string LiveSink::name() const
{
    return m_file ? m_file->name() : m_server->path();
}

} // namespace strata::agent
