// SPDX-License-Identifier: GPL-3.0-or-later
// A recording of several devices: each is named with its figures and one click away.
#include "tests/gui/shell/shell_test.h"
#include "views/pages/summary/device_list.h"
#include "views/style/texts.h"

using namespace strata;
using namespace strata::views;

namespace {

class Devices : public test::ShellTest {
protected:
    static QString twoDevices() { return QStringLiteral(STRATA_TEST_DATA "/devices/two_devices.pickle.gz"); }
    DeviceList* list()
    {
        for (auto* found : driver().page<Page>("summary").findChildren<DeviceList*>())
            if (found->isVisible())
                return found;
        return nullptr;
    }
};

TEST_F(Devices, AreNamedOnSummaryEachWithItsFiguresOneClickApart)
{
    ASSERT_NO_FATAL_FAILURE(open(twoDevices()));
    for (const int shown : { 0, 1, 0 }) {
        ASSERT_TRUE(test::eventually([&] { return driver().settled() && list(); }));
        ASSERT_EQ(driver().state().device(), shown);
        ASSERT_EQ(list()->rowCount(), 2);
        const std::vector<DeviceBrief> devices = driver().document().devices();
        for (int row = 0; row < 2; ++row) {
            QString all;
            for (int column = 0; column < list()->columnCount(); ++column)
                all += list()->item(row, column)->text() + QLatin1Char(' ');
            const DeviceBrief& device = devices[static_cast<std::size_t>(row)];
            EXPECT_TRUE(all.contains(QStringLiteral("GPU %1").arg(device.device))) << qPrintable(all);
            EXPECT_TRUE(all.contains(text::bytes(device.totals->reservedBytesPeak))) << qPrintable(all);
            EXPECT_TRUE(all.contains(text::bytes(device.totals->requestedBytesPeak))) << qPrintable(all);
            EXPECT_EQ(list()->item(row, 0)->font().bold(), device.device == shown);
        }
        test::WindowDriver::click(
            *list()->viewport(), list()->visualItemRect(list()->item(1 - shown, 0)).center());
        ASSERT_TRUE(test::eventually([&] { return driver().state().device() == 1 - shown; }));
    }
    window().actions().undo->trigger();
    EXPECT_EQ(driver().state().device(), 0) << "a change of device is undone like any other";
}

TEST_F(Devices, AnOnlyOneNeedsNoRow)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    EXPECT_FALSE(list());
}

} // namespace
