// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/parts/page.h"

namespace strata::views {

/// Edit > Add a Note, Name This Range, Save This Filter: each asks for a text, and adds it to the notes of
/// the document, if that is still there then. A device is selected and ready. GUI thread.

/// On what was clicked last, else on what is selected, else on the peak.
void addNote(QWidget& window, Document& document, const Focus& focus);
void nameRange(QWidget& window, Document& document); ///< that is selected
void saveFilter(QWidget& window, Document& document); ///< that is not empty

} // namespace strata::views
