// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a pickle: the opcode loop, the heap and the sniffing before them must refuse or read, nothing
// else.
#include "model/base/words.h"
#include "model/readers/reader.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // A protocol header in front keeps the input a pickle whatever the fuzzer does to its first bytes.
    std::vector<std::byte> pickle{ std::byte{ 0x80 }, std::byte{ 4 } };
    const auto bytes = std::as_bytes(std::span(data, size));
    pickle.insert(pickle.end(), bytes.begin(), bytes.end());
    const strata::model::ReadLimits limits{ .unpackedBytes = 64u << 20, .force = false };
    const auto read = strata::model::readRecording(std::span<const std::byte>(pickle), limits, {});
    if (!read && read.error().text().empty())
        __builtin_trap();
    return 0;
}
