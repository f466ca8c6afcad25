// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/frames.h"

#include "model/wire/info.h"

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

bool startsWithAny(std::string_view text, std::initializer_list<std::string_view> starts)
{
    return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}
bool hasAny(std::string_view text, std::initializer_list<std::string_view> parts)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != text.npos; });
}

/// C++ that Strata recorded, by build id and offset.
bool isRecordedCode(const Recording& recording, const Frame& frame)
{
    static const std::string key = std::string("\"") + wire::extras::kBuildId + "\"";
    return frame.extras.valid() && recording.strings[frame.extras].find(key) != std::string_view::npos;
}

/// "f(int)::g(char) const" without the last list of parameters: "f(int)::g".
std::string_view withoutParameters(std::string_view function)
{
    std::size_t at = function.rfind(')');
    int depth = 0;
    for (; at != function.npos; at = at == 0 ? function.npos : at - 1) {
        depth += function[at] == ')' ? 1 : function[at] == '(' ? -1 : 0;
        if (depth == 0)
            break;
    }
    return at == function.npos || at == 0 ? function : function.substr(0, at);
}

constexpr std::string_view kAutograd = "torch::autograd::";
constexpr std::string_view kAutogradNodes = "torch::autograd::generated::";
constexpr std::string_view kOperators = "at::_ops::";

/// "torch::autograd::Engine::evaluate_function" from "Engine" on.
std::string_view withoutAutograd(std::string_view function)
{
    for (const std::string_view prefix : { kAutogradNodes, kAutograd })
        if (function.starts_with(prefix))
            return function.substr(prefix.size());
    return function;
}

/// "Engine::evaluate_function", not "accumulate" or "(anonymous namespace)::accumulate", whose like are many.
bool isMemberName(std::string_view name)
{
    return name.find("::") != name.npos && name.front() != '(';
}

/// How much a function of LibTorch says of a stack without code of the user: more than a greater one.
enum class Telling : std::uint8_t {
    Node, ///< "torch::autograd::generated::MmBackward0::apply": a step of backward
    NodeMember, ///< what frees what it saved
    Engine, ///< of autograd, between the steps
    Operator, ///< "at::_ops::mm::call"
    Nothing
};

Telling tellingOf(std::string_view function)
{
    if (function.starts_with(kOperators))
        return Telling::Operator;
    // Each operator has one of these too, which says no more.
    if (!function.starts_with(kAutograd)
        || startsWithAny(function.substr(kAutograd.size()), { "VariableType::", "ADInplaceOrView::" }))
        return Telling::Nothing;
    const std::string_view name = withoutParameters(function);
    if (name.ends_with("::apply"))
        return Telling::Node;
    if (name.ends_with("::release_variables"))
        return Telling::NodeMember;
    return isMemberName(withoutAutograd(name)) ? Telling::Engine : Telling::Nothing;
}

/// Of all operators in a stack the outermost is what was called.
bool saysMore(Telling one, Telling other)
{
    return one < other || (one == Telling::Operator && other == Telling::Operator);
}

/// What C++ without a line is called, and what of LibTorch is known by name.
std::string codeLabel(const Recording& recording, const Frame& frame)
{
    const std::string_view function = recording.strings[frame.function];
    if (function.empty() || function == "??")
        return std::string(baseName(recording.strings[frame.file]));
    std::string_view name = withoutParameters(function);
    if (name.starts_with(kOperators)) {
        name.remove_prefix(kOperators.size());
        return fmt::format("at::{}", name.substr(0, name.rfind("::")));
    }
    const std::string_view inAutograd = withoutAutograd(name);
    return std::string(isMemberName(inAutograd) ? inAutograd : name);
}

/// Whether its name says more than its place, debug information or not.
bool hasCodeLabel(const Recording& recording, const Frame& frame)
{
    return isRecordedCode(recording, frame)
        && (frame.line == 0 || tellingOf(recording.strings[frame.function]) != Telling::Nothing);
}

template <class OriginOf>
FrameId userFrameOf(const Recording& recording, StackId stack, const OriginOf& originOf)
{
    const std::span<const FrameId> frames = recording.stacks.stack(stack);
    FrameId python, native, torch;
    Telling telling = Telling::Nothing;
    for (const FrameId id : frames) {
        const FrameOrigin origin = originOf(id);
        if (const Frame& frame = recording.stacks.frame(id); isRecordedCode(recording, frame)) {
            const bool own = origin == FrameOrigin::User
                || (frame.file.valid() && isOwnNative(recording.strings[frame.file]));
            if (own && !native.valid()) {
                native = id;
            } else if (!native.valid() && frame.function.valid()) {
                const Telling here = tellingOf(recording.strings[frame.function]);
                if (saysMore(here, telling)) {
                    torch = id;
                    telling = here;
                }
            }
        } else if (origin == FrameOrigin::User) {
            return id;
        } else if (origin != FrameOrigin::Native && !python.valid()) {
            python = id;
        }
    }
    if (native.valid())
        return native;
    if (!python.valid() && torch.valid())
        return torch;
    return python.valid() || frames.empty() ? python : frames.front();
}

} // namespace

bool isOwnNative(std::string_view file)
{
    if (!isNative(file) || file.empty() || file == "??")
        return false;
    const std::string_view name = baseName(file);
    if (name.find(".so") != name.npos || name.starts_with("python"))
        return !startsWithAny(file, { "/lib", "/usr/lib" })
            && !startsWithAny(name,
                { "libtorch", "libc10", "libcu", "libnv", "libnccl", "libstdc++", "libgcc", "libc.so",
                    "libm.so", "ld-linux", "libgomp", "libmkl", "libstrata_", "python", "libpython" })
            && !hasAny(file,
                { "/site-packages/torch/", "/dist-packages/torch/", "/site-packages/nvidia/",
                    "/dist-packages/nvidia/" });
    return !startsWithAny(file, { "/usr/include", "/usr/lib", "/usr/src" })
        && !hasAny(file,
            { "/include/c++/", "/torch/include/", "/libtorch/include/", "/c10/", "/aten/src/", "/torch/csrc/",
                "/sysdeps/", "/libstdc++" });
}

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
    return userFrameOf(m_recording, stack, [this](FrameId frame) { return originOf(frame); });
}

FrameId userFrame(const Recording& recording, StackId stack)
{
    return userFrameOf(recording, stack, [&](FrameId frame) {
        const StringId file = recording.stacks.frame(frame).file;
        return file.valid() ? originOf(recording.strings[file]) : FrameOrigin::Native;
    });
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
    if (hasCodeLabel(recording, frame))
        return codeLabel(recording, frame);
    return fmt::format("{}:{}", file.empty() ? "??" : file, frame.line);
}

std::string_view frameFunction(const Recording& recording, FrameId id)
{
    if (!id.valid())
        return {};
    const Frame& frame = recording.stacks.frame(id);
    const std::string_view file = recording.strings[frame.file];
    return file.empty() || file == "??" || hasCodeLabel(recording, frame) ? std::string_view{}
                                                                          : recording.strings[frame.function];
}

std::string frameShortLabel(const Recording& recording, FrameId id)
{
    if (!id.valid())
        return {};
    const Frame& frame = recording.stacks.frame(id);
    const std::string_view file = recording.strings[frame.file];
    if (hasCodeLabel(recording, frame))
        return codeLabel(recording, frame);
    if (file.empty() || file == "??")
        return frameLabel(recording, id);
    return fmt::format("{}:{}", baseName(file), frame.line);
}

} // namespace strata::model
