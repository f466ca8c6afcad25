// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/session/session.h"
#include "views/models/palette.h"

#include <memory>

namespace strata::views {

/// How far the figures of a session can be trusted, in one line: "totals exact", "totals exact, 2 notes",
/// "3 breaches".
struct Integrity {
    int breaches = 0;
    int notes = 0;
    [[nodiscard]] bool exact() const { return breaches == 0; }
    [[nodiscard]] QString text() const;
};
[[nodiscard]] Integrity integrityOf(const model::Session& session, std::optional<int> device = std::nullopt);

/// A sentence that names a check: "Blocks live in the trace are missing from the segments".
[[nodiscard]] QString checkText(model::Check check);

/// Breaches and notes of one device, or of all, each with its bytes, its likely cause and a link to its
/// event.
class FindingsList : public QWidget {
    Q_OBJECT
public:
    FindingsList(const model::Session& session, std::optional<int> device, const Palette& palette,
        QWidget* parent = nullptr);

Q_SIGNALS:
    void eventChosen(int device, strata::model::EventIndex event);
};

} // namespace strata::views
