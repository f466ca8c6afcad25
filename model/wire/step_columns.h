// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/chunk.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

/// What chunks about one step of a device have in common: how they begin, and columns of numbers that are
/// near to each other.
namespace strata::wire {

/// False: it is more than the field can have.
template <class Number> bool narrow(std::uint64_t value, Number& to)
{
    to = static_cast<Number>(value);
    return value <= std::numeric_limits<Number>::max();
}

/// Makes room for as many rows as are said to follow, of so many bytes at least. False: there cannot be.
template <class Row> bool readCount(ByteReader& in, std::size_t leastBytes, std::vector<Row>& rows)
{
    const std::size_t found = in.count(leastBytes);
    rows.clear();
    if (!in.ok() || found > kMaxRowsAChunk)
        return false;
    rows.resize(found);
    return true;
}

/// Each number as what it is more than the one before; the first one more than `before`.
template <class Rows, class NumberOf>
void writeDifferences(ByteWriter& writer, const Rows& rows, std::uint64_t before, NumberOf numberOf)
{
    for (const auto& row : rows) {
        const std::uint64_t number = numberOf(row);
        writer.signedVarint(static_cast<std::int64_t>(number - before));
        before = number;
    }
}

/// `take` is given each row with its number.
template <class Rows, class Take>
void readDifferences(ByteReader& in, Rows& rows, std::uint64_t before, Take take)
{
    for (auto& row : rows)
        take(row, before += static_cast<std::uint64_t>(in.signedVarint()));
}

template <class StepChunk> void writeStep(ByteWriter& writer, const StepChunk& chunk)
{
    writer.signedVarint(chunk.device);
    writer.id(chunk.unusable);
    writer.varint(chunk.beginEvent);
    writer.varint(chunk.endEvent);
}

/// False: there is no device of such a number.
template <class StepChunk> bool readStep(ByteReader& in, StepChunk& chunk)
{
    const std::int64_t device = in.signedVarint();
    chunk.device = static_cast<std::int32_t>(device);
    chunk.unusable = in.id();
    chunk.beginEvent = in.varint();
    chunk.endEvent = in.varint();
    return device >= std::numeric_limits<std::int32_t>::min()
        && device <= std::numeric_limits<std::int32_t>::max();
}

} // namespace strata::wire
