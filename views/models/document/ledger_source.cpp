// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/ledger_source.h"

#include "model/digest/out_of_memory.h"
#include "views/models/document/shown_instant.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace strata::views {

bool LedgerData::anyKnown() const
{
    return std::ranges::any_of(ledger.rows, [](const model::LedgerRow& row) {
        return row.category != model::Category::Unknown && row.bytes > 0;
    });
}

bool LedgerData::anyRecorded() const
{
    return std::ranges::any_of(
        ledger.rows, [](const model::LedgerRow& row) { return row.recordedBytes() > 0; });
}

const model::LedgerRow* LedgerData::find(model::Category category) const
{
    const auto found = std::ranges::find(ledger.rows, category, &model::LedgerRow::category);
    return found == ledger.rows.end() ? nullptr : &*found;
}

std::shared_ptr<const LedgerData> ledgerData(std::shared_ptr<const TrainingData> training,
    std::shared_ptr<const model::ReplayReport> report, model::EventIndex event)
{
    const model::DeviceTrace& trace = *training->trace;
    const model::Totals& totals = trace.totals();
    const std::vector<model::BlockId> active = model::activeBlocks(trace, event);
    auto data = std::make_shared<LedgerData>();
    data->ledger
        = model::ledgerAt(trace, *training->categories, event, active, report.get(), training->steps.get());
    data->modules = model::moduleLedger(trace, *training->categories, active);
    if (training->spikes && event == totals.requestedPeakEvent)
        std::ranges::copy_if(*training->spikes, std::back_inserter(data->spikes),
            [&](const model::Spike& spike) { return spike.peakWithoutBytes < totals.requestedBytesPeak; });
    if (event == totals.requestedPeakEvent)
        data->unused = training->unused;
    data->training = std::move(training);
    data->report = std::move(report);
    return data;
}

LedgerSource::LedgerSource(Document& document, QObject* parent)
    : QObject(parent)
    , m_document(document)
{
}

void LedgerSource::refresh()
{
    const auto device = m_document.device();
    const auto training = device ? device->training : nullptr;
    const bool isSame = device && device->source == m_source && device->trace->device() == m_device;
    if (!isSame && m_asked != Asked()) {
        m_job.cancel();
        m_asked = {};
        m_data.reset();
        Q_EMIT changed();
    }
    if (!training || !training->categories)
        return;
    Asked asked{ training->categories, training->spikes, device->replay ? device->replay->report : nullptr,
        shownInstant(*device, m_document.viewState().selection()) };
    if (asked.event >= training->trace->eventCount()) // of a session that grows: they do not know it yet
        asked.event = training->trace->totals().requestedPeakEvent;
    if (!training->isOf(*device))
        asked.report.reset();
    if (asked == m_asked)
        return;
    m_asked = asked;
    m_source = device->source;
    m_device = device->trace->device();
    m_job.start(
        [training, asked](const JobContext&) { return ledgerData(training, asked.report, asked.event); },
        [this](std::shared_ptr<const LedgerData> data) {
            m_data = std::move(data);
            Q_EMIT changed();
        });
}

model::Error LedgerSource::refusal() const
{
    const auto device = m_document.device();
    return device && device->training && !device->training->categories ? device->training->refusal
                                                                       : model::Error();
}

void LedgerSource::setByModule(bool byModule)
{
    if (std::exchange(m_byModule, byModule) != byModule)
        Q_EMIT changed();
}

} // namespace strata::views
