// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/resources.h"

#include <QCoreApplication>
#include <QTranslator>

// Q_INIT_RESOURCE must stand outside a namespace.
static void registerResources()
{
    Q_INIT_RESOURCE(strata);
    Q_INIT_RESOURCE(translations);
}

void strata::initResources()
{
    static const bool once = (registerResources(), true);
    Q_UNUSED(once);
}

void strata::installTranslations(QCoreApplication& application)
{
    initResources();
    auto* translator = new QTranslator(&application);
    if (translator->load(QStringLiteral(":/strata/translations/strata_en.qm")))
        QCoreApplication::installTranslator(translator);
}
