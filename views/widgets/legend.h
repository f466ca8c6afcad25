// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBrush>
#include <QStringList>
#include <QWidget>

#include "views/style/palette.h"

#include <functional>
#include <vector>

namespace strata::views {

/// Swatches with their names, in as many lines as the room asks for. GUI thread only.
class Legend : public QWidget {
    Q_OBJECT
public:
    struct Entry {
        QString name;
        std::function<QBrush(int scale)> fill; ///< with the detail of a screen, see patternBrush()
        QString letter{}; ///< on the swatch, in the colour of the surface
        bool line = false; ///< a line instead of a square
        bool dashed = false; ///< of a line
    };

    explicit Legend(QWidget* parent = nullptr);

    /// Takes the place of what there was.
    void setEntries(std::vector<Entry> entries, const Palette& palette);
    [[nodiscard]] QStringList names() const; ///< of the entries, in their order
    void paintOn(QPainter& painter) const; ///< as it stands: for files
};

} // namespace strata::views
