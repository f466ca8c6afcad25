// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/driver/driver_memory.h"
#include "model/wire/tables.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace strata::agent {

/// Reads a device's memory from the driver; none where it cannot be had.
using ReadDriver = std::function<std::optional<driver::Reading>(int device)>;

/// What the driver says is in use, once a second, beside what LibTorch has reserved at the same moment: so
/// that what lies outside of LibTorch is exact. A reading counts only if LibTorch took and gave back nothing
/// between the looks into the ring before and after it; else it is repeated. One thread.
class DriverTrack {
public:
    /// `read` may be empty: then there are no rows. `followed`: events are told, otherwise all devices that
    /// this process uses are read, and nothing is known to be reserved.
    DriverTrack(ReadDriver read, std::size_t devices, bool followed);

    /// What was reserved before the first event.
    void onBase(std::size_t device, std::int64_t reservedBytes);
    /// Any event, in order. `action` as in model/wire/events_codec.h.
    void onEvent(std::size_t device, std::uint8_t action, std::int64_t bytes);
    /// Events were lost: what is reserved is not known any more.
    void onLost(std::size_t device);

    /// After all events that were told so far were taken out of the ring. `urgent`: the moment matters (an
    /// out-of-memory), `last`: no more events will come.
    void look(std::int64_t nowNs, bool urgent, bool last);

    /// Rows since the last call; unchanged ones are left out.
    [[nodiscard]] std::vector<wire::DriverRow> take();

private:
    struct Device {
        std::uint64_t events = 0;
        std::uint64_t moves = 0; ///< events that changed what is reserved
        std::int64_t deltaBytes = 0; ///< by them
        std::optional<std::int64_t> baseBytes;
        bool lost = false;
        std::optional<wire::DriverRow> pending; ///< counts if `moves` is still `pendingMoves`
        std::uint64_t pendingMoves = 0;
        std::optional<wire::DriverRow> last;
    };

    [[nodiscard]] bool isUsed(const Device& device) const;
    void read(std::size_t device, std::int64_t nowNs);
    void settle(Device& device);

    ReadDriver m_read;
    bool m_followed;
    std::vector<Device> m_devices;
    std::vector<wire::DriverRow> m_rows;
    std::int64_t m_nextNs = 0;
};

} // namespace strata::agent
