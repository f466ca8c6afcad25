// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/pickle/event_dict.h"
#include "model/readers/pickle/frame_runs.h"
#include "model/readers/pickle/pickle_machine.h"
#include "model/readers/pickle/rare_opcodes.h"
#include "model/readers/source/byte_stream.h"
#include "model/readers/values/heap.h"
#include "model/readers/values/open_values.h"

#include <cstdint>

namespace strata::model {

/// Runs the data-only opcodes of pickle protocols 0 to 5. Anything that would import or call something is
/// refused by name and offset. Values go to the Heap, which digests frames, stacks and events on the way. No
/// recursion; nothing is allocated for a length or count before the bytes are there. One use, one thread.
class PickleReader {
public:
    /// `memoryLimit`: bytes of values above which reading is refused.
    PickleReader(ByteStream& stream, Heap& heap, std::uint64_t memoryLimit);
    PickleReader(const PickleReader&) = delete; // its parts know each other
    PickleReader& operator=(const PickleReader&) = delete;

    /// What STOP leaves on the stack.
    [[nodiscard]] Result<Value> run();

    /// After a run that failed: what was complete, with open lists and dicts closed.
    [[nodiscard]] Value salvage()
    {
        const GrowArray<Value>& stack = m_machine.stack();
        return closeOpen(m_machine.heap(), { stack.data(), stack.size() }, m_machine.marks());
    }
    [[nodiscard]] std::uint64_t failedAt() const { return m_machine.opcodeAt(); }
    [[nodiscard]] int protocol() const { return m_rare.protocol(); }

private:
    bool runLoop();
    void forgetReplaced();

    PickleMachine m_machine;
    pickle::FrameRuns m_frameRuns;
    RareOpcodes m_rare;
    EventDict m_eventDict;
};

} // namespace strata::model
