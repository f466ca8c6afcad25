// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"
#include "views/models/document/document.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

namespace strata::test {

/// What the document would derive from a session, without its threads.
inline std::shared_ptr<const views::DeviceData> deviceData(std::shared_ptr<const model::Session> session)
{
    auto data = std::make_shared<views::DeviceData>();
    data->session = std::move(session);
    data->trace = &data->session->devices().front();
    data->timeline = std::make_shared<const model::DeviceTimeline>(*data->trace);
    data->byLine = std::make_shared<const model::GroupTable>(*data->trace, model::Grouping::Line);
    data->summary
        = std::make_shared<const model::DeviceSummary>(model::summarize(*data->timeline, *data->byLine));
    for (std::uint32_t group = 0; group < data->byLine->count(); ++group)
        data->lineRank.push_back(static_cast<int>(group));
    return data;
}

inline std::shared_ptr<const views::DeviceData> deviceData(std::unique_ptr<model::Recording> recording)
{
    auto session = model::Session::fromRecording(std::move(recording));
    EXPECT_TRUE(session.has_value());
    return deviceData(*session);
}

inline std::shared_ptr<const views::DeviceData> deviceData(std::string_view text)
{
    return deviceData(makeRecording(text));
}

} // namespace strata::test
