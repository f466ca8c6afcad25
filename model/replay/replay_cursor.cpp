// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/replay_cursor.h"

#include <utility>

namespace strata::model {

void ReplayCursor::differ(const std::optional<ComparedEvent>& got, Sentence cause)
{
    if (m_difference)
        return;
    ReplayDifference difference;
    difference.event = static_cast<EventIndex>(m_at);
    if (!atEnd())
        difference.expected = recorded(m_at);
    difference.got = got;
    difference.cause = std::move(cause);
    m_difference = std::move(difference);
}

bool ReplayCursor::isOther(const ComparedEvent& got)
{
    if (m_difference)
        return false;
    if (atEnd()) {
        differ(got, say("the recording ends before the call that its last events belong to"));
        return false;
    }
    const ComparedEvent wanted = recorded(m_at);
    if (wanted.action != got.action)
        differ(got,
            got.action == Action::SegmentAlloc || got.action == Action::SegmentMap
                ? say("nothing that is cached fits the request under these settings, but something did")
                : wanted.action == Action::SegmentAlloc || wanted.action == Action::SegmentMap
                ? say("a cached block fits the request under these settings, but new memory was taken")
                : say("other settings, or a call that the trace does not show, led to another event"));
    else if (wanted.bytes != got.bytes)
        differ(got, say("sizes are rounded in another way: the settings were others, or changed"));
    else if (wanted.address != got.address)
        differ(got,
            say("another of the free blocks that fit was taken: by another version's order, or another "
                "state"));
    else
        differ(got, say("the stream is another"));
    return false;
}

} // namespace strata::model
