// SPDX-License-Identifier: GPL-3.0-or-later
// What the window makes of what `strata attach --inject` says: here a script says it.
#include "views/models/live/inject_job.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <gtest/gtest.h>

using namespace strata::views;

namespace {

class InjectJobTest : public testing::Test {
protected:
    /// A program that keeps its arguments, and does this.
    QString program(const QByteArray& what)
    {
        QFile script(m_folder.filePath(QStringLiteral("strata")));
        EXPECT_TRUE(script.open(QIODevice::WriteOnly));
        script.write("#!/bin/sh\necho \"$@\" > \"$(dirname \"$0\")/arguments\"\n" + what + "\n");
        script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return script.fileName();
    }
    QByteArray arguments() const
    {
        QFile file(m_folder.filePath(QStringLiteral("arguments")));
        return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed() : QByteArray();
    }

    QTemporaryDir m_folder;
};

TEST_F(InjectJobTest, AsksFirstWhatWouldBeDone)
{
    InjectJob job(
        program("echo 'strata: process 7: train.py' >&2; echo 'strata: It stands for a moment.' >&2;"
                "echo 'strata: attach: nobody can be asked' >&2; exit 2"));
    QSignalSpy planned(&job, &InjectJob::planned), refused(&job, &InjectJob::refused);
    job.ask(7);
    EXPECT_TRUE(job.running());
    ASSERT_TRUE(planned.wait(20'000));
    EXPECT_FALSE(job.running());
    EXPECT_EQ(planned[0][0].toLongLong(), 7);
    EXPECT_EQ(planned[0][1].toStringList(),
        (QStringList{ QStringLiteral("process 7: train.py"), QStringLiteral("It stands for a moment.") }));
    EXPECT_TRUE(refused.isEmpty());
    EXPECT_EQ(arguments(), "attach 7 --inject --keep"); // and agrees to nothing
}

TEST_F(InjectJobTest, SaysWhyItMayNot)
{
    InjectJob job(program("echo 'strata: attach: process 7: it is traced by gdb' >&2; exit 3"));
    QSignalSpy planned(&job, &InjectJob::planned), refused(&job, &InjectJob::refused);
    job.ask(7);
    ASSERT_TRUE(refused.wait(20'000));
    EXPECT_TRUE(planned.isEmpty());
    EXPECT_EQ(refused[0][0].toString(), QStringLiteral("attach: process 7: it is traced by gdb"));
}

TEST_F(InjectJobTest, DoesItOnceItIsAgreed)
{
    InjectJob job(program("echo 'strata: process 7 is recorded' >&2"));
    QSignalSpy begun(&job, &InjectJob::begun);
    job.begin(7);
    ASSERT_TRUE(begun.wait(20'000));
    EXPECT_EQ(begun[0][0].toLongLong(), 7);
    EXPECT_EQ(arguments(), "attach 7 --inject --keep --yes");
}

TEST_F(InjectJobTest, IsRefusedWithoutAProgram)
{
    InjectJob job(m_folder.filePath(QStringLiteral("nothing")));
    QSignalSpy refused(&job, &InjectJob::refused);
    job.ask(7);
    ASSERT_TRUE(!refused.isEmpty() || refused.wait(20'000));
    EXPECT_FALSE(job.running());
}

} // namespace
