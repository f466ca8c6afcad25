// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/frames.h"

#include "model/trace/filter/function_names.h"
#include "model/wire/info.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace strata::model {

namespace {

constexpr std::uint8_t kNotLookedAt = 0xff;

/// What a frame says of its stack: the least of a stack is what that is known by, the innermost of several.
enum class Rank : std::uint8_t {
    Program,
    OwnCode,
    PassThrough,
    BackwardStep,
    BackwardMember,
    BackwardEngine,
    Operator, ///< of several the outermost
    Python,
    Code,
    Library, ///< C++ of which the library alone is known
    Machinery,
};

/// C++ that Strata recorded, by build id and offset.
bool isRecordedCode(const Recording& recording, const Frame& frame)
{
    static const std::string key = std::string("\"") + wire::extras::kBuildId + "\"";
    return frame.extras.valid() && recording.strings[frame.extras].find(key) != std::string_view::npos;
}

bool hasName(std::string_view text)
{
    return !text.empty() && text != "??";
}

Rank rankOfCode(std::string_view function)
{
    switch (tellingOf(function)) {
    case Telling::BackwardStep:
        return Rank::BackwardStep;
    case Telling::BackwardMember:
        return Rank::BackwardMember;
    case Telling::BackwardEngine:
        return Rank::BackwardEngine;
    case Telling::Operator:
        return Rank::Operator;
    case Telling::Code:
        return Rank::Code;
    case Telling::Nothing:
        return Rank::Library;
    case Telling::Machinery:
        break;
    }
    return Rank::Machinery;
}

/// Of a library of which no name is known: not that of the allocator, of CUDA, of Python or of the system.
bool saysSomething(std::string_view file)
{
    const std::string_view name = baseName(file);
    return hasName(file)
        && std::ranges::none_of(std::to_array<std::string_view>({ "libc10", "libcud", "libpython", "python",
                                    "libc.", "libc-", "libstdc++", "libpthread", "ld-linux" }),
            [&](std::string_view start) { return name.starts_with(start); });
}

/// Python's own code, by the library that it lies in or, where symbols are read, by its name.
bool isOfInterpreter(const Recording& recording, const Frame& frame)
{
    const std::string_view name = frame.file.valid() ? baseName(recording.strings[frame.file]) : "";
    const std::string_view function = frame.function.valid() ? recording.strings[frame.function] : "";
    return name.starts_with("libpython") || name.starts_with("python") || function.starts_with("_PyEval_")
        || function.starts_with("Py_Run") || function.starts_with("PyEval_");
}

Rank rankOf(const Recording& recording, const Frame& frame, FrameOrigin origin)
{
    const bool isRecorded = isRecordedCode(recording, frame);
    if (!isRecorded && origin != FrameOrigin::Native)
        return origin == FrameOrigin::User       ? Rank::Program
            : origin == FrameOrigin::PassThrough ? Rank::PassThrough
                                                 : Rank::Python;
    const std::string_view file = recording.strings[frame.file];
    const std::string_view function = recording.strings[frame.function];
    // A program has no extension, as a notebook of Python has none.
    const bool isOwn = (isRecorded && origin == FrameOrigin::User) || isOwnNative(file);
    const Rank rank = rankOfCode(function);
    if (isOwn && rank != Rank::Machinery && !isLibraryFunction(function))
        return Rank::OwnCode;
    return rank == Rank::Library && !saysSomething(file) ? Rank::Machinery : rank;
}

Rank rankOf(const Recording& recording, const Frame& frame)
{
    return rankOf(
        recording, frame, frame.file.valid() ? originOf(recording.strings[frame.file]) : FrameOrigin::Native);
}

/// The best of the frames.
template <class RankOf> FrameId userFrameOf(std::span<const FrameId> frames, const RankOf& rankOf)
{
    FrameId best;
    Rank bestRank = Rank::Machinery;
    for (const FrameId frame : frames) {
        const Rank rank = rankOf(frame);
        if (rank < bestRank || (rank == Rank::Operator && bestRank == Rank::Operator) || !best.valid()) {
            best = frame;
            bestRank = rank;
        }
    }
    return best;
}

/// Whether its name says more than its place, debug information or not.
bool isKnownByName(const Recording& recording, const Frame& frame)
{
    const std::string_view file = recording.strings[frame.file];
    const bool isCode = isRecordedCode(recording, frame) || originOf(file) == FrameOrigin::Native;
    return isCode
        && (!hasName(file) || frame.line == 0 || isSharedLibrary(file)
            || rankOfCode(recording.strings[frame.function]) <= Rank::Operator);
}

/// The label by name; empty: it has none.
std::string nameLabel(const Recording& recording, const Frame& frame)
{
    if (!isKnownByName(recording, frame))
        return {};
    std::string label = functionLabel(recording.strings[frame.function]);
    const std::string_view file = recording.strings[frame.file];
    return label.empty() && hasName(file) ? std::string(baseName(file)) : label;
}

std::string placeLabel(std::string_view file, std::int64_t line)
{
    return fmt::format("{}:{}", file.empty() ? "??" : file, line);
}

/// As userFrame() chose until C++ that PyTorch recorded was told apart: kept for filters that were saved.
FrameId formerUserFrame(const Recording& recording, StackId stack)
{
    const std::span<const FrameId> frames = recording.stacks.stack(stack);
    FrameId own, code, python;
    Rank codeRank = Rank::Code;
    for (const FrameId id : frames) {
        const Frame& frame = recording.stacks.frame(id);
        const Rank rank = rankOf(recording, frame);
        if (rank == Rank::Program || rank == Rank::PassThrough)
            return id;
        if (rank == Rank::Python && !python.valid())
            python = id;
        if (own.valid() || !isRecordedCode(recording, frame))
            continue;
        if (rank == Rank::OwnCode) {
            own = id;
        } else if (rank < codeRank || (rank == Rank::Operator && codeRank == Rank::Operator)) {
            code = id;
            codeRank = rank;
        }
    }
    const FrameId innermost = frames.empty() ? FrameId{} : frames.front();
    return own.valid() ? own : python.valid() ? python : code.valid() ? code : innermost;
}

} // namespace

UserFrames::UserFrames(const Recording& recording)
    : m_recording(recording)
    , m_origins(recording.strings.size(), kNotLookedAt)
    , m_ranks(recording.stacks.frameCount(), kNotLookedAt)
{
}

std::uint8_t UserFrames::rankOf(FrameId id)
{
    std::uint8_t& rank = m_ranks[id.index()];
    if (rank != kNotLookedAt)
        return rank;
    const Frame& frame = m_recording.stacks.frame(id);
    FrameOrigin origin = FrameOrigin::Native;
    if (frame.file.valid()) {
        std::uint8_t& known = m_origins[frame.file.index()];
        if (known == kNotLookedAt)
            known = static_cast<std::uint8_t>(originOf(m_recording.strings[frame.file]));
        origin = static_cast<FrameOrigin>(known);
    }
    rank = static_cast<std::uint8_t>(model::rankOf(m_recording, frame, origin));
    return rank;
}

FrameId UserFrames::of(StackId stack)
{
    return userFrameOf(
        m_recording.stacks.stack(stack), [this](FrameId frame) { return static_cast<Rank>(rankOf(frame)); });
}

FrameId userFrame(const Recording& recording, StackId stack)
{
    return userFrameOf(recording.stacks.stack(stack),
        [&](FrameId id) { return rankOf(recording, recording.stacks.frame(id)); });
}

bool isProgramFrame(const Recording& recording, FrameId frame)
{
    return frame.valid() && rankOf(recording, recording.stacks.frame(frame)) <= Rank::OwnCode;
}

bool isCppProgram(const Recording& recording)
{
    bool hasOwnCode = false;
    for (std::size_t row = 0; row < recording.stacks.frameCount(); ++row) {
        const Frame& frame = recording.stacks.frame({ static_cast<std::uint32_t>(row) });
        const Rank rank = rankOf(recording, frame);
        if (rank == Rank::Program || rank == Rank::PassThrough || rank == Rank::Python
            || isOfInterpreter(recording, frame))
            return false;
        hasOwnCode = hasOwnCode || rank == Rank::OwnCode;
    }
    return hasOwnCode;
}

std::vector<FoldedFrames> foldedFrames(const Recording& recording, StackId stack)
{
    std::vector<FoldedFrames> folded;
    const std::span<const FrameId> frames = recording.stacks.stack(stack);
    const auto rank = [&](FrameId id) { return rankOf(recording, recording.stacks.frame(id)); };
    for (auto at = frames.begin(); at != frames.end();) {
        if (isProgramFrame(recording, *at)) {
            folded.push_back({ *at, 1, {} });
            ++at;
            continue;
        }
        const auto end
            = std::find_if(at, frames.end(), [&](FrameId id) { return rank(id) <= Rank::OwnCode; });
        const std::span<const FrameId> run(at, end);
        folded.push_back({ {}, static_cast<std::uint32_t>(run.size()), userFrameOf(run, rank) });
        at = end;
    }
    return folded;
}

std::string frameLabel(const Recording& recording, FrameId id)
{
    if (!id.valid())
        return {};
    const Frame& frame = recording.stacks.frame(id);
    std::string label = nameLabel(recording, frame);
    return label.empty() ? placeLabel(recording.strings[frame.file], frame.line) : label;
}

std::string frameFunction(const Recording& recording, FrameId id)
{
    if (!id.valid())
        return {};
    const Frame& frame = recording.stacks.frame(id);
    if (!nameLabel(recording, frame).empty())
        return {};
    const std::string_view function = recording.strings[frame.function];
    const bool isCode
        = isRecordedCode(recording, frame) || originOf(recording.strings[frame.file]) == FrameOrigin::Native;
    if (!isCode)
        return std::string(function);
    std::string said = functionLabel(function);
    constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = said.find(kAnonymous, at)) != said.npos;)
        said.erase(at, kAnonymous.size());
    return withoutLongArguments(said);
}

std::string frameShortLabel(const Recording& recording, FrameId id)
{
    if (!id.valid())
        return {};
    const Frame& frame = recording.stacks.frame(id);
    std::string label = nameLabel(recording, frame);
    return label.empty() ? placeLabel(baseName(recording.strings[frame.file]), frame.line) : label;
}

std::string formerFrameLabel(const Recording& recording, FrameId id)
{
    if (!id.valid())
        return {};
    const Frame& frame = recording.stacks.frame(id);
    const std::string_view file = recording.strings[frame.file];
    const std::string_view function = recording.strings[frame.function];
    if (!hasName(file) && !function.empty())
        return std::string(function);
    return isRecordedCode(recording, frame) ? frameLabel(recording, id) : placeLabel(file, frame.line);
}

std::vector<bool> stacksOfLine(const Recording& recording, std::string_view line)
{
    const std::size_t stacks = recording.stacks.stackCount();
    std::vector<bool> found(stacks + 1);
    found[stacks] = line == kNoStackLabel;
    UserFrames userFrames(recording);
    for (std::size_t row = 0; row < stacks; ++row) {
        const FrameId frame = userFrames.of(StackId{ static_cast<std::uint32_t>(row) });
        found[row] = frame.valid() ? frameLabel(recording, frame) == line : found[stacks];
    }
    if (std::ranges::find(found, true) != found.end())
        return found;
    for (std::size_t row = 0; row < stacks; ++row) {
        const FrameId frame = formerUserFrame(recording, StackId{ static_cast<std::uint32_t>(row) });
        found[row] = frame.valid() && formerFrameLabel(recording, frame) == line;
    }
    return found;
}

} // namespace strata::model
