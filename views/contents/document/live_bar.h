// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/style/palette.h"

class QLabel;
class QToolButton;

namespace strata::views {

class Document;
class LiveSource;

/// How a process that is watched stands, below the minimap of what is shown of it: the Follow switch, whether
/// it is connected, its memory and rate now, what came since the picture stands still, what is missing. GUI
/// thread only.
class LiveBar : public QWidget {
    Q_OBJECT
public:
    /// Both outlive it.
    LiveBar(LiveSource& source, Document& document, QWidget* parent = nullptr);

    void setPalette(const Palette& palette);
    [[nodiscard]] QString stateText() const; ///< "Live", "Paused: 1,234 events since", "Ended"

Q_SIGNALS:
    void saveWanted();

private:
    void refresh();

    LiveSource& m_source;
    Document& m_document;
    Palette m_palette = Palette::light();
    QToolButton* m_follow;
    QLabel *m_dot, *m_state, *m_figures, *m_missing;
    QToolButton* m_save;
};

} // namespace strata::views
