// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/page_export.h"

#include <QFileInfo>
#include <QPixmap>
#include <QSaveFile>

namespace strata::views {

namespace {

model::Failure cannotWrite(const QString& path, model::Sentence why)
{
    return model::Failure(
        model::Error{ model::Error::Kind::Unreadable, model::say("cannot be written: %1", std::move(why)),
            model::say("choose another place"), path.toStdString() });
}

model::Failure cannotWrite(const QFileDevice& file)
{
    return cannotWrite(file.fileName(), model::verbatim(file.errorString().toStdString()));
}

} // namespace

model::Result<void> savePicture(Page& page, const QString& path)
{
    if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
        if (page.hasSvg() && page.saveSvg(path))
            return {};
        return cannotWrite(path,
            page.hasSvg() ? model::say("the disk or the folder refuses it")
                          : model::say("this page has no vector picture"));
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return cannotWrite(file);
    if (!page.pictureWidget()->grab().save(&file, "PNG") || !file.commit())
        return cannotWrite(file);
    return {};
}

model::Result<void> saveTable(const Page& page, const QString& path)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || !page.writeCsv(file) || !file.commit())
        return cannotWrite(file);
    return {};
}

QString proposedName(const Page& page, const QString& suffix)
{
    QString name = page.document().name();
    for (const char* ending : { ".gz", ".pickle", ".pkl", ".json", ".html", ".strata" })
        if (name.endsWith(QLatin1String(ending), Qt::CaseInsensitive))
            name.chop(static_cast<qsizetype>(qstrlen(ending)));
    return QStringLiteral("%1 %2.%3").arg(name, page.id(), suffix);
}

} // namespace strata::views
