// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/stacks/python_layout.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata::agent {
namespace {

/// A function with a comprehension, try, with and calls over several lines, as each Python compiled it, and
/// what its own code.co_lines() says: lines (0 none) and for how many code units in a row.
struct Compiled {
    const char* version;
    std::int64_t firstLine;
    std::string table; // hexadecimal
    std::vector<std::pair<std::int64_t, int>> lines;
};

const std::vector<Compiled> kCompiled{
    { "3.10.", 2,
        "0a02060106ff04030201020208fe0c030401080202fd02fd0c060a0102010aff0202020104ff10fe0202"
        "020104ff",
        { { 4, 5 }, { 5, 3 }, { 4, 3 }, { 7, 2 }, { 8, 1 }, { 10, 1 }, { 8, 4 }, { 11, 6 }, { 12, 2 },
            { 14, 4 }, { 11, 1 }, { 8, 1 }, { 14, 6 }, { 15, 5 }, { 16, 1 }, { 15, 5 }, { 17, 1 }, { 18, 1 },
            { 17, 2 }, { 15, 8 }, { 17, 1 }, { 18, 1 }, { 17, 2 } } },
    { "3.11.", 2,
        "f88000f00402090ff00002090ff00002090ff00002090fdd1217980191289428f00302090ff10002090f"
        "f40002090f8041f00607050ed80d0ee00d0ef105020e0f88018801f8f506000c16f000010511f0000105"
        "11f000010511d80f10e00c0d880188018801f007010511f8f8f8f00700090af00c000d0e88018801f888"
        "4188018805880588058805dd090d886189178c17f00001050d9041d8080cf00301050df00001050df000"
        "01050df10001050df40001050df00001050df00001050df00001050df00001050df00001050df0000105"
        "0df8f8f8f00001050df00001050df00001050df00001050de00c0dd80e0ff103010d10f000010511",
        { { 0, 1 }, { 2, 1 }, { 4, 4 }, { 5, 14 }, { 4, 9 }, { 7, 1 }, { 8, 1 }, { 10, 1 }, { 8, 4 },
            { 0, 1 }, { 11, 9 }, { 12, 1 }, { 14, 4 }, { 11, 1 }, { 0, 3 }, { 8, 1 }, { 14, 3 }, { 0, 1 },
            { 14, 6 }, { 15, 16 }, { 16, 1 }, { 15, 16 }, { 0, 3 }, { 15, 4 }, { 17, 1 }, { 18, 1 },
            { 17, 3 } } },
    { "3.13.", 2,
        "8000f40600131898019428f30302090fd9121a8851dc0c0df705000a0bd9121af003000506f00002090f"
        "f00607050ed80d0ee00d0ef105020e0f8901f00c000d0e8801dc090d88618c179041d8080cf703000a11"
        "e00c0dd80e0ff103010d10f000010511f9f21b02090ff8f40e000c16f300010511d80f10e00c0d8901f0"
        "07010511fbf006000d0e8901fadf09108c17e00c0dd80e0ff103010d10f000010511fa",
        { { 2, 1 }, { 5, 11 }, { 4, 4 }, { 5, 3 }, { 6, 5 }, { 4, 8 }, { 5, 2 }, { 4, 2 }, { 7, 1 }, { 8, 1 },
            { 10, 1 }, { 8, 4 }, { 14, 2 }, { 15, 12 }, { 16, 1 }, { 15, 8 }, { 17, 1 }, { 18, 1 }, { 17, 3 },
            { 0, 2 }, { 4, 3 }, { 0, 1 }, { 11, 9 }, { 12, 1 }, { 14, 3 }, { 11, 1 }, { 0, 4 }, { 14, 3 },
            { 0, 3 }, { 15, 13 }, { 17, 1 }, { 18, 1 }, { 17, 3 }, { 0, 3 } } },
    { "3.14.", 2,
        "8000f10600181cf303030d06d9171b9003dc0b0ef70300090c88039174f00300050af000030d06f00806"
        "0513dc1013d80c11d80c0df30502110f8805f40c000a0e88648f1a8c1a9074d8080c8f0a890adc0c0f90"
        "058b4af403010918f703000a14f006000c11804cf9f21d030d06f8f410000d16dc0c16f003010c18f400"
        "020513e010128a05f005020513faf706000a148e1af006000c11804cfa",
        { { 2, 1 }, { 5, 2 }, { 4, 4 }, { 5, 3 }, { 6, 5 }, { 5, 11 }, { 4, 2 }, { 8, 1 }, { 9, 5 },
            { 10, 1 }, { 11, 1 }, { 9, 5 }, { 15, 20 }, { 16, 11 }, { 17, 10 }, { 16, 5 }, { 15, 8 },
            { 18, 2 }, { 0, 2 }, { 4, 3 }, { 0, 1 }, { 12, 5 }, { 13, 5 }, { 12, 6 }, { 14, 4 }, { 12, 1 },
            { 0, 3 }, { 15, 15 }, { 18, 2 }, { 0, 3 } } },
};

std::string bytesOf(const std::string& hexadecimal)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
    return bytes;
}

} // namespace

TEST(PythonLayout, FindsTheLinesThatPythonFinds)
{
    for (const Compiled& code : kCompiled) {
        const PythonLayout* layout = pythonLayout(std::string(code.version) + "4 (main)");
        ASSERT_TRUE(layout) << code.version;
        const std::string table = bytesOf(code.table);
        std::int64_t unit = 0;
        for (const auto& [line, units] : code.lines) {
            for (int i = 0; i < units; ++i, ++unit)
                ASSERT_EQ(pythonLine(layout->lines, table, unit, code.firstLine), line)
                    << code.version << " at code unit " << unit;
        }
        EXPECT_EQ(pythonLine(layout->lines, table, unit, code.firstLine), 0) << "behind the end";
        if (layout->countsUnits) {
            EXPECT_EQ(pythonLine(layout->lines, table, -1, code.firstLine), code.firstLine) << "not begun";
        }
    }
}

TEST(PythonLayout, ReadsNothingBehindTheTable)
{
    for (const Compiled& code : kCompiled) {
        const std::string table = bytesOf(code.table);
        for (std::size_t bytes = 0; bytes < table.size(); ++bytes) {
            const std::vector<char> cut(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(bytes));
            (void)pythonLine(pythonLayout(code.version)->lines, { cut.data(), cut.size() }, 10'000, 1);
        }
    }
}

TEST(PythonLayout, IsNotKnownForOthers)
{
    EXPECT_FALSE(pythonLayout("3.9.18 (main)"));
    EXPECT_FALSE(pythonLayout("3.1.0"));
    EXPECT_FALSE(pythonLayout("4.11.0"));
    EXPECT_FALSE(pythonLayout(""));
    EXPECT_FALSE(pythonLayout("3.13.0 experimental free-threading build (main)"));
    EXPECT_FALSE(pythonLayout("3.14.0 free-threading build (main)"));
}

} // namespace strata::agent
