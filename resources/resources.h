// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QCoreApplication;

namespace strata {

/// Makes ":/strata/..." known to Qt: a static library's resources are not registered by themselves. Cheap to
/// call again; any thread that runs before the first use.
void initResources();

/// Lets tr() of `application` find plurals. Call once, before the first window; initResources() is done by it.
void installTranslations(QCoreApplication& application);

} // namespace strata
