// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <string>
#include <vector>

namespace strata::cli {

/// Names that repeat in millions of rows, made once each: as JSON (null where there is none) and for people.
class RowLabels {
public:
    explicit RowLabels(const model::Recording& recording);

    [[nodiscard]] const std::string& lineJson(model::StackId stack);
    [[nodiscard]] const std::string& framesJson(model::StackId stack); ///< "[...]"
    [[nodiscard]] const std::string& line(model::StackId stack); ///< fit for a terminal; "-" without a stack
    [[nodiscard]] const std::string& poolJson(model::PoolIndex pool) const; ///< "\"unknown\"" for no pool
    [[nodiscard]] const std::string& pool(model::PoolIndex pool) const;
    /// The stream's handle as recorded, "null" for none.
    [[nodiscard]] const std::string& stream(model::StreamIndex stream) const;

private:
    const model::Recording& m_recording;
    std::vector<std::string> m_lineJson, m_framesJson,
        m_lines; // by stack; empty: not made yet; last: no stack
    std::vector<std::string> m_poolJson, m_pools; // by pool; last: none
    std::vector<std::string> m_streams; // by stream; last: none
};

} // namespace strata::cli
