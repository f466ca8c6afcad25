// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/parts/page.h"

#include <QString>

#include <vector>

namespace strata::views {

/// Makes a page for a document; the parent owns it.
using PageMaker = Page* (*)(Document& document, QWidget* parent);

/// A page of the window, and the heading of the rail that it stands under.
struct PageKind {
    enum class Group { Overview, Memory, Allocator, Improve, Raw };
    Group group;
    PageMaker make;
    int key = -1; ///< the digit that leads there with Ctrl; -1: none does
};

/// One for each page of the window, in the order of the rail: those of a group stand together.
[[nodiscard]] const std::vector<PageKind>& pageKinds();

/// Places in pageKinds() in the order of their keys, 1 to 9 and then 0; those without one come last. A page
/// that is new leaves the others the keys that people know.
[[nodiscard]] const std::vector<std::size_t>& pagesByKey();

[[nodiscard]] QString groupTitle(PageKind::Group group);

/// Every page of the window for one document, in the order of the rail. The parent owns them.
[[nodiscard]] std::vector<Page*> createPages(Document& document, QWidget* parent);

} // namespace strata::views
