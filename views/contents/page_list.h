// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/page.h"

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
};

/// One for each page of the window, in the order of the rail: those of a group stand together.
[[nodiscard]] const std::vector<PageKind>& pageKinds();

[[nodiscard]] QString groupTitle(PageKind::Group group);

/// Every page of the window for one document, in the order of the rail. The parent owns them.
[[nodiscard]] std::vector<Page*> createPages(Document& document, QWidget* parent);

} // namespace strata::views
