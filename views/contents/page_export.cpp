// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/page_export.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QPixmap>
#include <QSaveFile>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Export)
};

model::Failure cannotWrite(const QString& path, const QString& why)
{
    model::Error error{ model::Error::Kind::Unreadable,
        Words::tr("cannot be written: %1").arg(why).toStdString(),
        Words::tr("choose another place").toStdString(), path.toStdString() };
    return model::Failure(std::move(error));
}

} // namespace

model::Result<void> savePicture(Page& page, const QString& path)
{
    if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
        if (page.hasSvg() && page.saveSvg(path))
            return {};
        return cannotWrite(path,
            page.hasSvg() ? Words::tr("the disk or the folder refuses it")
                          : Words::tr("this page has no vector picture"));
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return cannotWrite(path, file.errorString());
    if (!page.pictureWidget()->grab().save(&file, "PNG") || !file.commit())
        return cannotWrite(path, file.errorString());
    return {};
}

model::Result<void> saveTable(const Page& page, const QString& path)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || !page.writeCsv(file) || !file.commit())
        return cannotWrite(path, file.errorString());
    return {};
}

QString proposedName(const Page& page, const QString& suffix)
{
    QString name = QFileInfo(page.document().path()).fileName();
    for (const char* ending : { ".gz", ".pickle", ".pkl", ".json", ".html", ".strata" })
        if (name.endsWith(QLatin1String(ending), Qt::CaseInsensitive))
            name.chop(static_cast<qsizetype>(qstrlen(ending)));
    return QStringLiteral("%1 %2.%3").arg(name, page.id(), suffix);
}

} // namespace strata::views
