// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QList>
#include <QLocale>
#include <QPoint>
#include <QPointer>
#include <QString>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

class QTranslator;
class QWidget;

namespace strata::test {

/// Waits until no job of a window runs or waits, handles what the jobs posted, and deletes what is to be
/// deleted later. False if jobs still run after 30 s.
[[nodiscard]] bool jobsEnd();

/// Lets the cases of a window test program run in one process in any order. While this object lives, each
/// case starts with empty settings and data folders and with the application as this object found it:
/// environment, current folder, language, font, palette, style, clipboard, pointer. A case fails if a window,
/// an override cursor or a job (for 30 s) outlives it. Make one after the QApplication and before
/// RUN_ALL_TESTS(); GUI thread only.
class FreshStart : public testing::EmptyTestEventListener {
public:
    FreshStart();
    ~FreshStart() override;
    FreshStart(const FreshStart&) = delete;
    FreshStart& operator=(const FreshStart&) = delete;

    void OnTestStart(const testing::TestInfo& info) override;
    /// Fixtures are gone by then, and failures still count for the case: the printer comes later.
    void OnTestEnd(const testing::TestInfo& info) override;

private:
    static void expectNoJobs();
    static void removeWindows();
    static void removeCursors();
    void putBackLook() const;
    void putBackLanguage() const;
    void putBackProcess();

    const std::map<std::string, std::string> m_environment;
    const QString m_folder;
    const QLocale m_locale;
    const QList<QPointer<QTranslator>> m_translators;
    const QFont m_font;
    const QString m_style;
    const QPoint m_pointer;
    const int m_threads;
    std::optional<QTemporaryDir> m_settings, m_data; // of the case that runs
};

} // namespace strata::test
