// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/document.h"
#include "views/pages/parts/bar_list.h"
#include "views/style/palette.h"

#include <span>

namespace strata::views {

/// The devices of a recording, a row each: name, bar and figures of what it reserved and requested at most,
/// and how many requests failed. The one that is shown is in bold; Enter or a click shows another.
class DeviceList : public BarList {
    Q_OBJECT
public:
    DeviceList(
        std::span<const DeviceBrief> devices, int shown, const Palette& palette, QWidget* parent = nullptr);

Q_SIGNALS:
    void deviceChosen(int device);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void choose(int row);

    std::vector<int> m_devices; // by row
};

} // namespace strata::views
