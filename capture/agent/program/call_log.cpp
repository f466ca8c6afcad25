// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/call_log.h"

#include "capture/agent/program/call_states.h"

#include <algorithm>
#include <utility>

namespace strata::agent {

namespace {

constexpr std::size_t kMostRows = std::size_t{ 1 } << 18;
constexpr std::size_t kMostTextBytes = std::size_t{ 1 } << 24; // of one step; what has more is told so
constexpr const char* kTooMany = "the step calls too many operators";
constexpr const char* kNoMemory = "no memory was left for it";
constexpr std::string_view kOurs = "aten::"; // the operators that every PyTorch has
constexpr std::string_view kOwnNode = "CppNode<"; // of a function of autograd that was written in C++

} // namespace

void CallLog::begin()
{
    const std::lock_guard lock(m_mutex);
    m_list = {};
    m_hasDevice = m_isDone = m_isBackward = false;
    m_refs.clear();
    m_running.reset();
    m_textBytes = 0;
    m_unusable.clear();
    m_texts.clear();
    m_tensors.clear();
    m_gradients.clear();
    m_begins.clear();
    for (const auto& device : m_devices)
        m_begins.push_back(device ? device->events.load(std::memory_order_acquire) : 0);
    m_list.chunk.beginEvent = m_begins.empty() ? 0 : m_begins.front();
    m_isOpen.store(true, std::memory_order_release);
}

void CallLog::end(const std::string& unusable)
{
    const std::lock_guard lock(m_mutex);
    if (!m_isOpen.exchange(false))
        return;
    if (!unusable.empty())
        m_unusable = unusable;
    wire::CallListChunk& chunk = m_list.chunk;
    if (!m_unusable.empty()) {
        const std::string why = m_unusable;
        chunk.tensors.clear();
        chunk.lengths.clear();
        chunk.rows.clear();
        chunk.refs.clear();
        m_list.texts.clear();
        m_refs.clear();
        m_texts.clear();
        chunk.unusable = text(why);
    }
    for (const std::vector<std::uint32_t>& refs : m_refs)
        chunk.refs.insert(chunk.refs.end(), refs.begin(), refs.end());
    const auto device = static_cast<std::size_t>(chunk.device);
    chunk.endEvent
        = device < m_devices.size() ? m_devices[device]->events.load(std::memory_order_acquire) : 0;
    m_isDone = true;
}

std::optional<CallLog::List> CallLog::take()
{
    const std::lock_guard lock(m_mutex);
    if (!std::exchange(m_isDone, false))
        return std::nullopt;
    return std::exchange(m_list, {});
}

/// Under the lock, as the next.
bool CallLog::isListed() const
{
    return m_isOpen.load(std::memory_order_relaxed) && m_unusable.empty();
}

wire::CallRow* CallLog::addRow(wire::CallKind kind)
{
    wire::CallListChunk& chunk = m_list.chunk;
    if (chunk.rows.size() >= kMostRows) {
        m_unusable = kTooMany;
        return nullptr;
    }
    wire::CallRow row;
    row.kind = kind;
    const auto device = static_cast<std::size_t>(chunk.device);
    if (device < m_devices.size())
        row.event = m_devices[device]->events.load(std::memory_order_acquire);
    m_refs.emplace_back();
    return &chunk.rows.emplace_back(row);
}

std::uint32_t CallLog::text(std::string_view text)
{
    if (const auto known = m_texts.find(text); known != m_texts.end())
        return known->second;
    const auto number = static_cast<std::uint32_t>(m_list.texts.size());
    m_list.texts.emplace_back(text);
    m_textBytes += text.size();
    m_texts.emplace(std::string(text), number);
    return number;
}

std::uint32_t CallLog::newNumber(const hook::DeepTensor& seen)
{
    wire::CallListChunk& chunk = m_list.chunk;
    if (!std::exchange(m_hasDevice, true)) {
        chunk.device = seen.device;
        const auto at = static_cast<std::size_t>(seen.device);
        chunk.beginEvent = at < m_begins.size() ? m_begins[at] : 0;
        for (wire::CallRow& row : chunk.rows)
            row.event = chunk.beginEvent;
        if (at < m_devices.size() && !chunk.rows.empty())
            chunk.rows.back().event = m_devices[at]->events.load(std::memory_order_acquire);
    }
    if (chunk.device != seen.device)
        m_unusable = "the step has tensors of several devices";
    if (seen.sizes == nullptr)
        m_unusable = "the step has tensors without sizes, as nested and sparse ones";
    if (*seen.type == 0)
        m_unusable = "the step has tensors of a type that Strata does not know";
    wire::CallTensorRow row;
    row.address = seen.address;
    row.type = text(seen.type);
    row.offset = seen.offset;
    row.dimensions = seen.sizes ? seen.dimensions : 0;
    chunk.lengths.insert(chunk.lengths.end(), seen.sizes, seen.sizes + row.dimensions);
    chunk.lengths.insert(chunk.lengths.end(), seen.strides, seen.strides + row.dimensions);
    if (const auto whose = m_gradients.find(seen.tensor); whose != m_gradients.end())
        row.gradientOf = whose->second;
    const auto number = static_cast<std::uint32_t>(chunk.tensors.size());
    chunk.tensors.push_back(row);
    m_tensors[seen.tensor] = number;
    return number;
}

/// One whose memory is another than it was is another.
std::uint32_t CallLog::numberOf(const hook::DeepTensor& seen)
{
    const auto known = m_tensors.find(seen.tensor);
    const std::uint32_t number
        = known != m_tensors.end() && m_list.chunk.tensors[known->second].address == seen.address
        ? known->second
        : newNumber(seen);
    if (seen.gradient != nullptr)
        m_gradients[seen.gradient] = number;
    return number;
}

void CallLog::addRef(std::size_t row, const hook::DeepTensor& seen)
{
    m_refs[row].push_back(2 * numberOf(seen) + (seen.requiresGrad ? 1 : 0));
}

/// Behind each row: whether there is room for more.
void CallLog::check()
{
    if (m_textBytes > kMostTextBytes || m_list.chunk.lengths.size() > wire::kMaxRowsAChunk / 2)
        m_unusable = kTooMany;
}

/// What an operator calls beneath, and what autograd calls, was told as another's.
void CallLog::addOperator(const hook::DeepOperator& seen) noexcept
try {
    const std::string_view name(seen.name.data, seen.name.bytes);
    const bool isOwnNode = !seen.returns && !name.starts_with(kOurs) && name.find(kOwnNode) != name.npos;
    if ((!seen.isCall && !isOwnNode) || !m_isOpen.load(std::memory_order_acquire))
        return;
    const std::lock_guard lock(m_mutex);
    if (isListed() && isOwnNode) {
        const std::string_view own = name.substr(name.find(kOwnNode) + kOwnNode.size());
        m_unusable = "the program has a function of its own for autograd, "
            + std::string(own.substr(0, own.rfind('>')));
    }
    if (!isListed() || m_isBackward)
        return;
    std::vector<wire::CallRow>& rows = m_list.chunk.rows;
    if (seen.returns) {
        if (!m_running)
            return;
        wire::CallRow& row = rows[*m_running];
        for (std::uint32_t i = 0; i < seen.count; ++i)
            addRef(*m_running, seen.tensors[i]);
        row.returns = seen.count;
        // What has no tensor on a GPU is none of the device's.
        if (row.takes == 0 && row.returns == 0 && *m_running + 1 == rows.size()) {
            rows.pop_back();
            m_refs.pop_back();
        }
        m_running.reset();
        check();
        return;
    }
    m_running.reset();
    const hook::DeepCall& call = *seen.call;
    if (!name.starts_with(kOurs)) {
        m_unusable = name.find("::") == name.npos
            ? "the program has a function of its own for autograd, " + std::string(name)
            : "the program calls " + std::string(name) + ", which is none of the operators of aten";
        return;
    }
    if (call.overload.bytes == 0) {
        m_unusable = "this LibTorch does not tell which overloads run";
        return;
    }
    const std::string_view overload(call.overload.data, call.overload.bytes);
    if (call.arguments.bytes == 0) {
        m_unusable = "arguments of " + std::string(overload) + " cannot be recorded";
        return;
    }
    wire::CallRow* const row = addRow(wire::CallKind::Call);
    if (!row)
        return;
    row->gradients = call.gradients;
    row->name = text(overload);
    row->detail = text({ call.arguments.data, call.arguments.bytes });
    row->takes = seen.count;
    m_running = rows.size() - 1;
    for (std::uint32_t i = 0; i < seen.count; ++i)
        addRef(*m_running, seen.tensors[i]);
} catch (...) {
    fail(kNoMemory);
}

void CallLog::addGone(const void* tensor) noexcept
try {
    if (!m_isOpen.load(std::memory_order_acquire))
        return;
    const std::lock_guard lock(m_mutex);
    m_gradients.erase(tensor);
    const auto known = m_tensors.find(tensor);
    if (!isListed() || known == m_tensors.end())
        return;
    if (wire::CallRow* const row = addRow(wire::CallKind::Gone)) {
        row->takes = 1;
        m_refs.back().push_back(2 * known->second);
    }
    m_tensors.erase(known);
} catch (...) {
    fail(kNoMemory);
}

void CallLog::add(wire::CallKind kind, std::string_view name, std::string_view detail,
    std::span<const hook::DeepTensor> tensors) noexcept
try {
    if (!m_isOpen.load(std::memory_order_acquire))
        return;
    const std::lock_guard lock(m_mutex);
    if (kind == wire::CallKind::BackwardEnds)
        m_isBackward = false;
    // A checkpoint runs modules again within backward.
    wire::CallRow* const row = isListed() && !m_isBackward ? addRow(kind) : nullptr;
    if (!row)
        return;
    if (kind == wire::CallKind::Backward)
        m_isBackward = true;
    row->name = name.empty() ? wire::kNone : text(name);
    row->detail = detail.empty() ? wire::kNone : text(detail);
    (kind == wire::CallKind::BackwardEnds ? row->returns : row->takes)
        = static_cast<std::uint32_t>(tensors.size());
    const std::size_t at = m_list.chunk.rows.size() - 1;
    for (const hook::DeepTensor& tensor : tensors)
        addRef(at, tensor);
    check();
} catch (...) {
    fail(kNoMemory);
}

void CallLog::addStates() noexcept
try {
    if (!m_isOpen.load(std::memory_order_acquire))
        return;
    const std::lock_guard lock(m_mutex);
    if (!isListed() || m_isBackward)
        return;
    std::vector<std::uint32_t> states = findStates(m_list.chunk, m_list.texts, m_refs);
    wire::CallRow* const row = states.empty() ? nullptr : addRow(wire::CallKind::Known);
    if (!row)
        return;
    row->name = text("state");
    row->takes = static_cast<std::uint32_t>(states.size());
    m_refs.back() = std::move(states);
} catch (...) {
    fail(kNoMemory);
}

void CallLog::fail(std::string why) noexcept
{
    const std::lock_guard lock(m_mutex);
    if (m_isOpen.load() && m_unusable.empty())
        m_unusable = std::move(why);
}

} // namespace strata::agent
