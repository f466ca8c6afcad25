// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/oom/oom_answer.h"

#include <span>
#include <utility>

namespace strata::model {

namespace {

std::string lineOf(const Recording& recording, StackId stack)
{
    const GroupTable lines(recording, std::span(&stack, 1));
    return lines.label(lines.groupOfStack(stack));
}

} // namespace

OomOfDevice::OomOfDevice(const DeviceTrace& of, OomExplained explained, const std::string& file)
    : trace(&of)
    , verdict(std::move(explained.verdict))
    , byLine(of, Grouping::Line)
    , line(lineOf(of.recording(), verdict.request))
    , next(nextSteps(of, verdict, explained.evidence, file))
{
}

} // namespace strata::model
