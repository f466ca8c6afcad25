// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/chunk.h"
#include "model/wire/info.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::wire {

/// What a live link carries besides the chunks of a session: FORMAT.md, "The live link". These never stand in
/// a file, and their sequence number is 0: they stand outside the count.
inline constexpr ChunkType kJoin{ 96 }; ///< the first from a viewer, and the only one
inline constexpr ChunkType kGreeting{ 97 }; ///< the first to a viewer that may join
inline constexpr ChunkType kRefusal{ 98 }; ///< the first and last to one that may not
inline constexpr ChunkType kTotals{ 99 }; ///< what stands now, however far behind the viewer is
inline constexpr ChunkType kGap{ 100 }; ///< what comes next begins the session anew, later

inline constexpr std::array kLinkTypes{ kJoin, kGreeting, kRefusal, kTotals, kGap };
[[nodiscard]] constexpr bool isLinkType(ChunkType type)
{
    return type >= kJoin && static_cast<std::uint16_t>(type) < 128; ///< those to come too
}

inline constexpr std::uint32_t kLinkVersion = 1; ///< both ends name theirs; another one is refused
inline constexpr std::size_t kMostJoinBytes = 4096; ///< payload that a recorder takes from a viewer
inline constexpr std::size_t kMostLinkDevices = 4096;

struct Join {
    std::uint32_t version = kLinkVersion;
    std::string token; ///< of a link over TCP
    bool follows = true; ///< false: greeting and totals are all that is wanted
    std::uint64_t recording = 0; ///< whose chunks the viewer has already, and how many; 0: none
    std::uint32_t chunks = 0;

    friend bool operator==(const Join&, const Join&) = default;
};

struct Greeting {
    std::uint32_t version = kLinkVersion;
    std::uint64_t recording = 0; ///< drawn at random when it began
    std::uint32_t next = 0; ///< sequence number of the chunk that comes first, unless a Gap says otherwise
    std::vector<KeyValue> facts; ///< keys of Info, and those below

    friend bool operator==(const Greeting&, const Greeting&) = default;
};

/// Keys of a greeting that are not those of Info.
namespace greeting {

inline constexpr const char* kName = "name"; ///< of the program, for people
inline constexpr const char* kJob = "job"; ///< that its ranks have in common
inline constexpr const char* kFile = "file"; ///< that is recorded to

} // namespace greeting

/// A key of Info, of a session that was joined late: info::kYes.
inline constexpr const char* kJoinedLate = "joined_late";

struct DeviceTotals {
    std::int32_t device = 0;
    std::uint64_t events = 0; ///< so far
    std::int64_t usedBytes = -1; ///< by the process, as the driver says; -1: not known, likewise the next two
    std::int64_t reservedBytes = -1; ///< in segments
    std::int64_t requestedBytes = -1; ///< by what is allocated

    friend bool operator==(const DeviceTotals&, const DeviceTotals&) = default;
};

struct Totals {
    std::int64_t timeNs = 0; ///< since the epoch
    std::int64_t eventsPerSecond = -1; ///< of all devices, lately; -1: not known
    std::vector<DeviceTotals> devices;

    friend bool operator==(const Totals&, const Totals&) = default;
};

/// Whose detail is not kept any more: the session that the viewer had ends, and one begins that was joined
/// late. Tables, states and what stands come first; then chunks of the recording from `next` on.
struct Gap {
    struct Missing {
        std::int32_t device = 0;
        std::uint64_t events = 0; ///< how many of the device come before those that follow
        friend bool operator==(const Missing&, const Missing&) = default;
    };
    std::uint32_t next = 0; ///< sequence number of the first chunk behind the states
    std::uint32_t states = 0; ///< how many chunks come before it that stand for the earlier ones
    std::vector<Missing> missing;

    friend bool operator==(const Gap&, const Gap&) = default;
};

struct Refusal {
    enum class Reason : std::uint8_t { Other, Version, Token, Full };
    Reason reason = Reason::Other;
    std::string text; ///< for people

    friend bool operator==(const Refusal&, const Refusal&) = default;
};

void encodeJoin(const Join& join, Bytes& out);
void encodeGreeting(const Greeting& greeting, Bytes& out);
void encodeTotals(const Totals& totals, Bytes& out);
void encodeGap(const Gap& gap, Bytes& out);
void encodeRefusal(const Refusal& refusal, Bytes& out);

/// False: damaged. What later versions add behind the fields is passed over. A Join or Greeting of another
/// version tells its version alone.
[[nodiscard]] bool decodeJoin(std::span<const std::byte> payload, Join& join);
[[nodiscard]] bool decodeGreeting(std::span<const std::byte> payload, Greeting& greeting);
[[nodiscard]] bool decodeTotals(std::span<const std::byte> payload, Totals& totals);
[[nodiscard]] bool decodeGap(std::span<const std::byte> payload, Gap& gap);
[[nodiscard]] bool decodeRefusal(std::span<const std::byte> payload, Refusal& refusal);

/// Gives a whole chunk another sequence number, and the hash that goes with it.
void renumberChunk(std::span<std::byte> chunk, std::uint32_t sequence);

/// Appends a whole chunk of the link, its payload as `encode` makes it.
template <class Item>
void appendLinkChunk(ChunkType type, void (*encode)(const Item&, Bytes&), const Item& item, Bytes& out)
{
    Bytes payload;
    encode(item, payload);
    ChunkPacker packer(1);
    [[maybe_unused]] const bool packed = packer.pack(type, payload, out); // false: memory ran out
}

} // namespace strata::wire
