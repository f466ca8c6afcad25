// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/theme.h"

#include "views/style/style_sheet.h"
#include "views/style/type.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QScreen>
#include <QStyleFactory>

namespace strata::views {

Theme::Theme(QApplication& application, QObject* parent)
    : QObject(parent)
    , m_application(application)
{
    QFont font = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
    const QScreen* screen = QApplication::primaryScreen();
    const double scale = textScale(font, screen ? screen->logicalDotsPerInch() : 96);
    font.setPixelSize(qRound(kBodyPx * scale));
    font.setFamilies(QStringList{ font.family(), QStringLiteral("DejaVu Sans") });
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setFont(font);
    application.installEventFilter(this);
    apply();
}

void Theme::choose(Choice choice)
{
    if (choice == m_choice)
        return;
    m_choice = choice;
    apply();
    Q_EMIT changed();
}

bool Theme::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ThemeChange && m_choice == Choice::Desktop && !m_applying) {
        const bool dark = m_palette.isDark();
        apply();
        if (dark != m_palette.isDark())
            Q_EMIT changed();
    }
    return QObject::eventFilter(watched, event);
}

void Theme::apply()
{
    m_applying = true;
    // Where one style sheet replaces another, Qt polishes each widget once for each of its ancestors.
    m_application.setStyleSheet(QString());
    bool dark = m_choice == Choice::Dark;
    if (m_choice == Choice::Desktop) {
        // Ours hides the desktop's palette; without ours it shows again.
        QApplication::setPalette(QPalette());
        const QPalette desktop = QApplication::palette();
        dark = desktop.color(QPalette::Window).lightness() < desktop.color(QPalette::WindowText).lightness();
    }
    m_palette = dark ? Palette::dark() : Palette::light();
    QApplication::setPalette(qtPalette(m_palette));
    m_application.setStyleSheet(styleSheet(m_palette, scaleOf(QApplication::font())));
    m_applying = false;
}

QString Theme::name(Choice choice)
{
    switch (choice) {
    case Choice::Light:
        return QStringLiteral("light");
    case Choice::Dark:
        return QStringLiteral("dark");
    case Choice::Desktop:
        break;
    }
    return QStringLiteral("desktop");
}

Theme::Choice Theme::fromName(const QString& name)
{
    if (name == QLatin1String("light"))
        return Choice::Light;
    return name == QLatin1String("dark") ? Choice::Dark : Choice::Desktop;
}

} // namespace strata::views
