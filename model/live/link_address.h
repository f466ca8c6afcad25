// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace strata::model {

/// Where a process that is recorded can be reached: a socket in its user's folder, or a port of this machine,
/// at which a tunnel may begin that ends at another one.
struct LinkAddress {
    std::string socket; ///< path; empty: it is a port
    std::uint16_t port = 0; ///< of 127.0.0.1
    uid_t owner = 0; ///< of the socket's folder, and of the process behind it

    [[nodiscard]] bool isPort() const { return socket.empty(); }
    [[nodiscard]] std::string text() const; ///< as `strata attach` takes it
};

/// What the user names: a process by its number, the path of a socket, or 127.0.0.1:PORT (localhost, or the
/// port alone behind a colon). An error says what to do; whether somebody answers is not known yet.
[[nodiscard]] Result<LinkAddress> findAddress(const std::string& text);

} // namespace strata::model
