// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/page_list.h"

#include "views/pages/blocks_page.h"
#include "views/pages/events_page.h"
#include "views/pages/flame_page.h"
#include "views/pages/memory_page.h"
#include "views/pages/summary_page.h"

namespace strata::views {

std::vector<Page*> createPages(Document& document, QWidget* parent)
{
    return {
        new SummaryPage(document, parent),
        new MemoryPage(document, parent),
        new FlamePage(document, parent),
        new BlocksPage(document, parent),
        new EventsPage(document, parent),
    };
}

} // namespace strata::views
