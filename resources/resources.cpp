// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/resources.h"

#include <qglobal.h>

// Q_INIT_RESOURCE must stand outside a namespace.
static void registerResources()
{
    Q_INIT_RESOURCE(strata);
}

void strata::initResources()
{
    static const bool once = (registerResources(), true);
    Q_UNUSED(once);
}
