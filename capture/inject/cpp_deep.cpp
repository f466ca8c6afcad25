// SPDX-License-Identifier: Apache-2.0
#include "capture/inject/cpp_deep.h"

#include "capture/inject/record.h"
#include "capture/inject/variables.h"
#include "strata/capture_c.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

namespace strata::inject {

namespace {

constexpr const char* kWithin = "the optimizer steps within backward";
constexpr const char* kGraphs = "the program runs CUDA graphs, whose operators nobody sees";
constexpr const char* kThreads = "the program steps its optimizer on several threads";

/// What the recorder is told by, once it is there.
struct Recorder {
    decltype(&strata_capture_optimizer_stepped) stepped;
    decltype(&strata_capture_deep_begin_alone) begin;
    decltype(&strata_capture_deep_end) end;
    decltype(&strata_capture_deep_call) call;
    decltype(&strata_capture_deep_gradients) gradients;
};

/// None: there is none yet, or one of another Strata, which the program brought.
const Recorder* recorder()
{
    static std::atomic<const Recorder*> known{ nullptr };
    if (const Recorder* const found = known.load(std::memory_order_acquire))
        return found;
    const auto find = [](auto& to, const char* name) {
        to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(recorderFunction(name));
        return to != nullptr;
    };
    Recorder found{};
    if (!find(found.stepped, "strata_capture_optimizer_stepped")
        || !find(found.begin, "strata_capture_deep_begin_alone")
        || !find(found.end, "strata_capture_deep_end") || !find(found.call, "strata_capture_deep_call")
        || !find(found.gradients, "strata_capture_deep_gradients"))
        return nullptr;
    const Recorder* none = nullptr;
    const auto* const made = new Recorder(found);
    if (!known.compare_exchange_strong(none, made))
        delete made;
    return known.load();
}

/// Of the deep step; 0: none is wanted.
int stepWanted()
{
    static const int wanted = [] {
        const char* const text = std::getenv(kDeepVariable);
        const int number = text ? std::atoi(text) : 0;
        return number > 1 ? number : 0;
    }();
    return wanted;
}

std::atomic<const void*> g_first{ nullptr }; // the optimizer that steps first
std::atomic<int> g_steps{ 0 }; // of that one
std::atomic<bool> g_isOn{ false }; // the deep step
thread_local bool t_isOn = false; // it is this thread's

void end(const char* why)
{
    if (!g_isOn.exchange(false))
        return;
    t_isOn = false;
    recorder()->end(why);
}

void begin(const std::vector<const void*>& parameters)
{
    if (recorder()->begin(parameters.data(), parameters.size()) == 0)
        return;
    g_isOn.store(true);
    t_isOn = true;
    if (interpose::isWithinBackward())
        return end(kWithin);
    if (const char* const type = interpose::autocastType())
        recorder()->call(STRATA_CAPTURE_CALL_AUTOCAST, type, nullptr, nullptr, 0);
}

void count(const void* optimizer, const std::vector<const void*>& parameters)
{
    const void* none = nullptr;
    if (!g_first.compare_exchange_strong(none, optimizer) && none != optimizer)
        return;
    const int steps = g_steps.fetch_add(1) + 1;
    if (g_isOn.load())
        end(t_isOn ? nullptr : kThreads);
    else if (steps == stepWanted() - 1)
        begin(parameters);
}

/// How backward is called, as an object of FORMAT.md's call list.
std::string detailOf(const interpose::Backward& call)
{
    const auto flag = [](bool is) { return is ? "true" : "false"; };
    std::string given;
    for (const bool each : call.given)
        given.append(given.empty() ? "" : ",").append(flag(each));
    return std::string("{\"retain\":") + flag(call.keepsGraph) + ",\"create\":" + flag(call.createsGraph)
        + ",\"roots\":" + std::to_string(call.roots.size()) + ",\"gradients\":[" + given
        + "],\"inputs\":" + std::to_string(call.inputs.size()) + ",\"accumulate\":" + flag(call.accumulates)
        + ",\"unused\":" + flag(call.allowsUnused) + "}";
}

} // namespace

void optimizerStepped(const void* optimizer, const char* type) noexcept
{
    try {
        if (isPython() || !recorder())
            return;
        const std::vector<const void*> parameters = interpose::parametersOf(optimizer);
        recorder()->stepped(optimizer, type, parameters.data(), parameters.size());
        if (stepWanted() > 0)
            count(optimizer, parameters);
    } catch (...) {
        // No memory: this step is not told.
    }
}

bool goesBackward(const interpose::Backward& call) noexcept
{
    if (!t_isOn)
        return false;
    try {
        std::vector<const void*> tensors(call.roots.begin(), call.roots.end());
        for (std::size_t i = 0; i < call.given.size(); ++i)
            if (call.given[i])
                tensors.push_back(call.gradients[i]);
        tensors.insert(tensors.end(), call.inputs.begin(), call.inputs.end());
        recorder()->call(
            STRATA_CAPTURE_CALL_BACKWARD, nullptr, detailOf(call).c_str(), tensors.data(), tensors.size());
        return true;
    } catch (...) {
        end("no memory was left for it");
        return false;
    }
}

void goneBackward(interpose::Tensors returned) noexcept
{
    if (!t_isOn)
        return;
    try {
        std::vector<const void*> tensors;
        for (const void* const each : returned)
            if (!interpose::isUndefined(each))
                tensors.push_back(each);
        recorder()->call(STRATA_CAPTURE_CALL_BACKWARD_ENDS, nullptr, nullptr, tensors.data(), tensors.size());
        recorder()->gradients();
    } catch (...) {
        end("no memory was left for it");
    }
}

void autocastSet(bool enabled) noexcept
{
    if (t_isOn)
        recorder()->call(enabled ? STRATA_CAPTURE_CALL_AUTOCAST : STRATA_CAPTURE_CALL_AUTOCAST_ENDS,
            enabled ? interpose::autocastType() : nullptr, nullptr, nullptr, 0);
}

void graphUsed() noexcept
{
    if (t_isOn)
        end(kGraphs);
}

} // namespace strata::inject
