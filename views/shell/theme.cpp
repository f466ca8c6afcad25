// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/theme.h"

#include "views/pages/type.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QScreen>
#include <QStyleFactory>

namespace strata::views {

using Role = Palette::Role;

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
    bool dark = m_choice == Choice::Dark;
    if (m_choice == Choice::Desktop) {
        // Ours hides the desktop's palette; without ours it shows again.
        QApplication::setPalette(QPalette());
        const QPalette desktop = QApplication::palette();
        dark = desktop.color(QPalette::Window).lightness() < desktop.color(QPalette::WindowText).lightness();
    }
    m_palette = dark ? Palette::dark() : Palette::light();
    QApplication::setPalette(qtPalette(m_palette));
    m_application.setStyleSheet(styleSheet(m_palette, QApplication::font().pixelSize() / double(kBodyPx)));
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

QPalette qtPalette(const Palette& palette)
{
    QPalette qt;
    qt.setColor(QPalette::Window, palette[Role::Frame]);
    qt.setColor(QPalette::WindowText, palette[Role::Text]);
    qt.setColor(QPalette::Base, palette[Role::Surface]);
    qt.setColor(QPalette::AlternateBase, palette[Role::Surface]);
    qt.setColor(QPalette::Text, palette[Role::Text]);
    qt.setColor(QPalette::Button, palette[Role::Frame]);
    qt.setColor(QPalette::ButtonText, palette[Role::Text]);
    qt.setColor(QPalette::BrightText, palette[Role::Bad]);
    qt.setColor(QPalette::Highlight, palette[Role::Accent]);
    qt.setColor(QPalette::HighlightedText, palette[Role::AccentText]);
    qt.setColor(QPalette::Link, palette[Role::Accent]);
    qt.setColor(QPalette::LinkVisited, palette[Role::Accent]);
    qt.setColor(QPalette::ToolTipBase, palette[Role::Tooltip]);
    qt.setColor(QPalette::ToolTipText, palette[Role::TooltipText]);
    qt.setColor(QPalette::PlaceholderText, palette[Role::TextMuted]);
    // What Fusion draws frames and grooves from.
    qt.setColor(QPalette::Light, palette[Role::Surface]);
    qt.setColor(QPalette::Midlight, palette[Role::Hover]);
    qt.setColor(QPalette::Mid, palette[Role::Line]);
    qt.setColor(QPalette::Dark, palette[Role::Line]);
    qt.setColor(QPalette::Shadow, palette[Role::Line]);
    for (const QPalette::ColorRole role : { QPalette::WindowText, QPalette::Text, QPalette::ButtonText })
        qt.setColor(QPalette::Disabled, role, palette[Role::TextMuted]);
    return qt;
}

} // namespace strata::views
