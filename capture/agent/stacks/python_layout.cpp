// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/stacks/python_layout.h"

namespace strata::agent {

namespace {

constexpr std::size_t kNone = PythonLayout::kNone;
using Lines = PythonLayout::Lines;

constexpr PythonLayout kLayouts[] = {
    { .version = "3.10.",
        .threadFrame = 24,
        .frameFromThat = kNone,
        .frameCode = 32,
        .framePrevious = 24,
        .frameInstruction = 96,
        .countsUnits = true,
        .frameOwner = kNone,
        .ownedByC = 0,
        .frameLocals = 352,
        .codeFirstLine = 40,
        .codeFile = 104,
        .codeName = 112,
        .codeLines = 120,
        .codeFirstTraceable = kNone,
        .codeInstructions = kNone,
        .textAscii = 48,
        .textOther = 72,
        .lines = Lines::Differences },
    { .version = "3.11.",
        .threadFrame = 56,
        .frameFromThat = 8,
        .frameCode = 32,
        .framePrevious = 48,
        .frameInstruction = 56,
        .countsUnits = false,
        .frameOwner = 69,
        .ownedByC = 3,
        .frameLocals = 72,
        .codeFirstLine = 72,
        .codeFile = 112,
        .codeName = 120,
        .codeLines = 136,
        .codeFirstTraceable = 168,
        .codeInstructions = 184,
        .textAscii = 48,
        .textOther = 72,
        .lines = Lines::Locations },
    { .version = "3.12.",
        .threadFrame = 56,
        .frameFromThat = 0,
        .frameCode = 0,
        .framePrevious = 8,
        .frameInstruction = 56,
        .countsUnits = false,
        .frameOwner = 70,
        .ownedByC = 3,
        .frameLocals = 72,
        .codeFirstLine = 68,
        .codeFile = 112,
        .codeName = 120,
        .codeLines = 136,
        .codeFirstTraceable = 176,
        .codeInstructions = 192,
        .textAscii = 40,
        .textOther = 56,
        .lines = Lines::Locations },
    { .version = "3.13.",
        .threadFrame = 72,
        .frameFromThat = kNone,
        .frameCode = 0,
        .framePrevious = 8,
        .frameInstruction = 56,
        .countsUnits = false,
        .frameOwner = 70,
        .ownedByC = 3,
        .frameLocals = 72,
        .codeFirstLine = 68,
        .codeFile = 112,
        .codeName = 120,
        .codeLines = 136,
        .codeFirstTraceable = 184,
        .codeInstructions = 200,
        .textAscii = 40,
        .textOther = 56,
        .lines = Lines::Locations },
    { .version = "3.14.",
        .threadFrame = 72,
        .frameFromThat = kNone,
        .frameCode = 0,
        .framePrevious = 8,
        .frameInstruction = 56,
        .countsUnits = false,
        .frameOwner = 74,
        .ownedByC = 3,
        .frameLocals = 80,
        .codeFirstLine = 68,
        .codeFile = 112,
        .codeName = 120,
        .codeLines = 136,
        .codeFirstTraceable = 192,
        .codeInstructions = 208,
        .textAscii = 40,
        .textOther = 56,
        .lines = Lines::Locations },
};

class Table {
public:
    explicit Table(std::string_view bytes)
        : m_bytes(bytes)
    {
    }

    [[nodiscard]] bool more() const { return m_at < m_bytes.size(); }
    std::uint8_t next() { return more() ? static_cast<std::uint8_t>(m_bytes[m_at++]) : 0; }
    void skipColumns()
    {
        while (more() && (static_cast<std::uint8_t>(m_bytes[m_at]) & 0x80) == 0)
            ++m_at;
    }
    std::int64_t difference()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 60; shift += 6) {
            const std::uint8_t byte = next();
            value |= std::uint64_t{ byte & 63u } << shift;
            if ((byte & 64) == 0)
                break;
        }
        const auto half = static_cast<std::int64_t>(value >> 1);
        return (value & 1) != 0 ? -half : half;
    }

private:
    std::string_view m_bytes;
    std::size_t m_at = 0;
};

std::int64_t lineByDifferences(Table table, std::int64_t unit, std::int64_t line)
{
    constexpr std::int64_t kUnitBytes = 2;
    constexpr std::int8_t kNoLine = -128;
    if (unit < 0) // nothing has run yet
        return line;
    for (std::int64_t end = 0; table.more();) {
        end += table.next();
        const auto lines = static_cast<std::int8_t>(table.next());
        if (lines != kNoLine)
            line += lines;
        if (unit * kUnitBytes < end)
            return lines == kNoLine ? 0 : line;
    }
    return 0;
}

std::int64_t lineByLocations(Table table, std::int64_t unit, std::int64_t line)
{
    for (std::int64_t end = 0; table.more();) {
        const std::uint8_t head = table.next();
        const unsigned form = head >> 3 & 15;
        end += (head & 7) + 1;
        bool known = true;
        if (form == 15)
            known = false;
        else if (form == 14 || form == 13)
            line += table.difference();
        else if (form >= 10)
            line += form - 10;
        table.skipColumns();
        if (unit < end)
            return known ? line : 0;
    }
    return 0;
}

} // namespace

const PythonLayout* pythonLayout(std::string_view version)
{
    // Objects of builds without the lock begin otherwise.
    if (version.find("free-threading") != version.npos)
        return nullptr;
    for (const PythonLayout& layout : kLayouts) {
        if (version.starts_with(layout.version))
            return &layout;
    }
    return nullptr;
}

std::int64_t pythonLine(
    PythonLayout::Lines form, std::string_view table, std::int64_t unit, std::int64_t firstLine)
{
    return form == Lines::Differences ? lineByDifferences(Table(table), unit, firstLine)
                                      : lineByLocations(Table(table), unit, firstLine);
}

} // namespace strata::agent
