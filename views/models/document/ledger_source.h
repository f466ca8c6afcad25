// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "model/analysis/training/ledger/ledger.h"
#include "model/analysis/training/ledger/module_ledger.h"
#include "views/base/background_job.h"
#include "views/models/document/document.h"

#include <memory>
#include <vector>

namespace strata::views {

/// What the memory of a device is for at one instant: the same that `strata ledger` prints. Immutable once
/// made; any thread.
struct LedgerData {
    std::shared_ptr<const TrainingData> training; ///< keeps the trace alive
    std::shared_ptr<const model::ReplayReport> report; ///< that it was made with; or nullptr
    model::Ledger ledger;
    std::vector<model::ModuleRow> modules;
    /// Short-lived memory without which the peak would be lower; at the peak alone.
    std::vector<model::Spike> spikes;
    std::vector<model::UnusedLine> unused; ///< likewise

    [[nodiscard]] const model::DeviceTrace& trace() const { return *training->trace; }
    /// A category of any block is known; one was recorded.
    [[nodiscard]] bool anyKnown() const;
    [[nodiscard]] bool anyRecorded() const;
    [[nodiscard]] const model::LedgerRow* find(model::Category category) const; ///< nullptr: no such row
};

/// `training` with categories. O(blocks).
[[nodiscard]] std::shared_ptr<const LedgerData> ledgerData(std::shared_ptr<const TrainingData> training,
    std::shared_ptr<const model::ReplayReport> report, model::EventIndex event);

/// Works out the ledger of a document's chosen device at the instant that is shown, off the GUI thread; what
/// there is stays until the newer one is there. It works when it is told to: whoever is out of sight need not
/// ask. GUI thread only.
class LedgerSource : public QObject {
    Q_OBJECT
public:
    explicit LedgerSource(Document& document, QObject* parent = nullptr);

    void refresh(); ///< begins what is to be worked out anew, if anything is
    [[nodiscard]] const std::shared_ptr<const LedgerData>& data() const { return m_data; } ///< or nullptr
    /// Why there is no data() and none is to come: memory ran out. Empty where it comes yet.
    [[nodiscard]] model::Error refusal() const;
    [[nodiscard]] const BackgroundJob& job() const { return m_job; }
    [[nodiscard]] bool byModule() const { return m_byModule; }
    void setByModule(bool byModule);

Q_SIGNALS:
    void changed(); ///< data() or byModule() is another

private:
    Document& m_document;
    std::shared_ptr<const LedgerData> m_data;
    struct Asked {
        std::shared_ptr<const model::Categories> categories;
        std::shared_ptr<const std::vector<model::Spike>> spikes;
        std::shared_ptr<const model::ReplayReport> report;
        model::EventIndex event = -1;
        friend bool operator==(const Asked&, const Asked&) = default;
    };
    Asked m_asked; // of m_data, or of what is worked out
    std::shared_ptr<const void> m_source; // of the device that it is of
    int m_device = 0;
    bool m_byModule = false;
    BackgroundJob m_job;
};

} // namespace strata::views
