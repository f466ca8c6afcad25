// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMetaType>
#include <QString>

#include "model/base/result.h"

#include <functional>

namespace strata::views {

/// What a strip above the page says: what went wrong or ended, where, and what to do.
struct Notice {
    enum class Kind { Info, Warning, Error };

    Kind kind = Kind::Info;
    QString what, hint;
    QString toolTip;
    QString button; ///< empty: none
    std::function<void()> action; ///< of the button, which also takes the strip away

    /// The sentences of an error, begun with the name of the file where it happened.
    [[nodiscard]] static Notice of(Kind kind, const model::Error& error);
};

} // namespace strata::views

Q_DECLARE_METATYPE(strata::views::Notice)
