// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_page.h"

#include "model/analysis/work/chrome_trace.h"
#include "model/session/simulation.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

namespace strata::views {

void TimelinePage::askWhereToSave()
{
    if (!m_lanes->data())
        return;
    const QFileInfo opened(m_document.path());
    const QString proposed = opened.absoluteDir().filePath(
        tr("%1 timeline.json").arg(opened.fileName().section(QLatin1Char('.'), 0, 0)));
    const QString path = QFileDialog::getSaveFileName(this,
        m_lanes->measured() ? tr("What Was Measured as a Chrome Trace") : tr("All of It as a Chrome Trace"),
        proposed, tr("Chrome traces (*.json)"));
    if (!path.isEmpty())
        saveTrace(path);
}

void TimelinePage::saveTrace(const QString& path)
{
    const auto shown = m_lanes->data();
    if (!shown)
        return;
    m_saving.start(
        [shown, range = measured(), path](const JobContext&) {
            return model::saveChromeTrace(shown->work(), shown->strings(),
                QFile::encodeName(path).toStdString(), range,
                model::simulationJson(shown->session().recording()));
        },
        [this, path](const model::Result<void>& saved) {
            if (saved)
                Q_EMIT hoverText(tr("saved %1").arg(path));
            else
                Q_EMIT failed(saved.error());
        });
}

} // namespace strata::views
