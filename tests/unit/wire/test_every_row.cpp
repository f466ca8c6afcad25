// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of every type with all members set: a codec that leaves one out fails here.
#include "model/wire/allocator_calls_codec.h"
#include "model/wire/call_list_codec.h"
#include "model/wire/deep_step_codec.h"
#include "model/wire/digest_codec.h"
#include "model/wire/roles_codec.h"
#include "model/wire/state.h"
#include "model/wire/symbols.h"
#include "model/wire/tables.h"
#include "model/wire/user_data_codec.h"
#include "model/wire/work_codec.h"

#include <gtest/gtest.h>

#include <concepts>
#include <map>
#include <string>
#include <type_traits>

namespace strata::wire {
namespace {

/// Gives every member a value that neither it has by default nor a member before it has, apart from enums and
/// bools, which have too few. Later numbers are larger.
class Distinct {
public:
    template <class... Members> void operator()(Members&... members) { (set(members), ...); }

private:
    void set(bool& value) { value = true; }
    void set(std::string& text) { text = "text " + std::to_string(++m_next); }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void set(Enum& value) { value = static_cast<Enum>(1); }
    template <std::integral Number> void set(Number& value)
    {
        value = static_cast<Number>(++m_next * (sizeof(Number) == 8 ? 1'000'000'000'039 : 100'003));
    }
    template <class Item, std::size_t kCount> void set(Item (&items)[kCount])
    {
        for (Item& item : items)
            set(item);
    }

    std::uint64_t m_next = 0;
};

// Each list of names is complete: one more member does not compile before it is named here.
// clang-format off
void fill(std::string& row, Distinct& set) { set(row); }
void fill(std::int64_t& row, Distinct& set) { set(row); }
void fill(KeyValue& row, Distinct& set) { auto& [key, value] = row; set(key, value); }
void fill(FrameRow& row, Distinct& set) { auto& [a, b, c, d] = row; set(a, b, c, d); }
void fill(PoolRow& row, Distinct& set) { auto& [a, b, c] = row; set(a, b, c); }
void fill(AnnotationRow& row, Distinct& set) { auto& [a, b, c, d, e] = row; set(a, b, c, d, e); }
void fill(DriverRow& row, Distinct& set) { auto& [a, b, c, d, e, f] = row; set(a, b, c, d, e, f); }
void fill(LostRow& row, Distinct& set) { auto& [a, b, c] = row; set(a, b, c); }
void fill(EarlierRow& row, Distinct& set) { auto& [a, b, c, d, e, f, g, h, i] = row; set(a, b, c, d, e, f, g, h, i); }
void fill(AllocatorCallRow& row, Distinct& set) { auto& [a, b, c, d, e] = row; set(a, b, c, d, e); }
void fill(RoleRow& row, Distinct& set) { auto& [a, b, c, d, e, f, g, h, i] = row; set(a, b, c, d, e, f, g, h, i); }
void fill(SymbolRow& row, Distinct& set) { auto& [a, b, c, d] = row; set(a, b, c, d); }
void fill(UserRow& row, Distinct& set) { auto& [a, b, c, d, e, f, g, h, i] = row; set(a, b, c, d, e, f, g, h, i); }
void fill(SegmentRow& row, Distinct& set) { auto& [a, b, c, d, e, f, g, h, i, j] = row; set(a, b, c, d, e, f, g, h, i, j); }
void fill(BlockRow& row, Distinct& set) { auto& [a, b, c, d, e] = row; set(a, b, c, d, e); }
void fill(StackSum& row, Distinct& set) { auto& [a, b, c] = row; set(a, b, c); }
void fill(LaunchConfigRow& row, Distinct& set) { auto& [a, b, c, d, e] = row; set(a, b, c, d, e); }
void fill(DeviceWorkRow& row, Distinct& set) { auto& [a, b, c, d, e, f, g] = row; set(a, b, c, d, e, f, g); }
void fill(WorkCallRow& row, Distinct& set) { auto& [a, b, c, d, e, f] = row; set(a, b, c, d, e, f); }
void fill(OperatorCallRow& row, Distinct& set) { auto& [a, b, c, d, e] = row; set(a, b, c, d, e); }
void fill(OperatorRow& row, Distinct& set) { auto& [a, b, c, d, e] = row; set(a, b, c, d, e); }
void fill(WorkWaitRow& row, Distinct& set) { auto& [a, b, c, d, e, f] = row; set(a, b, c, d, e, f); }
void fill(DriverAllocationRow& row, Distinct& set) { auto& [a, b, c, d, e, f, g] = row; set(a, b, c, d, e, f, g); }
void fill(WorkLossRow& row, Distinct& set) { auto& [a, b, c] = row; set(a, b, c); }
void fill(DeepTensorRow& row, Distinct& set) { auto& [a, b, c, d] = row; set(a, b, c, d); }
void fill(DeepRow& row, Distinct& set) { auto& [a, b, c, d, e, f, g, h, i] = row; set(a, b, c, d, e, f, g, h, i); }
void fill(CallTensorRow& row, Distinct& set) { auto& [a, b, c, d, e] = row; set(a, b, c, d, e); }
void fill(CallRow& row, Distinct& set) { auto& [a, b, c, d, e, f, g] = row; set(a, b, c, d, e, f, g); }
// clang-format on

template <class Row> std::vector<Row> filled(Distinct& set, std::size_t count = 3)
{
    std::vector<Row> rows(count);
    for (Row& row : rows)
        fill(row, set);
    return rows;
}
template <class Row> std::vector<Row> filled()
{
    Distinct set;
    return filled<Row>(set);
}

/// `item` comes back as it was, and no part of its bytes is taken for a whole. Where earlier Stratas wrote so
/// many bytes less at the end, what they wrote comes back as that of `earlier`.
template <class Item, class Encode, class Decode>
void holdRoundTrip(
    const Item& item, Encode encode, Decode decode, const std::map<std::size_t, Item>& earlier = {})
{
    Bytes payload;
    encode(item, payload);
    Item back;
    ASSERT_TRUE(decode(payload, back));
    EXPECT_TRUE(back == item);
    for (std::size_t size = 0; size < payload.size(); ++size) {
        const auto whole = earlier.find(payload.size() - size);
        ASSERT_EQ(decode(std::span(payload).first(size), back), whole != earlier.end())
            << size << " of " << payload.size();
        EXPECT_TRUE(whole == earlier.end() || back == whole->second);
    }
}

template <class Row>
void holdRows(void (*encode)(std::span<const Row>, Bytes&),
    bool (*decode)(std::span<const std::byte>, std::vector<Row>&))
{
    holdRoundTrip(filled<Row>(), encode, decode);
}

template <class Row>
void holdTable(void (*encode)(std::uint32_t, std::span<const Row>, Bytes&),
    bool (*decode)(std::span<const std::byte>, std::uint32_t&, std::vector<Row>&))
{
    constexpr std::uint32_t kFirst = 1'000'003;
    holdRoundTrip(
        filled<Row>(), [&](const auto& rows, Bytes& out) { encode(kFirst, rows, out); },
        [&](std::span<const std::byte> payload, auto& rows) {
            std::uint32_t first = 0;
            const bool isGood = decode(payload, first, rows);
            EXPECT_TRUE(!isGood || first == kFirst);
            return isGood;
        });
}

Digest digest()
{
    Distinct set;
    Digest digest;
    auto& [chunks, chain, device, events, actions, otherActions, hasTimes, firstTime, peakTime, latestTime,
        backwards, firstBackwards, requestedStart, requestedPeak, requestedPeakEvent, pendingStart,
        reservedStart, reservedPeak, reservedPeakEvent, olderFrees, olderFreedBytes, firstOlderFree,
        olderBytes, peakReserved, peakLeast, peakPending, peakIsExact, peak, outOfMemory]
        = digest;
    set(chunks, chain, device, events, hasTimes, firstTime, peakTime, latestTime, backwards, firstBackwards,
        requestedStart, requestedPeak, requestedPeakEvent, pendingStart, reservedStart, reservedPeak,
        reservedPeakEvent, olderFrees, olderFreedBytes, firstOlderFree, olderBytes, peakReserved, peakLeast,
        peakPending, peakIsExact);
    for (std::uint64_t& count : actions)
        set(count);
    otherActions.resize(2);
    for (auto& [name, count] : otherActions)
        set(name, count);
    peak = filled<StackSum>(set);
    outOfMemory.resize(2);
    for (Digest::OutOfMemory& row : outOfMemory) {
        auto& [event, asked, deviceFree, reserved, requested, inSegments, isExact, pending, stack, stacks]
            = row;
        set(event, asked, deviceFree, reserved, requested, inSegments, isExact, pending, stack);
        stacks = filled<StackSum>(set, 2);
    }
    return digest;
}

DeviceWorkChunk deviceWork()
{
    Distinct set;
    DeviceWorkChunk work;
    auto& [device, configs, rows] = work;
    set(device);
    configs = filled<LaunchConfigRow>(set);
    rows = filled<DeviceWorkRow>(set, 4);
    rows[1].kind = DeviceWorkKind::Set;
    rows[2].kind = DeviceWorkKind::Kernel;
    rows[2].what = 2; // its configuration; a kernel has no bytes
    rows[2].bytes = 0;
    rows[3].stream = rows[0].stream; // starts after it
    return work;
}

OperatorChunk operators()
{
    Distinct set;
    OperatorChunk chunk;
    auto& [calls, rows] = chunk;
    calls = filled<OperatorCallRow>(set);
    rows = filled<OperatorRow>(set);
    for (OperatorRow& row : rows)
        row.call %= 3;
    return chunk;
}

DeepStepChunk deepStep()
{
    Distinct set;
    DeepStepChunk step;
    auto& [device, unusable, beginEvent, endEvent, tensors, rows, refs] = step;
    set(device, unusable, beginEvent, endEvent);
    tensors = filled<DeepTensorRow>(set);
    std::uint64_t place = 0;
    for (DeepTensorRow& tensor : tensors)
        tensor.offset = tensor.elements = ++place;
    rows = filled<DeepRow>(set);
    refs = { 2, 0, 1 };
    rows[0].tensors = 1;
    rows[1].tensors = 0;
    rows[2].tensors = 2;
    rows[0].kind = rows[2].kind = DeepKind::Saved;
    rows[1].layout = DeepLayout::NotTold; // what is not saved has neither
    rows[1].elements = 0;
    rows[0].elements = 100;
    rows[2].elements = 101;
    return step;
}

CallListChunk callList()
{
    Distinct set;
    CallListChunk list;
    auto& [device, unusable, beginEvent, endEvent, tensors, lengths, rows, refs] = list;
    set(device, unusable, beginEvent, endEvent);
    tensors = filled<CallTensorRow>(set);
    lengths = filled<std::int64_t>(set, 6);
    rows = filled<CallRow>(set);
    refs = { 5, 0, 1, 2, 4, 3 };
    for (std::uint32_t i = 0; i < 3; ++i) {
        tensors[i].gradientOf = 2 - i;
        tensors[i].dimensions = i;
        rows[i].takes = 2 - i;
        rows[i].returns = i;
    }
    return list;
}

/// After `change`, `item` is damage.
template <class Item, class Encode, class Decode>
void holdRefused(Item item, Encode encode, Decode decode, void (*change)(Item&))
{
    change(item);
    Bytes payload;
    encode(item, payload);
    EXPECT_FALSE(decode(payload, item));
}

/// Of rows whose second one has a kind that is not known here the others come back.
template <class Item, class Encode, class Decode>
void holdUnknownDropped(Item item, Encode encode, Decode decode, auto rowsOf, auto kind)
{
    using Kind = std::remove_reference_t<decltype(rowsOf(item)[1].*kind)>;
    rowsOf(item)[1].*kind = static_cast<Kind>(200);
    Bytes payload;
    encode(item, payload);
    Item back;
    ASSERT_TRUE(decode(payload, back));
    rowsOf(item).erase(rowsOf(item).begin() + 1);
    EXPECT_TRUE(back == item);
}

/// A byte behind the end is that of a later version, or damage.
template <class Item, class Encode, class Decode>
void holdEnd(const Item& item, Encode encode, Decode decode, bool mayGoOn)
{
    Bytes payload;
    encode(item, payload);
    payload.push_back({});
    Item back;
    EXPECT_EQ(decode(payload, back), mayGoOn);
}

} // namespace

TEST(EveryRow, OfATableComesBackWhole)
{
    holdTable(encodeFrames, decodeFrames);
    holdTable(encodeStreams, decodeStreams);
    holdTable(encodePools, decodePools);
    const std::vector<std::string> texts = filled<std::string>();
    const std::vector<std::string_view> strings(texts.begin(), texts.end());
    holdRoundTrip(
        strings, [](const auto& rows, Bytes& out) { encodeStrings(3, rows, out); },
        [first = 0u](std::span<const std::byte> payload, auto& rows) mutable {
            return decodeStrings(payload, first, rows);
        });
}

TEST(EveryRow, OfAListComesBackWhole)
{
    holdRows(encodeKeyValues, decodeKeyValues);
    holdRows(encodeDriver, decodeDriver);
    holdRows(encodeLost, decodeLost);
    holdRows(encodeEarlier, decodeEarlier);
    holdRows(encodeAllocatorCalls, decodeAllocatorCalls);
    holdRows(encodeRoles, decodeRoles);
    holdRows(encodeSymbols, decodeSymbols);
    holdRows(encodeWorkCalls, decodeWorkCalls);
    holdRows(encodeWorkWaits, decodeWorkWaits);
    holdRows(encodeDriverAllocations, decodeDriverAllocations);
    holdRows(encodeWorkLosses, decodeWorkLosses);
}

TEST(EveryRow, OfAnnotationsComesBackWhole)
{
    std::vector<AnnotationRow> rows = filled<AnnotationRow>(), earlier = rows;
    for (AnnotationRow& row : earlier)
        row.thread = 0;
    Bytes with, without;
    encodeAnnotations(rows, with);
    encodeAnnotations(earlier, without);
    holdRoundTrip(rows, encodeAnnotations, decodeAnnotations, { { with.size() - without.size(), earlier } });
}

TEST(EveryRow, OfUserDataComesBackWhole)
{
    std::vector<UserRow> rows = filled<UserRow>();
    rows[1] = { .key = 99, .removed = true, .changedNs = 98 }; // the others are not written of such a row
    rows[0].removed = rows[2].removed = false;
    holdRoundTrip(rows, encodeUserRows, decodeUserRows);
}

TEST(EveryRow, OfAStateComesBackWhole)
{
    Distinct set;
    State state;
    auto& [device, events, segments, blocks] = state;
    set(device, events);
    segments = filled<SegmentRow>(set);
    blocks = filled<BlockRow>(set);
    segments[0].blocks = 1;
    segments[1].blocks = 0;
    segments[2].blocks = 2;
    holdRoundTrip(state, encodeState, decodeState);
}

TEST(EveryRow, OfChunksWithSeveralListsComesBackWhole)
{
    holdRoundTrip(digest(), encodeDigest, decodeDigest);
    holdRoundTrip(deviceWork(), encodeDeviceWork, decodeDeviceWork);
    holdRoundTrip(operators(), encodeOperators, decodeOperators);
    holdRoundTrip(callList(), encodeCallList, decodeCallList);
    DeepStepChunk earlier = deepStep(), first;
    for (DeepTensorRow& tensor : earlier.tensors)
        tensor.offset = tensor.elements = 0;
    first = earlier;
    for (DeepRow& row : first.rows) {
        row.layout = DeepLayout::NotTold;
        row.elements = 0;
    }
    constexpr std::size_t kLayoutsAndElements = 4, kPlaces = 6; // a byte each
    holdRoundTrip(deepStep(), encodeDeepStep, decodeDeepStep,
        { { kPlaces, earlier }, { kPlaces + kLayoutsAndElements, first } });
}

TEST(EveryRow, OfAKindThatIsNotKnownIsDropped)
{
    const auto rows = [](auto& item) -> auto&
    {
        return item;
    };
    holdUnknownDropped(filled<RoleRow>(), encodeRoles, decodeRoles, rows, &RoleRow::kind);
    holdUnknownDropped(filled<WorkCallRow>(), encodeWorkCalls, decodeWorkCalls, rows, &WorkCallRow::kind);
    holdUnknownDropped(filled<WorkLossRow>(), encodeWorkLosses, decodeWorkLosses, rows, &WorkLossRow::why);
    holdUnknownDropped(
        deviceWork(), encodeDeviceWork, decodeDeviceWork, [](auto& work) -> auto& { return work.rows; },
        &DeviceWorkRow::kind);

    const auto allocations = filled<DriverAllocationRow>();
    Bytes payload;
    encodeDriverAllocations(allocations, payload);
    payload[2] = std::byte{ 2 }; // behind the count: of the second row, neither handed out nor taken back
    std::vector<DriverAllocationRow> back;
    ASSERT_TRUE(decodeDriverAllocations(payload, back));
    EXPECT_EQ(back, (std::vector{ allocations[0], allocations[2] }));
}

TEST(EveryRow, ThatNamesNothingIsDamage)
{
    const auto work = [](auto change) {
        holdRefused<DeviceWorkChunk>(deviceWork(), encodeDeviceWork, decodeDeviceWork, change);
    };
    work([](DeviceWorkChunk& chunk) { chunk.rows[2].what = 3; });
    work([](DeviceWorkChunk& chunk) { chunk.rows[2].durationNs = -1; });
    holdRefused<OperatorChunk>(
        operators(), encodeOperators, decodeOperators, [](OperatorChunk& chunk) { chunk.rows[0].call = 3; });
    const auto step
        = [](auto change) { holdRefused<DeepStepChunk>(deepStep(), encodeDeepStep, decodeDeepStep, change); };
    step([](DeepStepChunk& chunk) { chunk.refs[1] = 3; });
    step([](DeepStepChunk& chunk) { chunk.refs.pop_back(); });
    step([](DeepStepChunk& chunk) { chunk.rows[0].tensors = 2; });
    const auto list
        = [](auto change) { holdRefused<CallListChunk>(callList(), encodeCallList, decodeCallList, change); };
    list([](CallListChunk& chunk) { chunk.tensors[0].gradientOf = 3; });
    list([](CallListChunk& chunk) { chunk.tensors[0].dimensions = 1; });
    list([](CallListChunk& chunk) { chunk.rows[0].returns = 1; });
    list([](CallListChunk& chunk) { chunk.refs[0] = 6; });

    std::vector<std::int64_t> streams = filled<std::int64_t>();
    for (const std::uint32_t last : { kNone - 2, kNone - 1 }) {
        Bytes payload;
        std::uint32_t first = 0;
        encodeStreams(last - 2, streams, payload);
        EXPECT_EQ(decodeStreams(payload, first, streams), last == kNone - 2) << "ids end before kNone";
    }
}

TEST(EveryRow, IsFollowedByNothingWhereChunksEnd)
{
    holdEnd(filled<SymbolRow>(), encodeSymbols, decodeSymbols, false);
    holdEnd(filled<UserRow>(), encodeUserRows, decodeUserRows, false);
    holdEnd(digest(), encodeDigest, decodeDigest, false);
    holdEnd(filled<RoleRow>(), encodeRoles, decodeRoles, true);
    holdEnd(deepStep(), encodeDeepStep, decodeDeepStep, true);
    Bytes payload;
    encodeDigest(digest(), payload);
    payload[0] = std::byte{ kDigestVersion + 1 };
    Digest later;
    EXPECT_FALSE(decodeDigest(payload, later)) << "of another version";
}

} // namespace strata::wire
