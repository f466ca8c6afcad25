// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>

class QAction;

namespace strata::views {

/// What is done for actions, and when it can be. An action that is not in it cannot be triggered. The actions
/// must outlive it. GUI thread only.
class ActionMap {
public:
    using Run = std::function<void()>;
    using Test = std::function<bool()>;

    /// Without `possible` always; `checked` is for what can be switched on and off.
    void add(const QAction* action, Run run, Test possible = {}, Test checked = {});
    /// An action that is in both keeps what is done for it here.
    void add(ActionMap&& more) { m_entries.merge(more.m_entries); }

    [[nodiscard]] bool contains(const QAction* action) const { return m_entries.contains(action); }
    void run(const QAction* action) const; ///< nothing if it is not in it
    /// Enables the action if it can be triggered now, and checks it if it is on.
    void refresh(QAction& action) const;

private:
    struct Entry {
        Run run;
        Test possible, checked;
    };
    std::map<const QAction*, Entry> m_entries;
};

} // namespace strata::views
