// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/page_list.h"

#include "views/pages/allocator/allocator_page.h"
#include "views/pages/allocator/fragmentation_page.h"
#include "views/pages/leaks/leaks_page.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/memory/notes_page.h"
#include "views/pages/summary/summary_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/pages/timeline/timeline_page.h"
#include "views/pages/whatif/what_if_page.h"

#include <QCoreApplication>

#include <algorithm>
#include <numeric>

namespace strata::views {

namespace {

template <class Made> Page* make(Document& document, QWidget* parent)
{
    return new Made(document, parent);
}

} // namespace

const std::vector<PageKind>& pageKinds()
{
    using enum PageKind::Group;
    static const std::vector<PageKind> kinds{ { Overview, make<SummaryPage>, 1 },
        { Overview, make<TimelinePage>, 2 }, { PageKind::Group::Memory, make<MemoryPage>, 3 },
        { PageKind::Group::Memory, make<FlamePage>, 4 }, { PageKind::Group::Memory, make<LeaksPage>, 5 },
        { Allocator, make<AllocatorPage>, 6 }, { Allocator, make<FragmentationPage>, 7 },
        { Improve, make<WhatIfPage>, 0 }, { Raw, make<BlocksPage>, 8 }, { Raw, make<EventsPage>, 9 },
        { Raw, make<NotesPage> } };
    return kinds;
}

const std::vector<std::size_t>& pagesByKey()
{
    static const std::vector<std::size_t> places = [] {
        std::vector<std::size_t> all(pageKinds().size());
        std::iota(all.begin(), all.end(), std::size_t{ 0 });
        std::ranges::stable_sort(all, {}, [](std::size_t place) {
            constexpr int kDigits = 10;
            const int key = pageKinds()[place].key;
            return key > 0 ? key : kDigits - key;
        });
        return all;
    }();
    return places;
}

QString groupTitle(PageKind::Group group)
{
    switch (group) {
    case PageKind::Group::Overview:
        return QCoreApplication::translate("PageGroups", "Overview");
    case PageKind::Group::Memory:
        return QCoreApplication::translate("PageGroups", "Memory");
    case PageKind::Group::Allocator:
        return QCoreApplication::translate("PageGroups", "Allocator");
    case PageKind::Group::Improve:
        return QCoreApplication::translate("PageGroups", "Improve");
    case PageKind::Group::Raw:
        return QCoreApplication::translate("PageGroups", "Raw");
    }
    return {};
}

std::vector<Page*> createPages(Document& document, QWidget* parent)
{
    std::vector<Page*> pages;
    for (const PageKind& kind : pageKinds())
        pages.push_back(kind.make(document, parent));
    return pages;
}

} // namespace strata::views
