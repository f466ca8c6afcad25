// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/wire/info.h"

#include <gtest/gtest.h>

namespace strata::wire {

TEST(Info, KeysOfADeviceComeBack)
{
    for (const std::int32_t device : { 0, 7, 12, -1 }) {
        const std::string key = deviceKey(info::kDevice, device, info::kDeviceCapacity);
        const auto found = deviceKeyOf(key, info::kDevice);
        ASSERT_TRUE(found) << key;
        EXPECT_EQ(found->device, device);
        EXPECT_EQ(found->field, info::kDeviceCapacity);
    }
    EXPECT_EQ(deviceKey(info::kDevice, 3, info::kDeviceName), "device.3.name");
    EXPECT_EQ(deviceKey(info::kCut, 0, info::kCutBefore), "cut.0.before");
}

TEST(Info, OtherKeysAreOfNoDevice)
{
    for (const char* key : { "", "device", "device.", "device.x.name", "device.1", "device.99999999999.name",
             "cut.1.before", "device..name" })
        EXPECT_FALSE(deviceKeyOf(key, info::kDevice)) << key;
    EXPECT_EQ(deviceKeyOf("device.1.", info::kDevice)->field, "");
    EXPECT_EQ(deviceKeyOf("device.1.a.b", info::kDevice)->field, "a.b");
}

} // namespace strata::wire
