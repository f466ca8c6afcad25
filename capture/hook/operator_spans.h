// SPDX-License-Identifier: Apache-2.0
// When operators run, with the inputs that they had, by LibTorch's own observers (ATen/record_function.h): as
// torch.profiler sees them with record_shapes=True. Nothing is paid for before they are followed and after.
#pragma once

#include "capture/hook/input_texts.h"
#include "capture/hook/observers.h"

#include <c10/util/ApproximateClock.h>
#include <memory>
#include <string>

namespace strata::hook {

struct SpanOfOperator final : at::ObserverContext {
    std::string call; ///< as OperatorSpan has it
    std::uint64_t begin = 0;
    const void* thread = nullptr;
};

struct FollowedOperators {
    Observers observers;
    OperatorRan ran = nullptr;
    at::CallbackHandle handle{};
    bool isFollowed = false;
};
inline FollowedOperators g_followed; // as g_operators

/// Its address tells threads apart.
inline thread_local char t_thread = 0;

inline std::unique_ptr<at::ObserverContext> beginSpan(const at::RecordFunction& function)
{
    try {
        auto span = std::make_unique<SpanOfOperator>();
        InputTexts texts;
        for (const c10::IValue& each : function.inputs())
            addInput(each, texts);
        for (const std::string* part : { &texts.dims, &texts.types, &texts.values, &texts.strides })
            span->call.append(1, '[').append(*part).append("]\n");
        span->call += g_followed.observers.name(&function);
        span->thread = &t_thread;
        span->begin = static_cast<std::uint64_t>(c10::getApproximateTime());
        return span;
    } catch (...) {
        return nullptr; // no memory: this one is not told
    }
}

inline void endSpan(const at::RecordFunction& function, at::ObserverContext* context)
{
    const auto* const span = static_cast<const SpanOfOperator*>(context);
    if (!span || span->thread != &t_thread)
        return; // it ends on another thread than it began: it is no call of either
    OperatorSpan told;
    told.end = static_cast<std::uint64_t>(c10::getApproximateTime());
    told.begin = span->begin;
    told.call = { span->call.data(), span->call.size() };
    told.sequence = function.seqNr();
    g_followed.ran(told);
}

inline bool followOperators(OperatorRan ran) noexcept
{
    try {
        FollowedOperators& all = g_followed;
        all.observers = findObservers();
        if (all.isFollowed || !all.observers.areKnown())
            return false;
        all.ran = ran;
        all.handle = all.observers.add(onOperators(beginSpan, endSpan));
        all.isFollowed = true;
        return true;
    } catch (...) {
        return false;
    }
}

/// Operators that run now are still told of as they end.
inline void endOperators() noexcept
{
    try {
        if (g_followed.isFollowed)
            g_followed.observers.remove(g_followed.handle);
        g_followed.isFollowed = false;
    } catch (...) {
        // It knows of none: there is nothing to take off.
    }
}

} // namespace strata::hook
