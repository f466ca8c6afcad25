// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/live/link_address.h"

#include <QString>

namespace strata::views {

/// A process that is recorded, as something that a window can be asked to open in the place of a file:
/// "live:4242", "live:/run/user/1000/strata/4242.sock", "live:127.0.0.1:7070". Any thread.
class LivePlace {
public:
    /// Whether a text that was asked for names a process. A file of that name counts as one.
    [[nodiscard]] static bool isLive(const QString& place);
    /// Finds the process. An error says what to do, as `strata attach` does.
    [[nodiscard]] static model::Result<LivePlace> find(const QString& place);
    [[nodiscard]] static QString text(const model::LinkAddress& address, const QString& token = {});

    [[nodiscard]] const model::LinkAddress& address() const { return m_address; }
    [[nodiscard]] const QString& token() const { return m_token; } ///< of a port; empty: none is given
    /// As `strata attach` takes it: never the token.
    [[nodiscard]] QString target() const;
    [[nodiscard]] static QString target(const QString& place); ///< the same, whether it is there or not

private:
    model::LinkAddress m_address;
    QString m_token;
};

} // namespace strata::views
