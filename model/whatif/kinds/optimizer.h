// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/reason.h"
#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/ranks/sharding.h"
#include "model/whatif/run/optimizer_run.h"
#include "model/whatif/run/program_run.h"
#include "model/whatif/run/put_optimizers.h"
#include "model/whatif/run/recorded_optimizers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

class Rewrites;

/// A recorded program with another optimizer: what its own asked for is taken away, in all steps, and what
/// the other asks for is put in its places, over the same parameters in the same order. What runs between
/// backward and the step - gradient scalers, clipping - stays.
///
///     recorded   ... backward | a a f f | zero_grad ...
///     rewritten  ... backward | b f     | zero_grad ...
///
/// Immutable. Keeps a pointer to the trace.
class OptimizerRewrite {
public:
    /// `value` as OptimizerTemplates::find() takes it; empty: the recorded ones. Fails as it and
    /// recordedOptimizers() do, and with Refused where a step of the recording is one that the template does
    /// not tell, or nothing tells what the recorded ones do. `shardOf`: what is left of one on this rank.
    [[nodiscard]] static Result<OptimizerRewrite> of(
        const RecordedRun& run, std::string_view value, const ShardOf& shardOf = {});
    /// With the recorded ones on the host, states and steps. Fails as recordedOptimizers() does.
    [[nodiscard]] static Result<OptimizerRewrite> onHost(const RecordedRun& run);

    /// As gradients come, each of which goes behind its step.
    [[nodiscard]] bool isInBackward() const { return !m_zeroed.empty(); }
    /// The recorded program did just that, event by event.
    [[nodiscard]] bool changesNothing() const { return m_changesNothing; }
    /// How many ways there are that the recording does not tell apart: groups of parameters, weights that
    /// decay. The first is the likeliest.
    [[nodiscard]] std::size_t ways() const { return m_ways.size(); }
    /// `run` is of the trace, with other sizes perhaps.
    [[nodiscard]] ProgramRun rewritten(const ProgramRun& run, std::size_t way) const;

    struct Sum {
        std::int64_t blocks = 0, bytes = 0;
    };
    [[nodiscard]] const Sum& taken() const { return m_taken; } ///< away
    [[nodiscard]] const Sum& zeroed() const { return m_letGo; } ///< gradients, as they come
    [[nodiscard]] const Sum& put() const { return m_put; } ///< in, in the likeliest way
    [[nodiscard]] const Reason& reason() const { return m_reason; } ///< why it is an estimate

private:
    /// Events of an optimizer that come before a recorded event.
    struct Placed {
        EventIndex before = 0;
        std::uint32_t optimizer = 0;
        std::vector<OptimizerEvent> events;
        std::vector<PutOptimizers::State> states; ///< which are made in these
        std::optional<std::uint32_t> gradient = {}; ///< a block that goes behind them, and not where it went
    };
    using Way = std::vector<Placed>; // by place

    friend class RewriteMaker;

    [[nodiscard]] PutOptimizers asTold() const;

    const DeviceTrace* m_trace = nullptr;
    RecordedOptimizers m_recorded;
    std::vector<Way> m_ways;
    std::vector<bool> m_zeroed; // by row, gradients of Placed; empty: none
    std::vector<std::string> m_names; // classes of those that are put
    bool m_changesNothing = false;
    Sum m_taken, m_put, m_letGo;
    Reason m_reason;
};

/// The optimizers of a run, where another one is asked for, or other changes leave something else of them.
/// Fails as OptimizerRewrite does.
[[nodiscard]] Result<void> rewriteOptimizers(
    const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites);

} // namespace strata::model
