// SPDX-License-Identifier: GPL-3.0-or-later
// What `strata whatif --plan` prints of rows that recorded calls answer.
#include "app/cli/whatif/plan_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace strata::cli {

TEST(PlanReport, CallsHaveNoUpperBound)
{
    constexpr std::int64_t kMiB = 1 << 20;
    model::FitPlan plan;
    plan.capacityBytes = 100 * kMiB;
    model::FitOption& option = plan.options.emplace_back();
    option.calls = model::PeaksByCalls{ { 70 * kMiB, 71 * kMiB, 80 * kMiB }, true, {} };
    option.fits = option.fitsLikely = true;
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    {
        Output out(fileno(file));
        printPlan(out, plan);
    }
    std::string text(4096, '\0');
    std::rewind(file);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    EXPECT_THAT(text, testing::ContainsRegex("nothing changed +80.0 MiB +-  ")) << text;
}

} // namespace strata::cli
