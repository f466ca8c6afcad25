// SPDX-License-Identifier: Apache-2.0
// Operators that launched something, with the inputs that they had, by LibTorch's own observers
// (ATen/record_function.h), on every thread, for C++ and Python programs alike. Nothing is paid for before
// operators are watched and after.
#pragma once

#include "capture/hook/input_texts.h"
#include "capture/hook/observers.h"

#include <memory>
#include <string>

namespace strata::hook {

/// What a thread launches while an operator runs, less what operators within it launch, is its own.
struct OperatorRun final : at::ObserverContext {
    const char* name = nullptr;
    std::string inputs;
    std::uint64_t launchesBefore = 0;
    std::uint64_t launchedWithin = 0;
    std::uint64_t asked = 0; ///< by runningOperator()
    OperatorRun* outer = nullptr;
};

struct WatchedOperators {
    Observers observers;
    OperatorCallbacks callbacks{};
    at::CallbackHandle handle{};
    bool isWatched = false;
};
inline WatchedOperators g_operators; // of the thread that watches; what callbacks read stays as it is

/// The innermost that runs on this thread.
inline thread_local OperatorRun* t_operator = nullptr;

inline std::unique_ptr<at::ObserverContext> beginOperator(const at::RecordFunction& function)
{
    try {
        auto run = std::make_unique<OperatorRun>();
        run->name = g_operators.observers.name(&function);
        run->inputs = inputTexts(function.inputs());
        run->outer = t_operator;
        t_operator = run.get();
        run->launchesBefore = g_operators.callbacks.launches();
        return run;
    } catch (...) {
        return nullptr; // no memory: this one is not told
    }
}

inline void endOperator(const at::RecordFunction&, at::ObserverContext* context)
{
    auto* const run = static_cast<OperatorRun*>(context);
    if (!run || t_operator != run)
        return; // it ends on another thread than it began
    t_operator = run->outer;
    const std::uint64_t launched = g_operators.callbacks.launches() - run->launchesBefore;
    if (run->outer)
        run->outer->launchedWithin += launched;
    if (launched <= run->launchedWithin)
        return;
    Operator told;
    told.name = run->name;
    told.inputs = { run->inputs.data(), run->inputs.size() };
    told.launches = launched - run->launchedWithin;
    g_operators.callbacks.ran(told);
}

inline bool watchOperators(const OperatorCallbacks& callbacks) noexcept
{
    try {
        WatchedOperators& all = g_operators;
        all.observers = findObservers();
        if (all.isWatched || !all.observers.areKnown())
            return false;
        all.callbacks = callbacks;
        all.handle = all.observers.add(onOperators(beginOperator, endOperator));
        all.isWatched = true;
        return true;
    } catch (...) {
        return false;
    }
}

inline bool runningOperator(Operator& to) noexcept
{
    OperatorRun* const run = t_operator;
    if (!run)
        return false;
    to.name = run->name;
    to.inputs = { run->inputs.data(), run->inputs.size() };
    to.launches = run->asked++;
    return true;
}

/// Operators that run now are still told of as they end.
inline void leaveOperators() noexcept
{
    try {
        if (g_operators.isWatched)
            g_operators.observers.remove(g_operators.handle);
        g_operators.isWatched = false;
    } catch (...) {
        // It knows of none: there is nothing to take off.
    }
}

} // namespace strata::hook
