// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include "model/cards/catalogue.h"
#include "model/whatif/answer/predict.h"
#include "views/models/document/device_data.h"

#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

/// A recording that a what-if goes by, on one device, with what analyses tell of it. Immutable; any thread.
struct WhatIfRun {
    std::shared_ptr<const model::Session> session; ///< keeps the trace alive
    const model::DeviceTrace* trace = nullptr;
    std::shared_ptr<const model::ReplayReport> report;
    std::shared_ptr<const model::TrainingSteps> steps; ///< nullptr: not looked for yet
    std::shared_ptr<const model::Categories> categories; ///< likewise
    std::optional<std::int64_t> toldItems; ///< of its batch, as shapes of operators tell
    std::optional<model::AddressPolicy> order; ///< model::addressOrderOf(); none: not looked for yet
    std::optional<model::PeakFigures> peaks; ///< model::recordedPeaks(); none: not looked for yet
    std::optional<model::NeededBytes> need; ///< model::needAsRecorded(); none: not looked for yet

    /// What `device` knows of itself; toldItems, order, peaks and need are left to tell().
    [[nodiscard]] static WhatIfRun of(const DeviceData& device);
    /// What is in a file of the same device. Refused, with what to do: what cannot be read or replayed, what
    /// has nothing of that device. Any thread; as slow as opening the file and looking for its steps.
    [[nodiscard]] static model::Result<std::shared_ptr<const WhatIfRun>> read(
        const QString& path, int device, const model::Progress& progress = {});

    /// Looks for those four, once the rest is there. Returns early where it is cancelled.
    void tell(const model::Progress& progress = {});

    /// With so many items in its batch, and sequences so long; none: nobody knows.
    [[nodiscard]] model::RecordedRun recorded(
        std::optional<std::int64_t> items, std::optional<std::int64_t> length = {}) const;
    /// That it was recorded on, by the name that its driver gives it, else by its memory; nullptr: it is not
    /// in the catalogue, or nobody knows.
    [[nodiscard]] const model::Card* card() const;
};

/// The one card of the catalogue that has so much memory; nullptr: there is none, or more than one.
[[nodiscard]] const model::Card* cardWith(std::int64_t capacityBytes);

/// A recording with how many items its batch has, and how long its sequences are, if anybody knows.
struct WhatIfRecording {
    QString path;
    WhatIfRun run;
    std::optional<std::int64_t> items, length;

    [[nodiscard]] model::RecordedRun recorded() const { return run.recorded(items, length); }
};

/// What `strata whatif` is asked: the first recording is the one that is shown.
struct WhatIfQuestion {
    std::vector<WhatIfRecording> recordings;
    bool itemsSaid = false; ///< of some recording by the user, not by shapes
    model::Scenario scenario;
    QString plan = {}; ///< what `--plan` is given, beside the scenario; empty: nobody plans

    [[nodiscard]] std::vector<model::RecordedRun> runs() const; ///< of its recordings, which keep them alive
    /// The answer of model::predict(). Any thread.
    [[nodiscard]] model::Result<model::Prediction> answer(const model::Progress& progress = {}) const;
    /// The command that gives the same answer, quoted for a shell.
    [[nodiscard]] QString commandLine() const;
    [[nodiscard]] QStringList words() const; ///< the same, word by word, without "strata"
    [[nodiscard]] QString key() const; ///< the same for questions that have the same answer
    [[nodiscard]] bool saysLengths() const; ///< of sequences, of each recording
};

/// The card whose kernels the answer has: that of the first recording; nullptr: not known.
[[nodiscard]] const model::Card* recordedCardOf(const WhatIfQuestion& question);

} // namespace strata::views
