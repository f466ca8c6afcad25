// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/page_list.h"

#include "views/pages/blocks_page.h"
#include "views/pages/events_page.h"
#include "views/pages/flame_page.h"
#include "views/pages/memory_page.h"
#include "views/pages/notes_page.h"
#include "views/pages/summary_page.h"

namespace strata::views {

namespace {

template <class Made> Page* make(Document& document, QWidget* parent)
{
    return new Made(document, parent);
}

} // namespace

const std::vector<PageMaker>& pageMakers()
{
    static const std::vector<PageMaker> makers{ make<SummaryPage>, make<MemoryPage>, make<FlamePage>,
        make<BlocksPage>, make<EventsPage>, make<NotesPage> };
    return makers;
}

std::vector<Page*> createPages(Document& document, QWidget* parent)
{
    std::vector<Page*> pages;
    for (const PageMaker& maker : pageMakers())
        pages.push_back(maker(document, parent));
    return pages;
}

} // namespace strata::views
