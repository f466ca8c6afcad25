// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/pickle/frame_runs.h"

#include "model/readers/pickle/opcodes.h"

#include <algorithm>
#include <cstring>
#include <xxhash.h>

namespace strata::model::pickle {

bool FrameRuns::matches(const Run& run, const std::uint8_t* at, const std::uint8_t* end) const
{
    return static_cast<std::size_t>(end - at) >= run.length
        && std::memcmp(m_bytes.data() + run.begin, at, run.length) == 0;
}

/// Makes `run` the first follower of the last run and the last run itself.
FrameRuns::Hit FrameRuns::follow(std::uint32_t run, std::size_t place)
{
    if (m_last != kNone && place > 0) {
        auto& followers = m_runs[m_last].followers;
        std::move_backward(followers.begin(), followers.begin() + static_cast<std::ptrdiff_t>(place),
            followers.begin() + static_cast<std::ptrdiff_t>(place) + 1);
        followers[0] = run;
    }
    m_last = run;
    return { m_runs[run].length, m_runs[run].stack };
}

FrameRuns::Hit FrameRuns::find(const std::uint8_t* at, const std::uint8_t* end)
{
    m_candidate = 0;
    if (m_last != kNone) {
        const auto& followers = m_runs[m_last].followers;
        for (std::size_t i = 0; i < kFollowers && followers[i] != kNone; ++i) {
            if (matches(m_runs[followers[i]], at, end))
                return follow(followers[i], i);
        }
    }

    const std::uint8_t* const stop
        = end - at > static_cast<std::ptrdiff_t>(kLongestRun) ? at + kLongestRun : end;
    const std::uint8_t* p = at;
    while (p < stop && (*p == kBinGet || *p == kLongBinGet))
        p += *p == kBinGet ? 2 : 5;
    if (p >= stop || *p != kAppends)
        return {};
    const auto length = static_cast<std::size_t>(p + 1 - at);
    const std::uint64_t hash = XXH3_64bits(at, length);
    const auto known = m_byHash.find(hash);
    if (known != m_byHash.end() && m_runs[known->second].length == length
        && matches(m_runs[known->second], at, end))
        return follow(known->second, kFollowers - 1);
    m_candidate = length;
    m_candidateHash = hash;
    return {};
}

void FrameRuns::add(const std::uint8_t* at, StackId stack)
{
    if (m_bytes.size() + m_candidate > kMostBytes)
        clear();
    const auto row = static_cast<std::uint32_t>(m_runs.size());
    Run run{ static_cast<std::uint32_t>(m_bytes.size()), static_cast<std::uint32_t>(m_candidate), stack, {} };
    run.followers.fill(kNone);
    m_bytes.insert(m_bytes.end(), at, at + m_candidate);
    m_runs.push_back(run);
    m_byHash[m_candidateHash] = row;
    m_candidate = 0;
    follow(row, kFollowers - 1);
}

void FrameRuns::clear()
{
    m_bytes.clear();
    m_runs.clear();
    m_byHash.clear();
    m_last = kNone;
}

} // namespace strata::model::pickle
