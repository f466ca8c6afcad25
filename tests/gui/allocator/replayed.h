// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/gui/tables/device_data.h"
#include "views/models/document/replay_data.h"
#include "views/style/type.h"

#include <QApplication>

namespace strata::test {

/// Text as large as the window has it, from which widgets take their measures: before the first widget.
struct WindowFont {
    WindowFont()
    {
        QFont font = QApplication::font();
        font.setPixelSize(views::kBodyPx);
        QApplication::setFont(font);
    }
};

/// What the document would derive from a recording, its replay included.
inline std::shared_ptr<const views::DeviceData> replayedDevice(std::string_view text)
{
    const auto plain = deviceData(text);
    auto data = std::make_shared<views::DeviceData>(*plain);
    views::replayDevice(*plain, views::JobContext(),
        [&](std::shared_ptr<const views::ReplayData> replay) { data->replay = std::move(replay); });
    return data;
}

} // namespace strata::test
