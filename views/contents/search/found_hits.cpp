// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/search/found_hits.h"

#include "model/trace/filter/filter_language.h"
#include "model/trace/filter/frame_origin.h"
#include "views/style/texts.h"

#include <algorithm>
#include <tuple>

namespace strata::views {

namespace {

using Kind = model::SearchHit::Kind;

QString iconOf(Kind kind)
{
    switch (kind) {
    case Kind::Line:
        return QStringLiteral("memory");
    case Kind::Function:
        return QStringLiteral("flame");
    case Kind::File:
        return QStringLiteral("page");
    case Kind::Size:
    case Kind::Address:
        return QStringLiteral("blocks");
    case Kind::Condition:
        break;
    }
    return QStringLiteral("search");
}

/// The file or function of a path is the label, the folder stands behind `before` in the detail; what is
/// emphasised comes along.
void splitPath(SearchItem& item, const std::string& path, const std::string& before,
    const model::NameMatchAt& found, bool inBefore)
{
    const auto length = [](std::string_view part) { return static_cast<int>(text::utf8(part).size()); };
    const std::string_view whole = path;
    const std::size_t last = whole.size() - model::baseName(whole).size();
    item.label = text::utf8(whole.substr(last));
    const QString folder = text::utf8(whole.substr(0, last));
    const QString gap = before.empty() || folder.isEmpty() ? QString() : QStringLiteral("  ");
    item.detail = text::utf8(before) + gap + folder;
    const std::string_view name = inBefore ? std::string_view(before) : whole;
    item.matchLength = length(name.substr(found.at, found.length));
    if (inBefore) {
        item.matchInDetail = true;
        item.matchAt = length(name.substr(0, found.at));
    } else if (found.at >= last) {
        item.matchAt = length(whole.substr(last, found.at - last));
    } else if (found.at + found.length <= last) {
        item.matchInDetail = true;
        item.matchAt
            = static_cast<int>(text::utf8(before).size() + gap.size()) + length(whole.substr(0, found.at));
    } else { // across both
        item.matchLength = length(whole.substr(last, found.at + found.length - last));
    }
}

/// "25 of 180 blocks live".
QString countOf(const model::SearchHit& hit)
{
    return FoundHits::tr("%1 of %2 blocks live").arg(text::count(hit.blocks), text::count(hit.allBlocks));
}

} // namespace

bool matchesWell(model::NameMatch match)
{
    return match == model::NameMatch::Exact || match == model::NameMatch::Prefix;
}

SearchItem FoundHits::item(std::size_t number) const
{
    const model::SearchHit& hit = hits.hits[number];
    SearchItem item;
    item.icon = iconOf(hit.kind);
    item.hit = number;
    switch (hit.kind) {
    case Kind::Line:
        splitPath(item, hit.label, hit.detail, hit.found, hit.inDetail);
        break;
    case Kind::File:
        splitPath(item, hit.label, {}, hit.found, false);
        break;
    case Kind::Function:
        item.label = text::utf8(hit.label);
        item.matchAt = static_cast<int>(text::utf8(hit.label.substr(0, hit.found.at)).size());
        item.matchLength
            = static_cast<int>(text::utf8(hit.label.substr(hit.found.at, hit.found.length)).size());
        break;
    case Kind::Size:
        item.label = text::utf8(hit.label);
        item.detail = tr("%1, %2").arg(text::utf8(hit.detail), countOf(hit));
        break;
    case Kind::Address: {
        const model::BlockColumns& blocks = device->trace->blocks();
        item.label = text::utf8(hit.label);
        const model::EventIndex death = blocks.death(hit.block);
        const QString from = text::event(blocks.birth(hit.block));
        item.detail
            = tr("%1, %2, %3")
                  .arg(text::bytes(blocks.requestedBytes[hit.block]), text::utf8(hit.detail),
                      death == model::BlockColumns::kNever ? tr("from %1 on").arg(from)
                                                           : tr("%1 to %2").arg(from, text::event(death)));
        break;
    }
    case Kind::Condition:
        item.label = tr("All blocks with %1").arg(text); // as it was typed
        item.detail = countOf(hit);
        break;
    }
    if (hit.event == hits.event) {
        item.figure = text::bytes(hit.bytes);
        item.share = text::share(hit.bytes, hits.wholeBytes);
    }
    const QString filter = text::utf8(model::printFilter(hit.conditions));
    item.toolTip = tr("%1\n%2 requested in %3, live at %4; %5 at any time")
                       .arg(filter, text::exactBytes(hit.bytes),
                           text::counted(hit.blocks, tr("1 block"), tr("%1 blocks")), text::event(hit.event),
                           text::counted(hit.allBlocks, tr("1 block"), tr("%1 blocks")));
    item.command = QStringLiteral("strata at %1 %2 --device %3 --filter %4")
                       .arg(text::shellQuoted(path))
                       .arg(hit.event)
                       .arg(device->trace->device())
                       .arg(text::shellQuoted(filter));
    return item;
}

std::vector<SearchSection> FoundHits::sections() const
{
    std::vector<SearchSection> sections;
    const auto section = [&](const QString& title, std::initializer_list<Kind> kinds) {
        SearchSection made{ .title = title };
        const auto& all = hits.hits;
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (std::ranges::find(kinds, all[i].kind) != kinds.end() && all[i].allBlocks > 0)
                numbers.push_back(i);
        if (kinds.size() > 1)
            std::ranges::stable_sort(numbers, [&](std::size_t a, std::size_t b) {
                return std::tuple(all[a].found.match, ~all[a].bytes)
                    < std::tuple(all[b].found.match, ~all[b].bytes);
            });
        for (const std::size_t number : numbers) {
            made.items.append(item(number));
            made.matchesWell = made.matchesWell || all[number].found.length == 0
                || (matchesWell(all[number].found.match) && !all[number].inDetail);
        }
        for (const Kind kind : kinds)
            made.leftOut += hits.leftOut[static_cast<std::size_t>(kind)];
        sections.push_back(std::move(made));
    };
    section(tr("Lines"), { Kind::Line });
    section(tr("Functions and files"), { Kind::Function, Kind::File });
    section(tr("Sizes"), { Kind::Size });
    section(tr("Addresses"), { Kind::Address });
    section(tr("Filter"), { Kind::Condition });
    sections.back().matchesWell = false;
    return sections;
}

} // namespace strata::views
