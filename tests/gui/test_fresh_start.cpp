// SPDX-License-Identifier: GPL-3.0-or-later
// Cases of a window test program share a process and know nothing of each other.
#include "tests/gui/fresh_start.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QFontInfo>
#include <QSettings>
#include <QStandardPaths>
#include <QStyle>
#include <QStyleFactory>
#include <QTranslator>
#include <QWidget>

#include <gtest/gtest-spi.h>

using namespace strata;

namespace {

class Shouting : public QTranslator {
public:
    using QTranslator::QTranslator;
    [[nodiscard]] QString translate(const char*, const char* source, const char*, int) const override
    {
        return QString::fromUtf8(source).toUpper();
    }
    [[nodiscard]] bool isEmpty() const override { return false; }
};

QString dataFile()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/kept");
}

/// Each of these cases finds nothing of the other, in either order.
class FreshStart : public testing::TestWithParam<int> { };

TEST_P(FreshStart, NothingReachesTheNextCase)
{
    EXPECT_TRUE(QSettings().allKeys().isEmpty());
    EXPECT_FALSE(QFile::exists(dataFile()));
    EXPECT_FALSE(qEnvironmentVariableIsSet("STRATA_TEST_LEFT"));
    EXPECT_NE(QDir::currentPath(), QDir::rootPath());
    EXPECT_EQ(QCoreApplication::translate("Any", "text"), QStringLiteral("text"));
    EXPECT_NE(QLocale(), QLocale(QLocale::German));
    EXPECT_EQ(QApplication::style()->name(), QStringLiteral("fusion"));
    EXPECT_TRUE(qApp->styleSheet().isEmpty());
    EXPECT_NE(QApplication::palette().color(QPalette::Window), QColor(Qt::red));
    EXPECT_EQ(QFontInfo(QApplication::font()).pixelSize(), 12);
    EXPECT_TRUE(QGuiApplication::clipboard()->text().isEmpty());

    QSettings().setValue(QStringLiteral("key"), 1);
    QFile file(dataFile());
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    qputenv("STRATA_TEST_LEFT", "1");
    qputenv("XDG_DATA_HOME", "/");
    EXPECT_TRUE(QDir::setCurrent(QDir::rootPath()));
    QCoreApplication::installTranslator(new Shouting(qApp));
    QLocale::setDefault(QLocale::German);
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Windows")));
    qApp->setStyleSheet(QStringLiteral("QWidget { color: red }"));
    QApplication::setPalette(QPalette(Qt::red));
    QFont font;
    font.setPixelSize(40);
    QApplication::setFont(font);
    QGuiApplication::clipboard()->setText(QStringLiteral("left"));
    qInstallMessageHandler([](QtMsgType, const QMessageLogContext&, const QString&) {});
    (new QWidget)->deleteLater(); // goes by itself
}

INSTANTIATE_TEST_SUITE_P(Cases, FreshStart, testing::Values(1, 2));

void endCase()
{
    test::FreshStart().OnTestEnd(*testing::UnitTest::GetInstance()->current_test_info());
}

TEST(FreshStartTest, AWindowThatStaysFailsItsCase)
{
    const QPointer<QWidget> window = new QWidget;
    window->setObjectName(QStringLiteral("left"));
    EXPECT_NONFATAL_FAILURE(endCase(), "a window outlives the case: QWidget \"left\"");
    EXPECT_FALSE(window);
}

TEST(FreshStartTest, AnOverrideCursorThatStaysFailsItsCase)
{
    QApplication::setOverrideCursor(Qt::WaitCursor);
    EXPECT_NONFATAL_FAILURE(endCase(), "an override cursor outlives the case");
    EXPECT_FALSE(QApplication::overrideCursor());
}

TEST(FreshStartTest, AWarningOfQtFailsItsCase)
{
    EXPECT_NONFATAL_FAILURE(qWarning("odd"), "Qt: odd");
}

} // namespace
