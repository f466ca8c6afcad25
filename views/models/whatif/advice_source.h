// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "model/whatif/plan/advice.h"
#include "views/base/background_job.h"
#include "views/models/document/document.h"

#include <memory>
#include <vector>

namespace strata::views {

/// What would lower what the chosen device of a document reserves: model::adviceOn(), the same that
/// `strata summary` prints, off the GUI thread. It looks when it is told to, and only where
/// model::isWorthAdvice() says so. GUI thread only.
class AdviceSource : public QObject {
    Q_OBJECT
public:
    explicit AdviceSource(Document& document, QObject* parent = nullptr);

    void refresh(); ///< begins to look, if what is known of the device is another
    [[nodiscard]] const std::vector<model::Advice>& advice() const { return m_advice; } ///< may come yet
    [[nodiscard]] const BackgroundJob& job() const { return m_job; }

Q_SIGNALS:
    void changed(); ///< advice() is another

private:
    Document& m_document;
    std::vector<model::Advice> m_advice;
    struct Asked {
        std::shared_ptr<const model::ReplayReport> report;
        std::shared_ptr<const model::Categories> categories;
        friend bool operator==(const Asked&, const Asked&) = default;
    };
    Asked m_asked; // of m_advice, or of what is looked for
    BackgroundJob m_job{ Earlier::Stop, BackgroundJob::Thread::Beside };
};

} // namespace strata::views
