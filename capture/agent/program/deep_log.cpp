// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/deep_log.h"

#include <algorithm>
#include <utility>

namespace strata::agent {

namespace {

constexpr std::size_t kMostRows = std::size_t{ 1 }
    << 20; ///< a step of 300,000 operators: what has more is told so
constexpr const char* kTooMany = "the step has too many operators";

std::uint64_t elementsOf(const hook::DeepTensor& tensor)
{
    std::uint64_t elements = tensor.sizes ? 1 : 0;
    for (std::uint32_t i = 0; tensor.sizes && i < tensor.dimensions; ++i)
        elements *= static_cast<std::uint64_t>(tensor.sizes[i]);
    return elements;
}

/// As c10::TensorImpl knows whether they are contiguous.
void tellLayout(const hook::DeepTensor& tensor, wire::DeepRow& row)
{
    if (!tensor.sizes || !tensor.strides)
        return;
    std::uint64_t elements = 1;
    bool isInOrder = true;
    for (std::uint32_t i = tensor.dimensions; i-- > 0;) {
        const std::int64_t size = tensor.sizes[i];
        isInOrder = isInOrder && (size == 1 || static_cast<std::uint64_t>(tensor.strides[i]) == elements);
        elements *= static_cast<std::uint64_t>(size);
    }
    row.elements = elements;
    row.layout = isInOrder || elements == 0 ? wire::DeepLayout::InOrder : wire::DeepLayout::Otherwise;
}

} // namespace

void DeepLog::begin()
{
    const std::lock_guard lock(m_mutex);
    m_step = {};
    m_hasDevice = m_isDone = false;
    m_unusable.clear();
    m_texts.clear();
    m_tensors.clear();
    m_places.clear();
    m_begins.clear();
    for (const auto& device : m_devices)
        m_begins.push_back(device ? device->events.load(std::memory_order_acquire) : 0);
    m_step.chunk.beginEvent = m_begins.empty() ? 0 : m_begins.front();
    m_isOpen.store(true, std::memory_order_release);
}

void DeepLog::end(std::string unusable)
{
    const std::lock_guard lock(m_mutex);
    if (!m_isOpen.exchange(false))
        return;
    if (m_unusable.empty())
        m_unusable = std::move(unusable);
    wire::DeepStepChunk& chunk = m_step.chunk;
    if (!m_unusable.empty()) {
        chunk.tensors.clear();
        chunk.rows.clear();
        chunk.refs.clear();
        chunk.unusable = text(m_unusable);
    }
    const auto device = static_cast<std::size_t>(chunk.device);
    chunk.endEvent
        = device < m_devices.size() ? m_devices[device]->events.load(std::memory_order_acquire) : 0;
    m_isDone = true;
}

std::optional<DeepLog::Step> DeepLog::take()
{
    const std::lock_guard lock(m_mutex);
    if (!std::exchange(m_isDone, false))
        return std::nullopt;
    return std::exchange(m_step, {});
}

/// Under the lock, as the next. nullptr: there is no step, or it is not to be used already.
wire::DeepRow* DeepLog::add(wire::DeepKind kind, std::uint32_t thread)
{
    wire::DeepStepChunk& chunk = m_step.chunk;
    if (!m_isOpen.load(std::memory_order_relaxed) || !m_unusable.empty())
        return nullptr;
    if (chunk.rows.size() >= kMostRows) {
        m_unusable = kTooMany;
        return nullptr;
    }
    wire::DeepRow row;
    row.kind = kind;
    row.thread = thread;
    const auto device = static_cast<std::size_t>(chunk.device);
    if (device < m_devices.size())
        row.event = m_devices[device]->events.load(std::memory_order_acquire);
    return &chunk.rows.emplace_back(row);
}

void DeepLog::addRef(wire::DeepRow& row, std::uint32_t tensor)
{
    if (m_step.chunk.refs.size() >= wire::kMaxRowsAChunk) {
        m_unusable = kTooMany;
        return;
    }
    m_step.chunk.refs.push_back(tensor);
    ++row.tensors;
}

std::uint32_t DeepLog::text(std::string_view text)
{
    if (const auto known = m_texts.find(text); known != m_texts.end())
        return known->second;
    const auto number = static_cast<std::uint32_t>(m_step.texts.size());
    m_step.texts.emplace_back(text);
    m_texts.emplace(std::string(text), number);
    return number;
}

/// Rows before the first tensor count the events of device 0: a step of another one begins with its first.
bool DeepLog::isOfDevice(std::int32_t device)
{
    wire::DeepStepChunk& chunk = m_step.chunk;
    if (!std::exchange(m_hasDevice, true)) {
        chunk.device = device;
        if (device != 0) {
            const auto at = static_cast<std::size_t>(device);
            chunk.beginEvent = at < m_begins.size() ? m_begins[at] : 0;
            for (wire::DeepRow& row : chunk.rows)
                row.event = chunk.beginEvent;
        }
    }
    if (chunk.device == device)
        return true;
    m_unusable = "the step has tensors of several devices";
    return false;
}

std::uint32_t DeepLog::tensorOf(const hook::DeepTensor& seen)
{
    std::vector<wire::DeepTensorRow>& tensors = m_step.chunk.tensors;
    const auto [known, isNew]
        = m_tensors.try_emplace(seen.tensor, static_cast<std::uint32_t>(tensors.size()));
    if (isNew || tensors[known->second].address != seen.address) {
        known->second = static_cast<std::uint32_t>(tensors.size());
        tensors.push_back({ seen.address, text(seen.type), static_cast<std::uint64_t>(seen.offset) });
    }
    std::uint64_t& elements = tensors[known->second].elements;
    elements = std::max(elements, elementsOf(seen)); // set_() and resize_() change the same tensor
    return known->second;
}

std::uint32_t DeepLog::tensorAt(const hook::DeepTensor& seen)
{
    std::vector<wire::DeepTensorRow>& tensors = m_step.chunk.tensors;
    const auto [known, isNew]
        = m_places.try_emplace({ seen.address, seen.type }, static_cast<std::uint32_t>(tensors.size()));
    if (isNew)
        tensors.push_back({ seen.address, text(seen.type) });
    return known->second;
}

void DeepLog::addOperator(const hook::DeepOperator& seen, std::uint32_t thread) noexcept
try {
    if (!isOpen())
        return;
    const std::lock_guard lock(m_mutex);
    for (std::uint32_t i = 0; i < seen.count; ++i)
        if (!isOfDevice(seen.tensors[i].device))
            return;
    wire::DeepRow* const row = add(seen.returns ? wire::DeepKind::Returns : wire::DeepKind::Operator, thread);
    if (!row)
        return;
    if (!seen.returns)
        row->name = text({ seen.name.data, seen.name.bytes });
    for (std::uint32_t i = 0; i < seen.count; ++i)
        addRef(*row, tensorOf(seen.tensors[i]));
} catch (...) {
    fail("no memory was left for it");
}

void DeepLog::addGone(const void* tensor, std::uint32_t thread) noexcept
try {
    if (!isOpen())
        return;
    const std::lock_guard lock(m_mutex);
    const auto known = m_tensors.find(tensor);
    if (known == m_tensors.end())
        return;
    if (wire::DeepRow* const row = add(wire::DeepKind::Gone, thread))
        addRef(*row, known->second);
    m_tensors.erase(known);
} catch (...) {
    fail("no memory was left for it");
}

void DeepLog::addSaved(
    wire::DeepKind kind, std::uint32_t saved, const hook::DeepTensor* tensor, std::uint32_t thread) noexcept
try {
    if (!isOpen())
        return;
    const std::lock_guard lock(m_mutex);
    if (tensor && !isOfDevice(tensor->device))
        return;
    wire::DeepRow* const row = add(kind, thread);
    if (!row)
        return;
    row->saved = saved;
    if (tensor && kind == wire::DeepKind::Saved) {
        tellLayout(*tensor, *row);
        addRef(*row, tensorAt(*tensor));
    } else if (tensor)
        addRef(*row, tensorOf(*tensor));
} catch (...) {
    fail("no memory was left for it");
}

void DeepLog::addModule(wire::DeepKind kind, std::string_view path, std::string_view type,
    std::span<const hook::DeepTensor> tensors, std::uint32_t thread) noexcept
try {
    if (!isOpen())
        return;
    const std::lock_guard lock(m_mutex);
    for (const hook::DeepTensor& tensor : tensors)
        if (!isOfDevice(tensor.device))
            return;
    wire::DeepRow* const row = add(kind, thread);
    if (!row)
        return;
    row->name = text(path);
    row->detail = text(type);
    for (const hook::DeepTensor& tensor : tensors)
        addRef(*row, tensorOf(tensor));
} catch (...) {
    fail("no memory was left for it");
}

void DeepLog::fail(std::string why) noexcept
{
    const std::lock_guard lock(m_mutex);
    if (m_isOpen.load() && m_unusable.empty())
        m_unusable = std::move(why);
}

} // namespace strata::agent
