// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "model/tables/row_columns.h"

#include <string>
#include <vector>

namespace strata::cli {

/// Names that repeat in millions of rows, made once each: as JSON (null where there is none) and for people.
/// Those of stacks are made when they are first asked for: one thread at a time.
class RowLabels {
public:
    explicit RowLabels(const model::Recording& recording);

    [[nodiscard]] const std::string& lineJson(model::StackId stack) const;
    [[nodiscard]] const std::string& framesJson(model::StackId stack) const; ///< "[...]"
    /// Fit for a terminal; "-" without a stack.
    [[nodiscard]] const std::string& line(model::StackId stack) const;
    [[nodiscard]] const std::string& poolJson(model::PoolIndex pool) const; ///< "\"unknown\"" for no pool
    [[nodiscard]] const std::string& pool(model::PoolIndex pool) const;
    /// The stream's handle as recorded, "null" for none.
    [[nodiscard]] const std::string& stream(model::StreamIndex stream) const;

private:
    const model::Recording& m_recording;
    // by stack; empty: not made yet; last: no stack
    mutable std::vector<std::string> m_lineJson, m_framesJson, m_lines;
    std::vector<std::string> m_poolJson, m_pools; // by pool; last: none
    std::vector<std::string> m_streams; // by stream; last: none
};

/// Values of rows, see answer_json.h.
inline void writeJson(JsonWriter& json, model::Address address, const RowLabels&)
{
    json.value(address.value);
}
inline void writeJson(JsonWriter& json, model::StreamIn in, const RowLabels& labels)
{
    json.plain(labels.stream(in.stream));
}
inline void writeJson(JsonWriter& json, model::PoolIn in, const RowLabels& labels)
{
    json.plain(labels.poolJson(in.pool));
}
inline void writeJson(JsonWriter& json, model::LineIn in, const RowLabels& labels)
{
    json.plain(labels.lineJson(in.stack));
}
inline void writeJson(JsonWriter& json, model::FramesIn in, const RowLabels& labels)
{
    json.plain(labels.framesJson(in.stack));
}

} // namespace strata::cli
