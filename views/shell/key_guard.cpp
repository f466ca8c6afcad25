// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/key_guard.h"

#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QTabBar>

namespace strata::views {

namespace {

bool movesBy(const QObject* widget, int key)
{
    const bool sideways = key == Qt::Key_Left || key == Qt::Key_Right;
    if (qobject_cast<const QAbstractItemView*>(widget))
        return sideways || key == Qt::Key_Home;
    if (qobject_cast<const QComboBox*>(widget) || qobject_cast<const QAbstractSlider*>(widget)
        || qobject_cast<const QTabBar*>(widget))
        return sideways || key == Qt::Key_Home;
    return false;
}

} // namespace

bool KeyGuard::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = !(key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier));
        // What is open takes the letters: it chooses by them.
        const bool choosing = plain && QApplication::activePopupWidget();
        if (choosing || (key->modifiers() == Qt::NoModifier && movesBy(watched, key->key()))) {
            event->accept();
            return true;
        }
    }
    return QObject::eventFilter(watched, event);
}

} // namespace strata::views
