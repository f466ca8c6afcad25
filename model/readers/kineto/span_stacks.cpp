// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/kineto/span_stacks.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

namespace strata::model {

namespace {

constexpr std::size_t kMostFrames = 512;

bool isFrame(WorkKind kind)
{
    return kind == WorkKind::Operator || kind == WorkKind::Annotation || kind == WorkKind::Python;
}

struct PythonName {
    std::string_view file, function;
    std::int64_t line = 0;
};

/// "<built-in method mm of type object>" of one with " at 0x7f3a" behind it: else each object has frames of
/// its own.
std::string withoutPlace(std::string_view name)
{
    std::string kept(name);
    const std::size_t place = kept.rfind(" at 0x");
    if (place == kept.npos)
        return kept;
    const std::size_t end = kept.find_first_not_of("0123456789abcdefABCDEF", place + 6);
    return kept.erase(place, end == kept.npos ? end : end - place);
}

/// Of "torch/nn/modules/module.py(1750): _call_impl"; without a file where it is of another form.
PythonName pythonName(std::string_view name)
{
    const std::size_t colon = name.find("): ");
    const std::size_t bracket = colon != name.npos ? name.rfind('(', colon) : name.npos;
    PythonName found{ {}, name };
    if (bracket == name.npos || bracket == 0)
        return found;
    const std::string_view number = name.substr(bracket + 1, colon - bracket - 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), found.line);
    if (error != std::errc() || end != number.data() + number.size())
        return { {}, name };
    found.file = name.substr(0, bracket);
    found.function = name.substr(colon + 3);
    return found;
}

} // namespace

SpanStacks::SpanStacks(Recording& recording, const Work& work)
    : m_recording(recording)
    , m_work(work)
{
}

FrameId SpanStacks::frameOf(const WorkSpan& span)
{
    const bool isPython = span.kind == WorkKind::Python;
    const auto [found, isNew]
        = m_frames.try_emplace(std::uint64_t{ span.name.value } << 1 | (isPython ? 1U : 0U));
    if (!isNew)
        return found->second;
    const std::string name(m_recording.strings[span.name]); // interning may move it
    Frame frame;
    if (isPython) {
        const PythonName parts = pythonName(name);
        if (!parts.file.empty())
            frame.file = m_recording.strings.intern(parts.file);
        frame.function = m_recording.strings.intern(withoutPlace(parts.function));
        frame.line = parts.line;
    } else {
        frame.function = span.name;
    }
    return found->second = m_recording.stacks.internFrame(frame);
}

std::vector<StackId> SpanStacks::of(std::span<const std::uint32_t> readings)
{
    struct Thread {
        std::vector<std::size_t> readings; // places in the list
        std::vector<std::size_t> spans;
    };
    std::map<LaneIndex, Thread> threads;
    for (std::size_t i = 0; i < readings.size(); ++i)
        threads[m_work.memory[readings[i]].lane].readings.push_back(i);
    for (std::size_t i = 0; i < m_work.spans.size(); ++i) {
        const WorkSpan& span = m_work.spans[i];
        if (!isFrame(span.kind) || m_recording.strings[span.name].starts_with("ProfilerStep#"))
            continue;
        if (const auto thread = threads.find(span.lane); thread != threads.end())
            thread->second.spans.push_back(i);
    }

    std::vector<StackId> stacks(readings.size());
    std::vector<std::size_t> open;
    std::vector<FrameId> frames;
    for (auto& [lane, thread] : threads) {
        std::ranges::stable_sort(thread.spans, [this](std::size_t a, std::size_t b) {
            const WorkSpan &left = m_work.spans[a], &right = m_work.spans[b];
            return left.startNs != right.startNs ? left.startNs < right.startNs
                                                 : left.durationNs > right.durationNs;
        });
        open.clear();
        auto next = thread.spans.begin();
        for (const std::size_t reading : thread.readings) {
            const std::int64_t timeNs = m_work.memory[readings[reading]].timeNs;
            for (; next != thread.spans.end() && m_work.spans[*next].startNs <= timeNs; ++next) {
                const WorkSpan& span = m_work.spans[*next];
                // One that ends where this begins is over, unless it holds it.
                while (!open.empty() && m_work.spans[open.back()].endNs() <= span.startNs
                    && m_work.spans[open.back()].endNs() < span.endNs())
                    open.pop_back();
                open.push_back(*next);
            }
            while (!open.empty() && m_work.spans[open.back()].endNs() < timeNs)
                open.pop_back();
            frames.clear();
            const std::size_t most = std::min(open.size(), kMostFrames);
            for (std::size_t i = 0; i < most; ++i)
                if (const WorkSpan& span = m_work.spans[open[open.size() - 1 - i]]; span.endNs() >= timeNs)
                    frames.push_back(frameOf(span));
            if (!frames.empty())
                stacks[reading] = m_recording.stacks.internStack(frames);
        }
    }
    return stacks;
}

} // namespace strata::model
