// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/dryrun/dry_run_test.h"

#include "tests/gui/shell/window_driver.h"

#include <QCollator>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include <algorithm>
#include <cstdio>

namespace strata::test {

std::string recordedText(const char* name)
{
    QFile file(QStringLiteral(STRATA_TEST_DATA "/dryrun/%1.json").arg(QLatin1String(name)));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << name;
    return file.readAll().toStdString();
}

QString torchPython()
{
    if (!QFileInfo::exists(QStringLiteral(STRATA_PRELOADED))) {
        std::printf("no simulated device: it is never instrumented\n");
        return {};
    }
    const QStringList named
        = qEnvironmentVariable("STRATA_TORCH_PYTHON").split(QLatin1Char(':'), Qt::SkipEmptyParts);
    if (!named.isEmpty())
        return named.front();
    const QDir cache(
        QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation) + QStringLiteral("/strata"));
    QStringList folders = cache.entryList({ QStringLiteral("torch-*") }, QDir::Dirs);
    QCollator byVersion;
    byVersion.setNumericMode(true);
    std::sort(folders.begin(), folders.end(), byVersion);
    if (folders.isEmpty()) {
        std::printf("no PyTorch: set STRATA_TORCH_PYTHON or run tests/truth/environment.sh newest\n");
        return {};
    }
    return cache.filePath(folders.back() + QStringLiteral("/bin/python"));
}

QStringList processesWith(const QString& word)
{
    QStringList found;
    for (const QString& id : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
        QFile file(QStringLiteral("/proc/%1/cmdline").arg(id));
        if (file.open(QIODevice::ReadOnly) && file.readAll().split('\0').contains(word.toUtf8()))
            found << id;
    }
    return found;
}

QString DryRunTest::program(const char* name, const QByteArray& content)
{
    QFile file(m_folder.filePath(QLatin1String(name)));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly) && file.write(content) == content.size());
    file.setPermissions(file.permissions() | QFile::ExeUser);
    return file.fileName();
}

views::DryRunRequest DryRunTest::request(const QString& command) const
{
    views::DryRunRequest made;
    made.command = command;
    made.folder = m_folder.path();
    return made;
}

views::DryRunOutcome DryRunTest::run(const views::DryRunRequest& request)
{
    std::optional<views::DryRunOutcome> outcome;
    const auto connection = QObject::connect(&m_job, &views::DryRunJob::ended, &m_job,
        [&](const views::DryRunOutcome& ended) { outcome = ended; });
    QString problem;
    EXPECT_TRUE(m_job.start(request, recording(), problem)) << qPrintable(problem);
    EXPECT_TRUE(eventually([&] { return outcome.has_value(); }));
    QObject::disconnect(connection);
    return outcome.value_or(views::DryRunOutcome{});
}

} // namespace strata::test
