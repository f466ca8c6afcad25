// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/work_tables.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

namespace strata::model {

namespace {

/// Files may hold times whose sums are none.
void addTo(std::int64_t& sum, std::int64_t ns)
{
    sum = wrapAdd(sum, ns);
}

using ByName = boost::unordered_flat_map<std::uint32_t, std::size_t>;

template <class Row> Row& rowOf(std::vector<Row>& rows, ByName& places, StringId name)
{
    const auto [found, isNew] = places.try_emplace(name.value, rows.size());
    if (isNew)
        rows.emplace_back().name = name;
    return rows[found->second];
}

template <class Row, class Key>
void sortRows(std::vector<Row>& rows, const StringTable& strings, const Key& key)
{
    std::ranges::sort(rows, [&](const Row& a, const Row& b) {
        return key(a) != key(b) ? key(a) > key(b) : strings[a.name] < strings[b.name];
    });
}

/// An operator that has begun.
struct Open {
    const WorkSpan* span;
    std::int64_t childrenNs = 0;
    std::int64_t deviceSelfNs = 0, deviceChildrenNs = 0;
};

/// Time of a device by what launched it: the call, where it is known, else the operator that is named.
struct Launched {
    boost::unordered_flat_map<std::uint32_t, std::int64_t> byCorrelation, byOperator;

    explicit Launched(const Work& work)
    {
        boost::unordered_flat_set<std::uint32_t> calls;
        for (const WorkSpan& span : work.spans)
            if (span.kind == WorkKind::Runtime && span.correlation != 0)
                calls.insert(span.correlation);
        for (const WorkSpan& span : work.spans)
            if (isDeviceWork(span.kind)) {
                if (calls.contains(span.correlation))
                    addTo(byCorrelation[span.correlation], span.durationNs);
                else if (span.external != 0)
                    addTo(byOperator[span.external], span.durationNs);
            }
    }
    /// What an operator or a call is to be charged with: once.
    std::int64_t take(const WorkSpan& span)
    {
        auto& times = span.kind == WorkKind::Operator ? byOperator : byCorrelation;
        const auto found = times.find(span.kind == WorkKind::Operator ? span.external : span.correlation);
        if (found == times.end())
            return 0;
        const std::int64_t ns = found->second;
        times.erase(found);
        return ns;
    }
};

std::vector<OperatorSums> operatorsOf(
    const Work& work, std::span<const std::uint32_t> nested, const std::optional<TimeSpan>& range)
{
    Launched launched(work);
    std::vector<OperatorSums> rows;
    ByName places;
    std::vector<Open> open;
    const auto close = [&] {
        const Open done = open.back();
        open.pop_back();
        OperatorSums& row = rowOf(rows, places, done.span->name);
        ++row.calls;
        addTo(row.totalNs, done.span->durationNs);
        addTo(row.selfNs, std::max<std::int64_t>(wrapSub(done.span->durationNs, done.childrenNs), 0));
        addTo(row.deviceSelfNs, done.deviceSelfNs);
        addTo(row.deviceTotalNs, wrapAdd(done.deviceSelfNs, done.deviceChildrenNs));
        if (!open.empty()) {
            addTo(open.back().childrenNs, done.span->durationNs);
            addTo(open.back().deviceChildrenNs, wrapAdd(done.deviceSelfNs, done.deviceChildrenNs));
        }
    };
    for (const std::uint32_t row : nested) {
        const WorkSpan* const span = &work.spans[row];
        if (range && (span->startNs < range->beginNs || span->startNs >= range->endNs))
            continue;
        while (!open.empty()
            && (open.back().span->lane != span->lane || open.back().span->endNs() <= span->startNs))
            close();
        if (span->kind == WorkKind::Operator)
            open.push_back({ span });
        if (!open.empty())
            addTo(open.back().deviceSelfNs, launched.take(*span));
    }
    while (!open.empty())
        close();
    return rows;
}

} // namespace

WorkTables tablesOf(const Work& work, const StringTable& strings, std::span<const std::uint32_t> nested,
    const std::optional<TimeSpan>& range)
{
    WorkTables tables;
    tables.operators = operatorsOf(work, nested, range);
    ByName kernels, copies, calls;
    for (const WorkSpan& span : work.spans) {
        if (range && (span.startNs < range->beginNs || span.startNs >= range->endNs))
            continue;
        if (span.kind == WorkKind::Kernel || span.kind == WorkKind::Runtime) {
            KernelSums& row = span.kind == WorkKind::Kernel ? rowOf(tables.kernels, kernels, span.name)
                                                            : rowOf(tables.calls, calls, span.name);
            ++row.calls;
            addTo(row.totalNs, span.durationNs);
        } else if (span.kind == WorkKind::Copy || span.kind == WorkKind::Set) {
            CopySums& row = rowOf(tables.copies, copies, span.name);
            const std::int64_t bytes = work.copies[span.detail].bytes;
            row.bytes = row.calls == 0 ? bytes : bytes < 0 || row.bytes < 0 ? -1 : wrapAdd(row.bytes, bytes);
            ++row.calls;
            addTo(row.totalNs, span.durationNs);
        }
    }
    sortRows(tables.operators, strings, [](const OperatorSums& row) { return row.selfNs; });
    sortRows(tables.kernels, strings, [](const KernelSums& row) { return row.totalNs; });
    sortRows(tables.calls, strings, [](const KernelSums& row) { return row.totalNs; });
    sortRows(tables.copies, strings, [](const CopySums& row) { return row.totalNs; });
    return tables;
}

} // namespace strata::model
