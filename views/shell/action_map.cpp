// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/action_map.h"

#include <QAction>

#include <utility>

namespace strata::views {

void ActionMap::add(const QAction* action, Run run, Test possible, Test checked)
{
    m_entries[action] = { std::move(run), std::move(possible), std::move(checked) };
}

void ActionMap::run(const QAction* action) const
{
    if (const auto found = m_entries.find(action); found != m_entries.end())
        found->second.run();
}

void ActionMap::refresh(QAction& action) const
{
    const auto found = m_entries.find(&action);
    const bool there = found != m_entries.end();
    action.setEnabled(there && (!found->second.possible || found->second.possible()));
    if (there && found->second.checked)
        action.setChecked(found->second.checked());
}

} // namespace strata::views
