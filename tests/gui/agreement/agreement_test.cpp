// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/agreement/agreement_test.h"

#include <QApplication>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace strata::test {

std::vector<std::string> ourRecordings()
{
    if (!std::getenv("STRATA_ALL_RECORDINGS"))
        return { STRATA_TEST_DATA "/../../resources/samples/gpt2_124m_bf16_train.strata",
            STRATA_TEST_DATA "/devices/two_devices.pickle.gz",
            STRATA_TEST_DATA "/versions/torch2.15_oom.pickle.gz" };
    std::vector<std::string> files;
    for (const char* folder : { STRATA_SAMPLES, STRATA_TEST_DATA "/versions", STRATA_TEST_DATA "/devices",
             STRATA_TEST_DATA "/../../resources/samples" })
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            if (entry.path().extension() == ".gz" || entry.path().extension() == ".strata")
                files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::string recordingName(const testing::TestParamInfo<std::string>& info)
{
    std::string name = std::filesystem::path(info.param).filename();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
}

AgreementTest::AgreementTest()
    : m_settings(m_scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat)
    , m_theme(*qApp)
    , m_window(m_theme, m_settings, m_contents)
{
}

void AgreementTest::SetUp()
{
    // A copy: a session takes the notes of tests into itself.
    const QFileInfo original(QString::fromStdString(GetParam()));
    const QString path = m_scratch.filePath(original.fileName());
    ASSERT_TRUE(QFile::copy(original.filePath(), path));
    open(path);
}

void AgreementTest::open(const QString& path)
{
    m_driver.emplace(m_window);
    m_window.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window, 60'000));
    m_path = path.toStdString();
    m_window.openFile(path);
    ASSERT_TRUE(eventually([&] { return driver().showsFile(path); }));
    settle();
}

void AgreementTest::settle()
{
    ASSERT_TRUE(eventually([&] { return driver().settled(); }));
}

Ran AgreementTest::run(const std::string& command, const std::vector<std::string>& arguments)
{
    std::vector<std::string> all{ command, m_path };
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.emplace_back("--json");
    Ran ran = strata(all);
    EXPECT_EQ(ran.code, 0) << command << ": " << ran.err;
    return ran;
}

nlohmann::json AgreementTest::json(const std::string& command, const std::vector<std::string>& arguments)
{
    return run(command, arguments).json();
}

std::vector<nlohmann::json> AgreementTest::rows(
    const std::string& command, const std::vector<std::string>& arguments)
{
    std::vector<nlohmann::json> all = run(command, arguments).rows();
    if (!all.empty())
        all.erase(all.begin());
    return all;
}

Ran AgreementTest::runAsCopied(const QString& commandLine)
{
    EXPECT_TRUE(commandLine.startsWith(QStringLiteral("strata "))) << qPrintable(commandLine);
    return runProgram(
        "/bin/sh", { "-c", "'" STRATA_PROGRAM "' " + commandLine.mid(7).toStdString() + " --json" });
}

std::vector<nlohmann::json> AgreementTest::runCopied(const QString& commandLine, int code)
{
    const Ran ran = runAsCopied(commandLine);
    EXPECT_EQ(ran.code, code) << qPrintable(commandLine) << ": " << ran.err;
    return ran.rows();
}

std::vector<model::EventIndex> AgreementTest::instants()
{
    const model::EventIndex last = trace().eventCount() - 1;
    std::vector<model::EventIndex> all{ -1, 0, last / 3, last / 2, last,
        trace().totals().requestedPeakEvent };
    for (const model::OutOfMemory& oom : driver().device().summary->outOfMemory)
        all.push_back(oom.event);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

void AgreementTest::select(model::EventIndex event)
{
    driver().state().select(views::EventRange{ event, event });
    settle();
}

QString AgreementTest::bytes(const nlohmann::json& value)
{
    return QString::fromStdString(model::formatBytes(value.get<std::int64_t>()));
}

QString AgreementTest::exact(const nlohmann::json& value)
{
    return QString::fromStdString(model::formatExactBytes(value.get<std::int64_t>()));
}

QString AgreementTest::count(const nlohmann::json& value)
{
    return QString::fromStdString(model::formatCount(value.get<std::int64_t>()));
}

} // namespace strata::test
