// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "views/style/palette.h"

class QApplication;

namespace strata::views {

/// The look of the whole program: palette, font, style sheet. Follows the desktop's light or dark until told
/// otherwise. One per application, made before the first window; GUI thread only.
class Theme : public QObject {
    Q_OBJECT
public:
    enum class Choice { Desktop, Light, Dark };

    explicit Theme(QApplication& application, QObject* parent = nullptr);

    [[nodiscard]] const Palette& palette() const { return m_palette; }
    [[nodiscard]] Choice choice() const { return m_choice; }
    void choose(Choice choice);

    bool eventFilter(QObject* watched, QEvent* event) override;

    [[nodiscard]] static QString name(Choice choice); ///< "desktop", "light", "dark": for settings, --theme
    [[nodiscard]] static Choice fromName(const QString& name); ///< Desktop for what it does not know

Q_SIGNALS:
    void changed(); ///< palette() is another one

private:
    void apply();

    QApplication& m_application;
    Choice m_choice = Choice::Desktop;
    Palette m_palette = Palette::light();
    bool m_applying = false;
};

} // namespace strata::views
