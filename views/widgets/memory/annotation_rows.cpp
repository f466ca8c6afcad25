// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/annotation_rows.h"

#include <algorithm>

namespace strata::views {

namespace {

struct Level {
    AnnotationRows::Row row;
    int depth = 0; ///< within its thread
};

std::vector<Level> levelsOf(const std::vector<model::AnnotationSpan>& spans)
{
    std::vector<Level> levels;
    for (auto span = spans.begin(); span != spans.end();) {
        Level level{ { span->level, span->thread, true }, 0 };
        if (!levels.empty() && levels.back().row.thread == span->thread) {
            level.row.firstOfThread = false;
            level.depth = levels.back().depth + 1;
        }
        levels.push_back(level);
        span = std::partition_point(span, spans.end(),
            [&](const model::AnnotationSpan& other) { return other.level <= level.row.level; });
    }
    return levels;
}

} // namespace

AnnotationRows AnnotationRows::make(const std::vector<model::AnnotationSpan>& spans, int most)
{
    std::vector<Level> levels = levelsOf(spans);
    AnnotationRows out;
    const auto threadsIn = [](const std::vector<Level>& of) {
        return static_cast<int>(
            std::ranges::count_if(of, [](const Level& level) { return level.row.firstOfThread; }));
    };
    const int threads = threadsIn(levels);
    out.severalThreads = threads > 1;
    if (static_cast<int>(levels.size()) > most) {
        const auto kept = static_cast<std::size_t>(std::max(most - 1, 1)); // one row says what is hidden
        out.hiddenLevels = static_cast<int>(levels.size() - kept);
        std::ranges::stable_sort(levels, {}, &Level::depth);
        levels.resize(kept);
        out.hiddenThreads = threads - threadsIn(levels);
        std::ranges::stable_sort(levels, {}, [](const Level& level) { return level.row.level; });
    }
    for (const Level& level : levels)
        out.rows.push_back(level.row);
    return out;
}

} // namespace strata::views
