// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/operator_log.h"

#include <utility>

namespace strata::agent {

namespace {

constexpr std::size_t kMostRows = std::size_t{ 1 } << 19; ///< between two looks: 20 MB

} // namespace

void OperatorLog::add(const hook::OperatorSpan& span, std::uint32_t thread) noexcept
{
    // Before the lock: in the child of a fork somebody may have held it.
    if (!m_isOpen.load(std::memory_order_acquire))
        return;
    try {
        std::string call(span.call.data, span.call.bytes);
        const std::lock_guard lock(m_mutex);
        if (m_taken.rows.size() >= kMostRows) {
            ++m_taken.lost;
            return;
        }
        const auto next = static_cast<std::uint32_t>(m_taken.calls.size());
        const auto [known, isNew] = m_callNumbers.try_emplace(std::move(call), next);
        if (isNew)
            m_taken.calls.push_back(known->first);
        m_taken.rows.push_back({ known->second, thread, span.begin, span.end, span.sequence });
    } catch (...) {
        // No memory: the program needs it more.
    }
}

OperatorLog::Taken OperatorLog::take()
{
    const std::lock_guard lock(m_mutex);
    m_callNumbers.clear();
    return std::exchange(m_taken, {});
}

} // namespace strata::agent
