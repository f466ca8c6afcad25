// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/readers/values/heap.h"

#include <map>
#include <string>
#include <vector>

namespace strata::model {

/// Reads segments and their blocks into one DeviceRecording per device.
class SegmentReader {
public:
    /// More devices than any machine has.
    static constexpr std::size_t kMostDevices = 256;
    static constexpr std::int64_t kHighestDevice = 65535;

    SegmentReader(Heap& heap, std::map<int, DeviceRecording>& devices)
        : m_heap(heap)
        , m_devices(devices)
    {
    }

    /// False with Heap::error() set if it is not a segment.
    [[nodiscard]] bool add(Value segment);
    /// Sorts segments, and blocks with them, by address.
    void finish();

    [[nodiscard]] std::size_t count() const { return m_count; }
    /// What the segments call their kind of device, such as "xpu"; empty where they call it nothing.
    [[nodiscard]] const std::string& deviceType() const { return m_deviceType; }
    /// Any segment has a stream or a type, as all of PyTorch's caching allocators write.
    [[nodiscard]] bool hasStreamsOrTypes() const { return m_hasStreamsOrTypes; }

private:
    [[nodiscard]] bool addBlock(Value block, std::uint64_t computedAddress, FinalBlock& out);
    [[nodiscard]] BlockState unknownState(std::string_view name);
    [[nodiscard]] bool readBlocks(Value blocks, const FinalSegment& segment, std::vector<FinalBlock>& out);
    [[nodiscard]] bool readSize(Value value, const char* key, std::int64_t& bytes);
    [[nodiscard]] bool readSum(Value value, const char* key, std::int64_t& bytes);
    [[nodiscard]] bool readPool(Value owner, Value kind, PoolIndex& index);
    [[nodiscard]] bool wrong(const char* key, Value value, Sentence expected);

    Heap& m_heap;
    std::map<int, DeviceRecording>& m_devices;
    std::size_t m_count = 0;
    std::string m_deviceType;
    bool m_hasStreamsOrTypes = false;
};

} // namespace strata::model
