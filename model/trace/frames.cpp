// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/frames.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace strata::model {

namespace {

constexpr std::uint8_t kNotLookedAt = 0xff;

// Lower case; without the dot.
constexpr std::array<std::string_view, 24> kNativeExtensions{ "c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hh",
    "hpp", "hxx", "inl", "inc", "ipp", "tcc", "s", "asm", "o", "a", "so", "dylib", "dll", "exe", "rs",
    "hip" };

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equalAnyCase(std::string_view a, std::string_view lowerCase)
{
    return std::equal(
        a.begin(), a.end(), lowerCase.begin(), lowerCase.end(), [](char x, char y) { return lower(x) == y; });
}

bool startsWithAnyCase(std::string_view text, std::string_view lowerCase)
{
    return text.size() >= lowerCase.size() && equalAnyCase(text.substr(0, lowerCase.size()), lowerCase);
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// The parts of a path from the last to the first.
class PartsFromEnd {
public:
    explicit PartsFromEnd(std::string_view path)
        : m_rest(path)
    {
    }
    [[nodiscard]] bool atEnd() const { return m_done; }
    std::string_view next()
    {
        const std::size_t slash = m_rest.find_last_of("/\\");
        m_done = slash == std::string_view::npos;
        const std::string_view part = m_done ? m_rest : m_rest.substr(slash + 1);
        m_rest = m_done ? std::string_view{} : m_rest.substr(0, slash);
        return part;
    }

private:
    std::string_view m_rest;
    bool m_done = false;
};

std::string_view baseName(std::string_view file)
{
    return file.substr(file.find_last_of("/\\") + 1); // npos + 1 is 0
}

bool isNative(std::string_view file)
{
    if (file.empty() || file == "??")
        return true;
    if (file.front() == '<')
        return false;
    const std::string_view name = baseName(file);
    const std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos)
        for (const std::string_view extension : kNativeExtensions)
            if (equalAnyCase(name.substr(dot + 1), extension))
                return true;
    if (name.find(".so.") != std::string_view::npos || file.find("/include/c++/") != std::string_view::npos)
        return true;
    // Python's own binary, where symbols are read from the dynamic table: "/usr/bin/python3.11".
    return name.starts_with("python") && (name.size() == 6 || isDigit(name[6])) && !name.ends_with(".py");
}

/// "python3.11", "python3.13t": what lib/ holds of the standard library.
bool isPythonDirectory(std::string_view part)
{
    return part.starts_with("python") && part.size() > 7 && isDigit(part[6])
        && part.find('.') != std::string_view::npos;
}

/// The directory above Lib in an installation for Windows: Python311, miniconda3, an environment.
bool isWindowsPython(std::string_view parent, std::string_view grandparent)
{
    if (startsWithAnyCase(parent, "python"))
        return parent.size() == 6 || isDigit(parent[6]);
    return startsWithAnyCase(parent, "cpython-") || startsWithAnyCase(parent, "miniconda")
        || startsWithAnyCase(parent, "anaconda") || startsWithAnyCase(parent, "miniforge")
        || startsWithAnyCase(parent, "mambaforge") || equalAnyCase(grandparent, "envs");
}

} // namespace

FrameOrigin originOf(std::string_view file)
{
    if (isNative(file))
        return FrameOrigin::Native;
    if (file.starts_with("<frozen "))
        return FrameOrigin::PythonLibrary;
    // From the end, since an environment may lie below anything: .../torch/lib/python3.10/site-packages/einx.
    const bool windows = file.find('\\') != std::string_view::npos;
    std::array<std::string_view, 3>
        parts; // this part of the path, the next one towards the file, and the next
    for (PartsFromEnd path(file); !path.atEnd();) {
        parts = { path.next(), parts[0], parts[1] };
        if (parts[0] == "site-packages" || parts[0] == "dist-packages")
            return parts[1] == "torch" ? FrameOrigin::Torch : FrameOrigin::User;
        if ((parts[0] == "lib" || parts[0] == "lib64") && isPythonDirectory(parts[1]))
            return FrameOrigin::PythonLibrary;
        if (windows
            && ((equalAnyCase(parts[1], "lib") && isWindowsPython(parts[0], {}))
                || (equalAnyCase(parts[2], "lib") && isWindowsPython(parts[1], parts[0]))))
            return FrameOrigin::PythonLibrary;
    }
    return FrameOrigin::User;
}

UserFrames::UserFrames(const Recording& recording)
    : m_recording(recording)
    , m_origins(recording.strings.size(), kNotLookedAt)
{
}

FrameOrigin UserFrames::originOf(FrameId frame)
{
    const StringId file = m_recording.stacks.frame(frame).file;
    if (!file.valid())
        return FrameOrigin::Native;
    std::uint8_t& known = m_origins[file.index()];
    if (known == kNotLookedAt)
        known = static_cast<std::uint8_t>(model::originOf(m_recording.strings[file]));
    return static_cast<FrameOrigin>(known);
}

FrameId UserFrames::of(StackId stack)
{
    const std::span<const FrameId> frames = m_recording.stacks.stack(stack);
    FrameId python;
    for (const FrameId frame : frames) {
        const FrameOrigin origin = originOf(frame);
        if (origin == FrameOrigin::User)
            return frame;
        if (origin != FrameOrigin::Native && !python.valid())
            python = frame;
    }
    return python.valid() || frames.empty() ? python : frames.front();
}

FrameId userFrame(const Recording& recording, StackId stack)
{
    FrameId python;
    const std::span<const FrameId> frames = recording.stacks.stack(stack);
    for (const FrameId frame : frames) {
        const FrameOrigin origin = originOf(recording.strings[recording.stacks.frame(frame).file]);
        if (origin == FrameOrigin::User)
            return frame;
        if (origin != FrameOrigin::Native && !python.valid())
            python = frame;
    }
    return python.valid() || frames.empty() ? python : frames.front();
}

std::string frameLabel(const Recording& recording, FrameId id)
{
    if (!id.valid())
        return {};
    const Frame& frame = recording.stacks.frame(id);
    const std::string_view file = recording.strings[frame.file];
    const std::string_view function = recording.strings[frame.function];
    if ((file.empty() || file == "??") && !function.empty())
        return std::string(function);
    return fmt::format("{}:{}", file.empty() ? "??" : file, frame.line);
}

std::string frameShortLabel(const Recording& recording, FrameId id)
{
    if (!id.valid())
        return {};
    const Frame& frame = recording.stacks.frame(id);
    const std::string_view file = recording.strings[frame.file];
    if (file.empty() || file == "??")
        return frameLabel(recording, id);
    return fmt::format("{}:{}", baseName(file), frame.line);
}

} // namespace strata::model
