// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/scrub.h"

#include "model/session/simulation.h"
#include "model/trace/frames.h"
#include "model/trace/producer.h"
#include "model/wire/info.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace strata::model {
namespace {

constexpr std::string_view kSlashes = "/\\";

/// Where the parts of a path begin, the last one first.
std::vector<std::size_t> partsFromEnd(std::string_view path)
{
    std::vector<std::size_t> parts;
    for (std::size_t end = path.size(); end > 0;) {
        const std::size_t slash = path.find_last_of(kSlashes, end - 1);
        parts.push_back(slash == path.npos ? 0 : slash + 1);
        end = slash == path.npos ? 0 : slash;
    }
    return parts;
}

/// From the directory with installed packages on; empty if it is in none.
std::string_view insidePackages(std::string_view path)
{
    for (const std::string_view folder : { "site-packages", "dist-packages" })
        for (const std::size_t part : partsFromEnd(path))
            if (path.substr(part).starts_with(folder) && path.size() > part + folder.size()
                && kSlashes.find(path[part + folder.size()]) != kSlashes.npos)
                return path.substr(part);
    return {};
}

/// The directories that two paths have in common, with the last slash.
std::size_t commonDirectory(std::string_view a, std::string_view b)
{
    const auto [end, unused] = std::ranges::mismatch(a, b);
    const std::size_t slash = a.substr(0, static_cast<std::size_t>(end - a.begin())).find_last_of(kSlashes);
    return slash == a.npos ? 0 : slash + 1;
}

bool isPath(std::string_view text)
{
    return !text.empty() && text.front() != '<' && text.find_first_of(kSlashes) != text.npos;
}

/// The shortest end of a path of which originOf() says the same.
std::string_view shortestAlike(std::string_view path)
{
    const FrameOrigin origin = originOf(path);
    for (const std::size_t part : partsFromEnd(path))
        if (part < path.size() && originOf(path.substr(part)) == origin)
            return path.substr(part);
    return path;
}

} // namespace

Scrubber::Scrubber(const Recording& recording, const Scrub& scrub)
    : m_recording(recording)
    , m_scrub(scrub)
{
    if (scrub.paths)
        renameFiles(recording);
}

void Scrubber::renameFiles(const Recording& recording)
{
    std::set<StringId> files;
    for (std::uint32_t i = 0; i < recording.stacks.frameCount(); ++i)
        if (const StringId file = recording.stacks.frame(FrameId{ i }).file; file.valid())
            files.insert(file);

    const auto isOwn = [&](std::string_view path) {
        return isPath(path) && originOf(path) == FrameOrigin::User && insidePackages(path).empty();
    };
    std::string_view root; // of the user's own files
    bool first = true;
    for (const StringId id : files)
        if (const std::string_view path = recording.strings[id]; isOwn(path)) {
            root = path.substr(0, commonDirectory(first ? path : root, path));
            if (first)
                root = path.substr(0, path.find_last_of(kSlashes) + 1);
            first = false;
        }

    std::set<std::string, std::less<>> taken;
    for (const StringId id : files)
        if (!isPath(recording.strings[id]))
            taken.emplace(recording.strings[id]);
    for (const StringId id : files) {
        const std::string_view path = recording.strings[id];
        if (!isPath(path))
            continue;
        std::string_view shorter = insidePackages(path);
        if (shorter.empty())
            shorter = isOwn(path) ? path.substr(root.size()) : shortestAlike(path);
        std::string name(shorter);
        for (int number = 2; taken.contains(name); ++number)
            name = fmt::format("{}/{}", number, shorter);
        if (originOf(name) != originOf(path) || isOwnNative(name) != isOwnNative(path)) // another group
            name = path;
        taken.insert(name);
        if (name != path)
            m_files.emplace(id, std::move(name));
    }
    m_counts.paths = static_cast<std::int64_t>(m_files.size());
}

std::string Scrubber::file(StringId id)
{
    const auto renamed = m_files.find(id);
    return text(renamed == m_files.end() ? m_recording.strings[id] : std::string_view(renamed->second));
}

std::string Scrubber::text(std::string_view text)
{
    std::string result(text);
    if (!m_scrub.names)
        return result;
    constexpr std::array<std::string_view, 5> kHomes{ "/home/", "/Users/", "\\Users\\", "\\\\Users\\\\",
        "/scratch/" };
    for (const std::string_view home : kHomes)
        for (std::size_t at = result.find(home); at != result.npos; at = result.find(home, at + 1)) {
            const std::size_t from = at + home.size();
            const std::size_t end = std::min(result.find_first_of("/\\\"' :;,", from), result.size());
            if (end > from)
                result.replace(from, end - from, "user");
        }
    m_counts.names += result != text;
    return result;
}

Setting Scrubber::setting(const Setting& setting)
{
    Setting result{ setting.key, setting.json };
    if (m_scrub.commands && setting.key == Simulation::kSetting) {
        nlohmann::ordered_json about = nlohmann::ordered_json::parse(setting.json, nullptr, false);
        if (about.is_object() && about.erase("command") > 0) {
            result.json = about.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
            ++m_counts.commands;
        }
    }
    result.json = text(result.json);
    return result;
}

bool Scrubber::keepsFact(std::string_view key)
{
    // They may hold anything: source code, for example.
    if (m_scrub.metadata && key.starts_with(snapshot_facts::kMember)) {
        ++m_counts.metadata;
        return false;
    }
    const bool command = m_scrub.commands && key == wire::info::kCommand;
    const bool name
        = m_scrub.names && (key == wire::info::kHost || key == wire::info::kUser || key == wire::info::kPid);
    m_counts.commands += command;
    m_counts.facts += name;
    return !command && !name;
}

} // namespace strata::model
