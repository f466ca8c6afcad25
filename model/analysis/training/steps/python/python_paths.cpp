// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/python/python_paths.h"

#include "model/trace/filter/frame_origin.h"

namespace strata::model {

PythonPaths::PythonPaths(const Recording& recording)
{
    enum Kind : std::uint8_t { NotLooked, Python, Native };
    const StackTable& stacks = recording.stacks;
    std::vector<Kind> files(recording.strings.size(), NotLooked);
    std::vector<bool> isPython(stacks.frameCount());
    for (std::uint32_t i = 0; i < isPython.size(); ++i) {
        const StringId file = stacks.frame({ i }).file;
        if (!file.valid())
            continue;
        Kind& kind = files[file.index()];
        if (kind == NotLooked)
            kind = originOf(recording.strings[file]) == FrameOrigin::Native ? Native : Python;
        isPython[i] = kind == Python;
    }
    m_first.reserve(stacks.stackCount() + 1);
    for (std::uint32_t i = 0; i < stacks.stackCount(); ++i) {
        m_first.push_back(m_frames.size());
        const auto frames = stacks.stack({ i });
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
            if (isPython[frame->index()])
                m_frames.push_back(*frame);
    }
    m_first.push_back(m_frames.size());
}

bool isSameFunction(const Frame& one, const Frame& two)
{
    return one.file == two.file && one.function == two.function;
}

} // namespace strata::model
