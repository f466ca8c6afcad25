// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/style_sheet.h"

#include <QPalette>
#include <QRegularExpression>

namespace strata::views {

using Role = Palette::Role;

namespace {

/// "@name" is a colour of the palette, "12px" is scaled. Object names and classes of the shell stand beside
/// what they style.
constexpr auto kSheet = R"(
QToolTip { background: @tooltip; color: @tooltipText; border: none; padding: 4px 8px; }

QMenuBar { background: @frame; padding: 0; spacing: 0; }
QMenuBar::item { padding: 4px 8px; background: transparent; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: @hover; }
QMenu { background: @surface; border: 1px solid @line; padding: 4px 0; }
QMenu::item { padding: 4px 24px 4px 12px; }
QMenu::icon { padding-left: 8px; }
QMenu::item:selected { background: @hover; }
QMenu::item:disabled { color: @textMuted; }
QMenu::separator { height: 1px; background: @line; margin: 4px 0; }

QPushButton { background: @surface; border: 1px solid @line; border-radius: 4px; padding: 4px 12px; min-height: 22px; }
QPushButton:hover { background: @hover; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @textMuted; }
QPushButton[primary="true"] { background: @accent; color: @accentText; border-color: @accent; }
QPushButton[primary="true"]:focus { border: 2px solid @text; padding: 3px 11px; }
QPushButton[link="true"] { background: transparent; border: 1px solid transparent; color: @accent; padding: 0 4px 1px 4px; min-height: 17px; text-align: left; }
QPushButton[link="true"][atEdge="true"] { padding-left: 0; margin-left: -1px; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QPushButton[link="true"]:focus { border-color: @accent; }
QPushButton[link="true"]:disabled { color: @textMuted; }
QPushButton[fold="true"] { background: transparent; border: 1px solid transparent; padding: 0; min-height: 18px; text-align: left; }
QPushButton[fold="true"]:focus { border-color: @accent; }
QPushButton[beside="true"] { padding: 2px 12px; }

QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 3px; }
QToolButton:hover { background: @hover; }
QToolButton:focus { border-color: @accent; }
QToolButton:disabled { color: @textMuted; }
QToolButton::menu-indicator { image: none; }

QLineEdit, QComboBox, QSpinBox, QAbstractSpinBox { background: @surface; border: 1px solid @line; border-radius: 4px; padding: 2px 8px; min-height: 22px; selection-background-color: @accent; selection-color: @accentText; }
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus { border-color: @accent; }
QLineEdit:disabled, QAbstractSpinBox:disabled { color: @textMuted; background: @frame; }
QPlainTextEdit { background: @surface; border: 1px solid @line; border-radius: 4px; padding: 3px 4px; selection-background-color: @accent; selection-color: @accentText; }
QPlainTextEdit:focus { border-color: @accent; }
QComboBox { padding-right: 24px; }
QComboBox::drop-down { border: none; width: 24px; subcontrol-position: center right; }
QComboBox::down-arrow { image: url(:/strata/icons/arrow-@theme.svg); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: @surface; border: 1px solid @line; selection-background-color: @hover; selection-color: @text; outline: none; }

QCheckBox { spacing: 8px; }
QCheckBox::indicator { width: 14px; height: 14px; background: @surface; border: 1px solid @textMuted; border-radius: 3px; }
QCheckBox::indicator:hover, QCheckBox::indicator:focus { border-color: @accent; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(:/strata/icons/tick-@theme.svg); }
QCheckBox::indicator:disabled { background: @frame; border-color: @line; }
QCheckBox:focus { color: @accent; }
QCheckBox:disabled { color: @textMuted; }
QSlider { min-height: 18px; }
QSlider::groove:horizontal { background: @handle; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::sub-page:horizontal:disabled { background: @handle; }
QSlider::handle:horizontal { background: @accent; width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; }
QSlider::handle:horizontal:focus { background: @surface; border: 2px solid @accent; width: 10px; height: 10px; margin: -5px 0; border-radius: 7px; }
QSlider::handle:horizontal:disabled { background: @handle; }

QHeaderView { background: @surface; border: none; }
QHeaderView::section { background: @surface; color: @textMuted; border: none; border-bottom: 1px solid @line; padding: 4px 8px; }
QHeaderView::section:hover { color: @text; }
QHeaderView::down-arrow { image: url(:/strata/icons/arrow-@theme.svg); width: 10px; height: 10px; subcontrol-position: center right; right: 4px; }
QHeaderView::up-arrow { image: url(:/strata/icons/arrow-up-@theme.svg); width: 10px; height: 10px; subcontrol-position: center right; right: 4px; }
QTableCornerButton::section { background: @surface; border: none; }
QAbstractItemView { background: @surface; border: none; selection-background-color: @selection; selection-color: @text; }

QScrollArea { border: none; background: transparent; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: @handle; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: @textMuted; }
QScrollBar::handle:disabled { background: transparent; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QSplitter::handle { background: @line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QProgressBar { background: @line; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }

QTabBar::tab { background: transparent; color: @textMuted; border: none; border-bottom: 2px solid transparent; padding: 4px 12px; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:focus { color: @accent; }
QTabWidget::pane { border: none; }

#topBar, #paneHeader { background: @frame; border-bottom: 1px solid @line; }
#rail { background: @frame; border-right: 1px solid @line; }
#rail QToolButton { border-radius: 0; border: none; border-left: 3px solid transparent; padding: 0 8px 0 9px; min-height: 32px; text-align: left; }
#rail QToolButton:checked { background: @surface; border-left-color: @accent; }
#rail QToolButton[absent="true"] { color: @textMuted; }
#rail QPushButton[railHeading="true"] { background: transparent; border: 1px solid transparent; border-radius: 0; color: @textMuted; padding: 0 0 0 11px; margin: 6px 0 0 0; min-height: 18px; text-align: left; }
#rail QPushButton[railHeading="true"]:hover { color: @text; }
#rail QPushButton[railHeading="true"]:focus { border-color: @accent; }
#rail QToolButton:focus { color: @accent; text-decoration: underline; }
#statusBar { background: @frame; border-top: 1px solid @line; }
#statusBar QLabel { color: @textMuted; }
#statusBar QToolButton { padding: 0 6px; }
#segmented QToolButton { background: @surface; border: 1px solid @line; border-radius: 0; padding: 2px 10px; min-height: 22px; }
#segmented QToolButton[place="first"] { border-top-left-radius: 4px; border-bottom-left-radius: 4px; }
#segmented QToolButton[place="middle"] { border-left: none; }
#segmented QToolButton[place="last"] { border-top-right-radius: 4px; border-bottom-right-radius: 4px; border-left: none; }
#segmented[many="true"] QToolButton { padding: 2px 5px; }
#segmented[compact="true"] QToolButton { padding: 0 8px; min-height: 16px; }
#segmented QToolButton:checked { background: @accent; color: @accentText; border-color: @accent; }
#segmented QToolButton:focus { text-decoration: underline; }
#chip { background: @surface; border: 1px solid @accent; border-radius: 12px; padding: 1px 8px; min-height: 20px; color: @text; }
#chip[muted="true"] { border: 1px dashed @textMuted; color: @textMuted; }
#chip:hover { background: @hover; }
#banner { border-bottom: 1px solid @line; background: @frame; }
#page, #card { background: @surface; }
#card { border: 1px solid @line; border-radius: 6px; }
#card:hover, #card:focus { border-color: @accent; }
#changeCard { background: @surface; border: 1px solid @line; border-radius: 6px; }
#code { background: @frame; border: 1px solid @line; border-radius: 6px; }
#popup { background: @surface; border: 1px solid @line; }
#searchFoot { background: @frame; border-top: 1px solid @line; }
#output { background: @frame; border-radius: 6px; padding: 4px 8px; }
#formSide { background: @surface; border-right: 1px solid @line; }
#minimap { border-top: 1px solid @line; }
#liveBar { background: @frame; border-top: 1px solid @line; }
#liveBar QToolButton { padding: 1px 6px; }
QLabel[muted="true"] { color: @textMuted; }
QComboBox[muted="true"] { color: @textMuted; }
)";

constexpr std::pair<const char*, Palette::Role> kNames[] = {
    { "@tooltipText", Role::TooltipText },
    { "@tooltip", Role::Tooltip },
    { "@textMuted", Role::TextMuted },
    { "@text", Role::Text },
    { "@accentText", Role::AccentText },
    { "@accent", Role::Accent },
    { "@selection", Role::Selection },
    { "@surface", Role::Surface },
    { "@frame", Role::Frame },
    { "@hover", Role::Hover },
    { "@line", Role::Line },
    { "@handle", Role::FilteredOut },
};

} // namespace

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

QString styleSheet(const Palette& palette, double scale)
{
    QString sheet = QString::fromUtf8(kSheet);
    sheet.replace(
        QLatin1String("@theme"), palette.isDark() ? QStringLiteral("dark") : QStringLiteral("light"));
    for (const auto& [name, role] : kNames)
        sheet.replace(QLatin1String(name), palette[role].name(QColor::HexArgb));
    if (scale == 1.0)
        return sheet;
    static const QRegularExpression pixels(QStringLiteral("(\\d+)px"));
    QString scaled;
    qsizetype end = 0;
    for (auto matches = pixels.globalMatch(sheet); matches.hasNext();) {
        const QRegularExpressionMatch match = matches.next();
        const int px = match.captured(1).toInt();
        scaled += QStringView(sheet).mid(end, match.capturedStart() - end);
        // Hairlines stay hairlines.
        scaled += QStringLiteral("%1px").arg(px <= 1 ? px : qRound(px * scale));
        end = match.capturedEnd();
    }
    scaled += QStringView(sheet).mid(end);
    return scaled;
}

} // namespace strata::views
