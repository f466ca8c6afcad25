// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/page.h"

#include <vector>

namespace strata::views {

/// Makes a page for a document; the parent owns it.
using PageMaker = Page* (*)(Document& document, QWidget* parent);

/// One for each page of the window, in the order of the rail.
[[nodiscard]] const std::vector<PageMaker>& pageMakers();

/// Every page of the window for one document, in the order of the rail. The parent owns them.
[[nodiscard]] std::vector<Page*> createPages(Document& document, QWidget* parent);

} // namespace strata::views
