// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include "model/analysis/training/roles/categories.h"
#include "views/base/background_job.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace strata::views {

class Document;
struct DeviceData;
struct TrainingData;

/// Looks for steps, categories and leaks of a document's devices, each once all of it is indexed and while it
/// is selected; knows the categories of the user's own. Tells by Document::progressChanged() how far it is. A
/// child of the document. GUI thread only.
class DocumentTraining : public QObject {
public:
    /// `of`: the device that was looked at, as it was then.
    using Publish = std::function<void(const DeviceData& of, std::shared_ptr<const TrainingData> training)>;

    DocumentTraining(Document& document, Publish publish);

    void analyseSelected(); ///< unless nothing is news, or its turn has not come
    void endFollowing(); ///< there is no newer generation to wait for
    void clear(); ///< there is another recording

    // Of the selected device.
    [[nodiscard]] bool running() const; ///< or will be in a moment
    [[nodiscard]] model::ProgressReport progress() const;
    void cancel(); ///< what is published stays
    void again(); ///< where it was cancelled, or ran out of memory

    /// Categories of the user's own, for all devices; nullptr: none.
    [[nodiscard]] const std::shared_ptr<const model::CategoryRules>& rules() const { return m_rules; }
    [[nodiscard]] model::Result<void> tryRules(const std::string& json);
    void useKeptRules();
    void keptRulesChanged(); ///< or something else of ViewState::user()
    [[nodiscard]] const model::Error& refusal() const { return m_refusal; } ///< of the kept ones

private:
    void setRules(std::shared_ptr<const model::CategoryRules> rules);
    void ranOut(int device, const model::Error& error);
    void rest(int device);

    Document& m_document;
    const Publish m_publish;
    std::map<int, std::unique_ptr<BackgroundJob>> m_jobs; // of a device, at work or done
    std::set<int> m_resting; // devices that wait until it is asked for again
    QTimer m_pace; // until a session that grows may be looked at again
    std::shared_ptr<const model::CategoryRules> m_rules; // or nullptr
    std::string m_keptRules; // as they stand in ViewState::user()
    std::string m_triedRules; // the text of m_rules
    model::Error m_refusal;
};

} // namespace strata::views
