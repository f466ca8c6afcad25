// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/wire/coder.h"

#include <gtest/gtest.h>

#include <optional>

namespace strata::wire {
namespace {

/// What `layout` reads of these bytes; nothing if it fails.
template <class Value> std::optional<Value> read(const Bytes& payload, auto layout)
{
    Value value{};
    return decodeAs(layout, payload, value) ? std::optional(value) : std::nullopt;
}

Bytes written(auto layout, const auto&... parts)
{
    Bytes payload;
    encodeAs(layout, payload, parts...);
    return payload;
}

constexpr auto kVarint = [](auto& coder, auto& number) { coder.varint(number); };
constexpr auto kSigned = [](auto& coder, auto& number) { coder.signedVarint(number); };
constexpr auto kStep = [](auto& coder, auto& number) {
    std::uint64_t before = 1000;
    coder.step(number, before);
};

} // namespace

TEST(WireCoder, ANumberThatDoesNotFitItsMemberFails)
{
    EXPECT_EQ(read<std::uint32_t>(written(kVarint, std::uint64_t{ UINT32_MAX }), kVarint), UINT32_MAX);
    EXPECT_FALSE(read<std::uint32_t>(written(kVarint, std::uint64_t{ UINT32_MAX } + 1), kVarint));
    EXPECT_EQ(read<std::int64_t>(written(kVarint, INT64_MAX), kVarint), INT64_MAX);
    EXPECT_FALSE(read<std::int64_t>(written(kVarint, std::int64_t{ -1 }), kVarint)) << "a duration";
    for (const std::int32_t device : { INT32_MIN, -1, INT32_MAX })
        EXPECT_EQ(read<std::int32_t>(written(kSigned, device), kSigned), device);
    for (const std::int64_t device : { std::int64_t{ INT32_MIN } - 1, std::int64_t{ INT32_MAX } + 1 })
        EXPECT_FALSE(read<std::int32_t>(written(kSigned, device), kSigned));
    EXPECT_EQ(read<std::uint32_t>(written(kStep, std::uint32_t{ 7 }), kStep), 7u);
    EXPECT_FALSE(read<std::uint32_t>(written(kStep, std::uint64_t{ UINT32_MAX } + 1), kStep));
    EXPECT_EQ(read<std::int64_t>(written(kStep, INT64_MIN), kStep), INT64_MIN);
    const auto above = [](auto& coder, auto& number) { coder.varintAbove(number, 5); };
    EXPECT_EQ(read<std::uint64_t>(written(above, std::uint64_t{ 5 }), above), 5u);
    EXPECT_FALSE(read<std::uint64_t>(written(above, std::uint64_t{ 4 }), above));
}

TEST(WireCoder, AFailureIsFinal)
{
    std::uint32_t id = 7, tooLarge = 7, after = 7;
    const auto layout = [](auto& coder, auto& first, auto& second, auto& third) {
        coder.id(first);
        coder.varint(second);
        coder.id(third);
    };
    const Bytes payload = written(layout, std::uint32_t{ 3 }, UINT64_MAX, std::uint32_t{ 4 });
    EXPECT_FALSE(decodeAs(layout, payload, id, tooLarge, after));
    EXPECT_EQ(id, 3u);
    EXPECT_EQ(tooLarge, 0u);
    EXPECT_EQ(after, kNone);
}

TEST(WireCoder, RowsThatCannotBeThereGetNoRoom)
{
    using Rows = std::vector<std::uint64_t>;
    for (const std::size_t count : { 3, 4 }) {
        Bytes payload = written(kVarint, count);
        payload.resize(payload.size() + 11);
        Rows byColumn, byRow;
        const auto room = [](auto& coder, auto& rows) { coder.room(rows, 3); };
        const auto list
            = [](auto& coder, auto& rows) { coder.rows(rows, 3, [&](auto& row) { coder.varint(row); }); };
        EXPECT_EQ(decodeAs(room, payload, byColumn), count == 3);
        EXPECT_EQ(decodeAs(list, payload, byRow), count == 3);
        EXPECT_EQ(byColumn.size(), count == 3 ? 3u : 0u);
        EXPECT_EQ(byRow.capacity(), byColumn.size());
    }
    const auto few = [](auto& coder, auto& rows) { coder.room(rows, 1, 2); };
    EXPECT_TRUE(read<Rows>({ std::byte{ 2 }, {}, {}, {} }, few));
    EXPECT_FALSE(read<Rows>({ std::byte{ 3 }, {}, {}, {} }, few)) << "more than a reader takes";
}

TEST(WireCoder, BytesThatAreNoCodeOrFlagOfOursAreTakenAsTheLayoutSays)
{
    enum class Code : std::uint8_t { Zero, One, Two };
    const Bytes two{ std::byte{ 2 } }, three{ std::byte{ 3 } };
    EXPECT_EQ(read<Code>(three, [](auto& coder, auto& code) { coder.code(code); }), Code{ 3 });
    const auto known = [](auto& coder, auto& code) { coder.knownCode(code, 3); };
    EXPECT_EQ(read<Code>(two, known), Code::Two);
    EXPECT_FALSE(read<Code>(three, known));
    const auto orOne = [](auto& coder, auto& code) { coder.codeOr(code, 3, Code::One); };
    EXPECT_EQ(read<Code>(two, orOne), Code::Two);
    EXPECT_EQ(read<Code>(three, orOne), Code::One);
    EXPECT_EQ(read<bool>(three, [](auto& coder, auto& value) { coder.flag(value); }), false);
    EXPECT_EQ(read<bool>(two, [](auto& coder, auto& value) { coder.anyFlag(value); }), true);
    EXPECT_EQ(read<bool>(two, [](auto& coder, auto& value) { coder.lowestBit(value); }), false);
}

} // namespace strata::wire
