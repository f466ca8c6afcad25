// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/live/link_address.h"
#include "model/wire/link/link_chunks.h"

#include <cstddef>
#include <span>

namespace strata::model {

/// A connection to a process that is recorded. Closes itself. One thread.
class LinkConnection {
public:
    /// Connects, makes sure of whose the other end is, and says what is wanted. Kind::NotFound: nobody
    /// listens there, or not any more. Kind::Refused: whoever does may not be trusted.
    [[nodiscard]] static Result<LinkConnection> open(const LinkAddress& address, const wire::Join& join);
    LinkConnection(LinkConnection&& other) noexcept;
    LinkConnection& operator=(LinkConnection&& other) noexcept;
    ~LinkConnection();

    /// Waits at most so long for something to read. How much of `into` was filled: 0 is nothing yet, and
    /// -1 the end of the connection.
    [[nodiscard]] std::ptrdiff_t read(std::span<std::byte> into, int patienceMs) const;

    [[nodiscard]] pid_t process() const { return m_process; } ///< at the other end of a socket; 0: not known

private:
    explicit LinkConnection(int socket)
        : m_socket(socket)
    {
    }

    int m_socket = -1;
    pid_t m_process = 0;
};

} // namespace strata::model
