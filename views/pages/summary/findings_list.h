// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document/document.h"
#include "views/style/palette.h"

#include <span>
#include <vector>

class QGridLayout;

namespace strata::views {

/// How far the figures of a session can be trusted, in one line: "totals exact", "totals exact, 2 notes",
/// "3 breaches".
struct Integrity {
    int breaches = 0;
    int notes = 0;
    [[nodiscard]] bool exact() const { return breaches == 0; }
    [[nodiscard]] QString text() const;
};
[[nodiscard]] Integrity integrityOf(std::span<const DeviceBrief> devices);

/// Breaches and notes of devices, each with its bytes, its likely cause and a link to its event. Three or
/// more of one check on a device are one row with their sum and the first of their events, and a list on
/// click.
class FindingsList : public QWidget {
    Q_OBJECT
public:
    FindingsList(std::span<const DeviceBrief> devices, const Palette& palette, QWidget* parent = nullptr);

Q_SIGNALS:
    void eventChosen(int device, strata::model::EventIndex event);

private:
    struct Row {
        int device;
        bool hasEvents;
        const model::Finding* finding;
    };
    void addRow(QGridLayout& grid, std::span<const Row> alike, bool nameDevice, const Palette& palette);
    [[nodiscard]] QWidget* listOf(const Row& of, std::span<const model::Finding> alike);
    void addLink(QGridLayout& grid, int line, int column, const Row& of, const model::Finding& finding);
};

} // namespace strata::views
