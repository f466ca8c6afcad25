// SPDX-License-Identifier: GPL-3.0-or-later
// Late starts: cuts recordings whose replay is exact at random events and checks what is left, as if the ring
// of the recorder had been full. Allocated and active of a cut that is called exact must be those of the
// whole recording at every event.
//
//     replay_cuts FILE... [--cuts N] [--seed S]      N of all files together; prints and exits 1 if a cut is
//                                                    falsely exact, leaves its bounds, or fewer than 90 %
//                                                    have all events equal
#include "model/base/words.h"
#include "model/session/opener.h"
#include "tests/support/late_start.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace strata;
using namespace strata::model;

namespace {

constexpr std::int64_t kLeastPercent = 90;

struct Score {
    std::int64_t cuts = 0, replayed = 0, exact = 0, falselyExact = 0, right = 0, outOfBounds = 0, events = 0;
    std::int64_t exactStates = 0; // of all events
    std::map<std::string, std::vector<std::string>> others; // by reason, without its numbers
};

std::string withoutNumbers(std::string text)
{
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    return text;
}

void cutAtRandom(const std::string& file, const DeviceTrace& whole, std::int64_t cuts,
    std::mt19937_64& random, Score& score)
{
    const auto report = checkReplay(whole);
    if (!report || !report->exact()) {
        std::printf("%s: GPU %d: left out: %s\n", file.c_str(), whole.device(),
            report ? report->reason().text().c_str() : report.error().text().c_str());
        return;
    }
    const test::RoundedCurves curves = test::roundedCurves(whole, report->check.rounding);
    for (std::int64_t i = 0; i < cuts; ++i) {
        const auto first
            = static_cast<EventIndex>(1 + random() % static_cast<std::uint64_t>(whole.eventCount() - 10));
        const test::LateStart cut = test::checkLateStart(whole, curves, first);
        ++score.cuts;
        score.events += cut.events;
        score.exact += cut.exact;
        score.replayed += cut.exact || cut.replayed;
        score.right += !cut.exact && cut.replayed && !cut.curvesDiffer;
        const std::string where
            = file + " GPU " + std::to_string(whole.device()) + " event " + std::to_string(first);
        score.exactStates += cut.exactStates;
        score.outOfBounds += cut.outOfBounds;
        if (cut.outOfBounds)
            std::printf("%s: OUT OF ITS BOUNDS\n", where.c_str());
        if (cut.falselyExact) {
            ++score.falselyExact;
            std::printf("%s: FALSELY EXACT\n", where.c_str());
        }
        if (!cut.exact)
            score.others[withoutNumbers(cut.reason)].push_back(
                where + ": " + cut.reason + "; " + cut.details);
    }
}

} // namespace

int main(int count, char** arguments)
{
    std::vector<std::string> files;
    std::int64_t cuts = 2000;
    std::uint64_t seed = 1;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "--cuts") == 0 && i + 1 < count)
            cuts = std::atoll(arguments[++i]);
        else if (std::strcmp(arguments[i], "--seed") == 0 && i + 1 < count)
            seed = std::strtoull(arguments[++i], nullptr, 10);
        else
            files.emplace_back(arguments[i]);
    }
    std::mt19937_64 random(seed);
    Score score;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto session = Opener::openAll(files[i]);
        if (!session) {
            std::fprintf(stderr, "replay_cuts: %s\n", session.error().text().c_str());
            return 2;
        }
        std::vector<const DeviceTrace*> traces;
        for (const DeviceTrace& trace : (*session)->devices())
            if (trace.eventCount() >= 50)
                traces.push_back(&trace);
        for (std::size_t t = 0; t < traces.size(); ++t) {
            // Even shares of what is left.
            const std::int64_t left = cuts - score.cuts;
            const auto shares = static_cast<std::int64_t>((files.size() - i) * traces.size() - t);
            cutAtRandom(files[i], *traces[t], (left + shares - 1) / shares, random, score);
        }
    }
    const auto number = [](std::int64_t n) { return static_cast<long long>(n); };
    std::printf("%lld cuts of %zu recordings, %lld events: %lld exact, %lld falsely exact; %lld with all "
                "events and final "
                "blocks equal, of which %lld leave sizes open and would be right with the least of them\n",
        number(score.cuts), files.size(), number(score.events), number(score.exact),
        number(score.falselyExact), number(score.replayed), number(score.right));
    std::printf("exact after %lld of the events (%.1f %%); %lld cuts out of their bounds\n",
        number(score.exactStates),
        100.0 * static_cast<double>(score.exactStates)
            / static_cast<double>(std::max<std::int64_t>(score.events, 1)),
        number(score.outOfBounds));
    for (const auto& [reason, which] : score.others) {
        std::printf("%6zu not exact: %s\n", which.size(), reason.c_str());
        for (std::size_t i = 0; i < which.size() && i < 4; ++i)
            std::printf("         %s\n", which[i].c_str());
    }
    return score.cuts > 0 && score.falselyExact == 0 && score.outOfBounds == 0
            && score.replayed * 100 >= score.cuts * kLeastPercent
        ? 0
        : 1;
}
