// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/tables/row_labels.h"

#include "app/cli/answer_json.h"
#include "app/cli/text.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/stack_fields.h"

#include <algorithm>

namespace strata::cli {

namespace {

template <class Id> std::size_t slot(const std::vector<std::string>& labels, Id id)
{
    return std::min<std::size_t>(id, labels.size() - 1);
}

} // namespace

RowLabels::RowLabels(const model::Recording& recording)
    : m_recording(recording)
    , m_lineJson(recording.stacks.stackCount() + 1)
    , m_framesJson(m_lineJson.size())
    , m_lines(m_lineJson.size())
{
    for (std::size_t i = 0; i <= recording.pools.size(); ++i) {
        const auto pool = i < recording.pools.size() ? static_cast<model::PoolIndex>(i) : model::kNoIndex;
        m_pools.push_back(model::poolLabel(recording, pool));
        appendJsonString(m_poolJson.emplace_back(), m_pools.back());
    }
    for (const std::int64_t handle : recording.streams)
        m_streams.push_back(std::to_string(handle));
    m_streams.push_back("null");
}

const std::string& RowLabels::lineJson(model::StackId stack) const
{
    std::string& json = m_lineJson[slot(m_lineJson, stack.value)];
    if (json.empty()) {
        const model::FrameId frame = model::userFrame(m_recording, stack);
        if (frame.valid())
            appendJsonString(json, model::frameLabel(m_recording, frame));
        else
            json = "null";
    }
    return json;
}

const std::string& RowLabels::framesJson(model::StackId stack) const
{
    std::string& json = m_framesJson[slot(m_framesJson, stack.value)];
    if (json.empty()) {
        JsonWriter writer;
        writeJson(writer, model::StackIn{ &m_recording, stack }.frames());
        json = writer.text();
    }
    return json;
}

const std::string& RowLabels::line(model::StackId stack) const
{
    std::string& text = m_lines[slot(m_lines, stack.value)];
    if (text.empty()) {
        const model::FrameId frame = model::userFrame(m_recording, stack);
        text = frame.valid() ? printable(model::frameLabel(m_recording, frame)) : "-";
    }
    return text;
}

const std::string& RowLabels::poolJson(model::PoolIndex pool) const
{
    return m_poolJson[slot(m_poolJson, pool)];
}

const std::string& RowLabels::pool(model::PoolIndex pool) const
{
    return m_pools[slot(m_pools, pool)];
}

const std::string& RowLabels::stream(model::StreamIndex stream) const
{
    return m_streams[slot(m_streams, stream)];
}

} // namespace strata::cli
