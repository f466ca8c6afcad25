// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/page.h"

#include <vector>

namespace strata::views {

/// Every page of the window for one document, in the order of the rail. The parent owns them.
[[nodiscard]] std::vector<Page*> createPages(Document& document, QWidget* parent);

} // namespace strata::views
