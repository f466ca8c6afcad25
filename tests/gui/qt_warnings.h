// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

namespace strata::test {

/// Turns what Qt warns about into a failure of the test that runs; item models under QAbstractItemModelTester
/// and misused widgets speak up this way. For qInstallMessageHandler().
inline void failOnWarning(QtMsgType type, const QMessageLogContext& context, const QString& message)
{
    if (type == QtDebugMsg || type == QtInfoMsg) {
        std::fprintf(stderr, "%s\n", qPrintable(message));
        return;
    }
    // What the platform plugin says of its machine is no fault of ours.
    if (message.contains(QLatin1String("This plugin does not support"))
        || message.contains(QLatin1String("XDG_RUNTIME_DIR")))
        return;
    if (context.category && std::strncmp(context.category, "qt.qpa", 6) == 0) {
        std::fprintf(stderr, "%s\n", qPrintable(message));
        return;
    }
    ADD_FAILURE() << "Qt: " << qPrintable(message);
}

} // namespace strata::test
