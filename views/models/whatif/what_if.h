// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include "model/whatif/plan/alternatives.h"
#include "views/base/background_job.h"
#include "views/models/whatif/what_if_question.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

/// A question and what became of it. Immutable.
struct WhatIfAnswer {
    WhatIfQuestion question;
    model::PeakFigures recorded;
    model::Result<model::Prediction> prediction;

    [[nodiscard]] bool isFirstLook() const { return question.scenario.firstLook; } ///< the whole one follows
};

/// A single change and what it comes to: a row of the table of alternatives.
struct WhatIfAlternative : model::AnsweredAlternative {
    model::Scenario all; ///< with what else is asked
};

/// What the device of a document would come to if something were another: predicts off the GUI thread, keeps
/// what was answered, and tries the changes that need nothing from anybody, on top of what is asked.
///
///     setScenario()  x1.5   x1.6 x1.7  x1.8        as a slider moves
///                    |                 |
///                    predicts x1.5     predicts x1.8    an answer that is quick comes to its end, so that
///                                                       the picture follows; a slow one gives way
///
/// Where answers take long, what is likeliest is told first (isFirstLook()), and its bounds a while later.
///
/// GUI thread only.
class WhatIf : public QObject {
    Q_OBJECT
public:
    /// A further recording of the program, with a batch of its own, or with sequences of another length.
    struct Other {
        QString path;
        std::optional<std::int64_t> saidItems; ///< by the user
        std::optional<std::int64_t> saidLength; ///< of its sequences, likewise
        std::shared_ptr<const WhatIfRun> run; ///< nullptr while it is read, or where it was refused
        std::optional<model::Error> refusal;

        [[nodiscard]] std::optional<std::int64_t> items() const
        {
            return saidItems ? saidItems : run ? run->toldItems : std::nullopt;
        }
    };
    /// What can be answered of the device as far as it is known.
    enum class Ready : std::uint8_t {
        Nothing, ///< there is no report of its replay
        Settings, ///< of the allocator, and another card: steps are still looked for
        All,
    };

    explicit WhatIf(QObject* parent = nullptr);

    /// `path`: of the recording, for commands, which have it absolute. What was answered of another trace is
    /// dropped; nullptr: none.
    void setDevice(std::shared_ptr<const DeviceData> device, const QString& path);
    [[nodiscard]] const std::shared_ptr<const DeviceData>& device() const { return m_device; }
    [[nodiscard]] Ready ready() const;

    void setScenario(model::Scenario scenario);
    [[nodiscard]] const model::Scenario& scenario() const { return m_scenario; }
    void setSaidItems(std::optional<std::int64_t> items); ///< of the recording that is shown, by the user
    [[nodiscard]] std::optional<std::int64_t> saidItems() const { return m_saidItems; }
    [[nodiscard]] std::optional<std::int64_t> toldItems() const { return m_toldItems; } ///< by shapes
    [[nodiscard]] std::optional<std::int64_t> items() const
    {
        return m_saidItems ? m_saidItems : m_toldItems;
    }
    /// How long sequences are of the recording that is shown, by the user: nothing else tells it.
    void setSaidLength(std::optional<std::int64_t> length);
    [[nodiscard]] std::optional<std::int64_t> saidLength() const { return m_saidLength; }

    void addOther(const QString& relative); ///< or absolute
    void removeOther(std::size_t place);
    void setOtherItems(std::size_t place, std::optional<std::int64_t> items);
    void setOtherLength(std::size_t place, std::optional<std::int64_t> length);
    void useOthers(bool use); ///< false: they are left aside
    [[nodiscard]] const std::vector<Other>& others() const { return m_others; }
    /// It tells of what is asked: one with sequences of another length tells of no other change.
    [[nodiscard]] bool takesPart(const Other& other) const { return takesPart(other, m_scenario); }
    [[nodiscard]] bool asksSequence() const; ///< of another length, rather than what else others tell

    /// The last one that came; while another is worked out it is that of an earlier question. nullptr: none.
    [[nodiscard]] const std::shared_ptr<const WhatIfAnswer>& answer() const { return m_answer; }
    [[nodiscard]] bool working() const; ///< a newer answer comes
    [[nodiscard]] bool reading() const { return m_reading.running(); } ///< a further recording
    /// Of model::alternativesOnTop(), as they come; more may come while trying().
    [[nodiscard]] const std::vector<WhatIfAlternative>& alternatives() const { return m_alternatives; }
    /// What they are on top of: the last question that was answered to the end, as answer() tells. nullptr:
    /// of the recording itself, where nothing is asked, or where that has no answer.
    [[nodiscard]] const std::shared_ptr<const WhatIfAnswer>& alternativesOn() const { return m_triedOn; }
    [[nodiscard]] bool trying() const { return m_trying.running(); }
    /// The question as it stands now; none where ready() says Nothing.
    [[nodiscard]] std::optional<WhatIfQuestion> question() const;
    /// The same with all that is known, for a plan beside its changes; none where steps are looked for yet.
    [[nodiscard]] std::optional<WhatIfQuestion> planQuestion() const;

    [[nodiscard]] BackgroundJob& predicting() { return m_predicting; }
    [[nodiscard]] BackgroundJob& readingJob() { return m_reading; }
    [[nodiscard]] BackgroundJob& tryingJob() { return m_trying; }

Q_SIGNALS:
    void answerChanged(); ///< answer() is another
    void workingChanged(); ///< so may working(), reading(), trying(), ready()
    void alternativesChanged();
    void othersChanged();
    void itemsChanged(); ///< items() says something else, or saidLength()

private:
    void ask();
    void take(const QString& key, std::shared_ptr<const WhatIfAnswer> answer);
    void takeLook(const QString& key, std::shared_ptr<const WhatIfAnswer> look);
    void keep(const QString& key, const std::shared_ptr<const WhatIfAnswer>& answer);
    void tellItems();
    void readNext();
    void tryAlternatives();
    [[nodiscard]] WhatIfQuestion questionOf(const model::Scenario& scenario, bool plans = false) const;
    [[nodiscard]] bool waits(const WhatIfQuestion& question) const;
    [[nodiscard]] bool takesPart(const Other& other, const model::Scenario& scenario) const;
    void sizesWereSaid();
    void sayOther(
        std::size_t place, std::optional<std::int64_t> Other::*said, std::optional<std::int64_t> number);

    std::shared_ptr<const DeviceData> m_device;
    QString m_path;
    WhatIfRun m_run; // of m_device
    bool m_itemsAsked = false; // of shapes, with this trace
    bool m_itemsTold = false; // they have answered
    std::optional<std::int64_t> m_saidItems, m_toldItems, m_saidLength;
    model::Scenario m_scenario;
    std::vector<Other> m_others;
    bool m_usesOthers = true;
    std::shared_ptr<const WhatIfAnswer> m_answer;
    QString m_answered; // the command line of it
    QString m_asked; // that is worked out; empty: none
    QElapsedTimer m_since; // it was begun
    bool m_isSlow = false; // the last whole answer took long
    bool m_hasLooked = false; // the first look of what runs is shown
    std::map<QString, std::shared_ptr<const WhatIfAnswer>> m_kept; // by command lines
    std::size_t m_keptBytes = 0; // of runs
    std::vector<WhatIfAlternative> m_alternatives;
    std::shared_ptr<const WhatIfAnswer> m_triedOn; // what they are on top of
    QString m_tried; // what m_alternatives are of; empty: not of all
    std::optional<std::vector<model::Scenario>> m_singles; // of m_run with items(); none: not looked for yet
    BackgroundJob m_predicting{ Earlier::Finish, BackgroundJob::Thread::Beside };
    BackgroundJob m_telling{ Earlier::Stop, BackgroundJob::Thread::Beside };
    BackgroundJob m_reading{ Earlier::Stop, BackgroundJob::Thread::Beside };
    BackgroundJob m_trying{ Earlier::Stop, BackgroundJob::Thread::Beside };
};

} // namespace strata::views
