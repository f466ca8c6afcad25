// SPDX-License-Identifier: Apache-2.0
#include "capture/hook_maker/include_walk.h"

#include "capture/hook_maker/read_file.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <xxhash.h>

namespace strata::hook {

namespace {

namespace fs = std::filesystem;

struct Include {
    std::string_view name;
    bool quoted = false; // looked for beside the including file first
};

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t");
    return first == text.npos ? std::string_view{} : text.substr(first);
}

/// What a line includes; no name where it includes nothing.
Include includeOf(std::string_view line)
{
    line = trimmed(line);
    if (line.empty() || line[0] != '#')
        return {};
    line = trimmed(line.substr(1));
    if (!line.starts_with("include"))
        return {};
    line = trimmed(line.substr(7));
    if (line.empty() || (line[0] != '<' && line[0] != '"'))
        return {};
    const std::size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
    return end == line.npos ? Include{} : Include{ line.substr(1, end - 1), line[0] == '"' };
}

class Walk {
public:
    explicit Walk(const std::vector<fs::path>& folders)
        : m_folders(folders)
    {
    }

    /// `name`: as it was asked for, wherever it lies.
    bool add(const fs::path& path, std::string_view name)
    {
        if (!m_seen.insert(path.native()).second)
            return true;
        const std::optional<std::string> text = readFile(path);
        if (!text)
            return false;
        m_hash = XXH3_64bits_withSeed(name.data(), name.size(), m_hash);
        m_hash = XXH3_64bits_withSeed(text->data(), text->size(), m_hash);
        for (std::size_t start = 0; start < text->size();) {
            const std::size_t end = std::min(text->find('\n', start), text->size());
            follow(includeOf(std::string_view(*text).substr(start, end - start)), path.parent_path());
            start = end + 1;
        }
        return true;
    }

    [[nodiscard]] std::uint64_t hash() const { return m_hash; }

private:
    void follow(const Include& include, const fs::path& beside)
    {
        if (include.name.empty() || (include.quoted && add(beside / include.name, include.name)))
            return;
        if (!m_looked.insert(std::string(include.name)).second)
            return;
        for (const fs::path& folder : m_folders) {
            if (add(folder / include.name, include.name))
                return;
        }
    }

    const std::vector<fs::path>& m_folders;
    std::set<std::string> m_seen; // files
    std::set<std::string> m_looked; // names, found or not
    std::uint64_t m_hash = 0;
};

} // namespace

std::uint64_t hashWithIncludes(const fs::path& source, const std::vector<fs::path>& folders)
{
    Walk walk(folders);
    return walk.add(source, source.filename().native()) ? walk.hash() : 0;
}

} // namespace strata::hook
