// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/recent_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QSettings>

namespace strata::views {

namespace {

const QString kKey = QStringLiteral("recent/files");
const QString kFolder = QStringLiteral("open/folder");

struct Samples {
    Q_DECLARE_TR_FUNCTIONS(Samples)
};

} // namespace

RecentFiles::RecentFiles(QSettings& settings, QObject* parent)
    : QObject(parent)
    , m_settings(settings)
{
}

QStringList RecentFiles::paths() const
{
    return m_settings.value(kKey).toStringList();
}

void RecentFiles::add(const QString& path)
{
    const QString absolute = QFileInfo(path).absoluteFilePath();
    QStringList all = paths();
    all.removeAll(absolute);
    all.prepend(absolute);
    store(all.mid(0, kMost));
}

void RecentFiles::remove(const QString& path)
{
    QStringList all = paths();
    if (all.removeAll(path) > 0)
        store(all);
}

void RecentFiles::clear()
{
    store({});
}

QString RecentFiles::folder() const
{
    return m_settings.value(kFolder).toString();
}

void RecentFiles::setFolder(const QString& folder)
{
    m_settings.setValue(kFolder, folder);
}

void RecentFiles::store(const QStringList& paths)
{
    m_settings.setValue(kKey, paths);
    Q_EMIT changed();
}

QList<Sample> samples()
{
    const QDir folder(QCoreApplication::applicationDirPath() + QStringLiteral("/../share/strata/samples"));
    const Sample known[] = {
        { QStringLiteral("gpt2_124m_bf16_oom.strata"), Samples::tr("Out of memory"),
            Samples::tr("GPT-2 124M, batch 20 on a 16 GiB card: dies in the first step") },
        { QStringLiteral("gpt2_124m_bf16_train.strata"), Samples::tr("A training run"),
            Samples::tr("GPT-2 124M, batch 8, five steps of AdamW and a validation pass") },
    };
    QList<Sample> found;
    for (const Sample& sample : known)
        if (folder.exists(sample.path))
            found.append(
                { QDir::cleanPath(folder.absoluteFilePath(sample.path)), sample.title, sample.about });
    return found;
}

} // namespace strata::views
