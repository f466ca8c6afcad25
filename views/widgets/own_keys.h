// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeyEvent>

#include <algorithm>
#include <initializer_list>

namespace strata::views {

/// For event() of a widget that walks by keys which are shortcuts of the window, too: while it has the
/// keyboard they are its own. Whether `event` was such a key, and is accepted.
[[nodiscard]] inline bool takesOwnKey(QEvent* event, std::initializer_list<Qt::Key> keys)
{
    if (event->type() != QEvent::ShortcutOverride)
        return false;
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->modifiers() != Qt::NoModifier || std::ranges::find(keys, key->key()) == keys.end())
        return false;
    event->accept();
    return true;
}

} // namespace strata::views
