// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::model::pickle {

/// The opcodes of pickle protocols 0 to 5, named as in Python's pickle module.
enum Op : std::uint8_t {
    kMark = '(',
    kStop = '.',
    kPop = '0',
    kPopMark = '1',
    kDup = '2',
    kFloat = 'F',
    kInt = 'I',
    kBinInt = 'J',
    kBinInt1 = 'K',
    kLong = 'L',
    kBinInt2 = 'M',
    kNone = 'N',
    kString = 'S',
    kBinString = 'T',
    kShortBinString = 'U',
    kUnicode = 'V',
    kBinUnicode = 'X',
    kAppend = 'a',
    kDict = 'd',
    kEmptyDict = '}',
    kAppends = 'e',
    kGet = 'g',
    kBinGet = 'h',
    kLongBinGet = 'j',
    kList = 'l',
    kEmptyList = ']',
    kPut = 'p',
    kBinPut = 'q',
    kLongBinPut = 'r',
    kSetItem = 's',
    kTuple = 't',
    kEmptyTuple = ')',
    kSetItems = 'u',
    kBinFloat = 'G',
    kProto = 0x80,
    kTuple1 = 0x85,
    kTuple2 = 0x86,
    kTuple3 = 0x87,
    kNewTrue = 0x88,
    kNewFalse = 0x89,
    kLong1 = 0x8a,
    kLong4 = 0x8b,
    kBinBytes = 'B',
    kShortBinBytes = 'C',
    kShortBinUnicode = 0x8c,
    kBinUnicode8 = 0x8d,
    kBinBytes8 = 0x8e,
    kEmptySet = 0x8f,
    kAddItems = 0x90,
    kFrozenSet = 0x91,
    kMemoize = 0x94,
    kFrame = 0x95,
    kByteArray8 = 0x96,
};

/// The name of an opcode that would import or call something; empty for all others.
[[nodiscard]] constexpr std::string_view nameOfCode(std::uint8_t op)
{
    switch (op) {
    case 'P':
        return "PERSID";
    case 'Q':
        return "BINPERSID";
    case 'R':
        return "REDUCE";
    case 'b':
        return "BUILD";
    case 'c':
        return "GLOBAL";
    case 'i':
        return "INST";
    case 'o':
        return "OBJ";
    case 0x81:
        return "NEWOBJ";
    case 0x82:
        return "EXT1";
    case 0x83:
        return "EXT2";
    case 0x84:
        return "EXT4";
    case 0x92:
        return "NEWOBJ_EX";
    case 0x93:
        return "STACK_GLOBAL";
    case 0x97:
        return "NEXT_BUFFER";
    case 0x98:
        return "READONLY_BUFFER";
    default:
        return {};
    }
}

/// Bytes of fixed-size argument after an opcode (length fields included).
[[nodiscard]] constexpr std::size_t argumentBytes(std::uint8_t op)
{
    switch (op) {
    case kProto:
    case kBinGet:
    case kBinPut:
    case kBinInt1:
    case kLong1:
    case kShortBinString:
    case kShortBinBytes:
    case kShortBinUnicode:
        return 1;
    case kBinInt2:
        return 2;
    case kBinInt:
    case kLongBinGet:
    case kLongBinPut:
    case kLong4:
    case kBinString:
    case kBinUnicode:
    case kBinBytes:
        return 4;
    case kBinFloat:
    case kFrame:
    case kBinUnicode8:
    case kBinBytes8:
    case kByteArray8:
        return 8;
    default:
        return 0;
    }
}

} // namespace strata::model::pickle
