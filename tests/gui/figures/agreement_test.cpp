// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/figures/agreement_test.h"

#include "views/style/texts.h"

#include <QApplication>

#include <algorithm>

namespace strata::test {

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

auto AgreementTest::ask(const QString& line) -> const Answer&
{
    const auto [answer, isNew] = m_answers.try_emplace(line);
    if (isNew) {
        EXPECT_TRUE(line.startsWith(QStringLiteral("strata "))) << qPrintable(line);
        const Ran ran = runProgram(
            "/bin/sh", { "-c", "'" STRATA_PROGRAM "' " + line.mid(7).toStdString() + " --json" });
        answer->second = { ran.code, ran.err, ran.out.empty() ? std::vector<nlohmann::json>() : ran.rows() };
    }
    return answer->second;
}

auto AgreementTest::ask(const char* command, const QString& options) -> const Answer&
{
    return ask(
        QStringLiteral("strata %1 %2 %3")
            .arg(QLatin1String(command), views::text::shellQuoted(QString::fromStdString(m_path)), options));
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

} // namespace strata::test
