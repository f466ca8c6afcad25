// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/local_files.h"

#include <QMimeData>
#include <QUrl>

namespace strata::views {

QStringList localFiles(const QMimeData& data)
{
    QStringList files;
    for (const QUrl& url : data.urls())
        if (url.isLocalFile())
            files.append(url.toLocalFile());
    return files;
}

} // namespace strata::views
