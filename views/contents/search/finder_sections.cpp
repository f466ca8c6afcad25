// SPDX-License-Identifier: GPL-3.0-or-later
// What is found, as it is shown.
#include "views/contents/search/finder.h"

#include "model/trace/filter/filter_language.h"
#include "model/trace/filter/frame_origin.h"
#include "views/contents/document/page_list.h"
#include "views/shell/recent_files.h"
#include "views/style/texts.h"

#include <QAction>
#include <QFileInfo>
#include <QKeySequence>

#include <algorithm>

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

bool isWell(model::NameMatch match)
{
    return match == model::NameMatch::Exact || match == model::NameMatch::Prefix;
}

/// "25 of 180 blocks live".
QString countOf(const model::SearchHit& hit)
{
    return Finder::tr("%1 of %2 blocks live").arg(text::count(hit.blocks), text::count(hit.allBlocks));
}

QString plainText(const QAction& action)
{
    return QString(action.text()).remove(QLatin1Char('&'));
}

} // namespace

SearchItem Finder::itemOf(std::size_t number)
{
    const model::SearchHits& hits = m_found->hits;
    const model::SearchHit& hit = hits.hits[number];
    const DeviceData& device = *m_found->device;
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
        const model::BlockColumns& blocks = device.trace->blocks();
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
        item.label = tr("All blocks with %1").arg(m_found->text); // as it was typed
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
                       .arg(text::shellQuoted(m_view->document().path()))
                       .arg(hit.event)
                       .arg(device.trace->device())
                       .arg(text::shellQuoted(filter));
    item.go = [this, number] { go(number); };
    item.narrow = [this, number] { narrow(number); };
    return item;
}

void Finder::addHits(std::vector<SearchSection>& sections)
{
    const auto section = [&](const QString& title, std::initializer_list<Kind> kinds) {
        SearchSection made{ .title = title };
        const auto& hits = m_found->hits.hits;
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < hits.size(); ++i)
            if (std::ranges::find(kinds, hits[i].kind) != kinds.end() && hits[i].allBlocks > 0)
                numbers.push_back(i);
        if (kinds.size() > 1)
            std::ranges::stable_sort(numbers, [&](std::size_t a, std::size_t b) {
                return std::tuple(hits[a].found.match, ~hits[a].bytes)
                    < std::tuple(hits[b].found.match, ~hits[b].bytes);
            });
        for (const std::size_t number : numbers) {
            made.items.append(itemOf(number));
            made.matchesWell = made.matchesWell || hits[number].found.length == 0
                || (isWell(hits[number].found.match) && !hits[number].inDetail);
        }
        for (const Kind kind : kinds)
            made.leftOut += m_found->hits.leftOut[static_cast<std::size_t>(kind)];
        sections.push_back(std::move(made));
    };
    section(tr("Lines"), { Kind::Line });
    section(tr("Functions and files"), { Kind::Function, Kind::File });
    section(tr("Sizes"), { Kind::Size });
    section(tr("Addresses"), { Kind::Address });
    section(tr("Filter"), { Kind::Condition });
    sections.back().matchesWell = false;
}

bool Finder::offer(SearchItem& item, SearchSection& section) const
{
    if (!m_text.isEmpty()) {
        const std::string label = item.label.toStdString();
        const auto found = model::matchName(label, m_text.toStdString());
        if (!found)
            return false;
        item.matchAt = static_cast<int>(text::utf8(label.substr(0, found->at)).size());
        item.matchLength = static_cast<int>(text::utf8(label.substr(found->at, found->length)).size());
        section.matchesWell = section.matchesWell || isWell(found->match);
    }
    section.items.append(item);
    return true;
}

SearchSection Finder::pages()
{
    SearchSection section{ .title = tr("Pages") };
    if (!m_view)
        return section;
    std::size_t number = 0;
    for (const Page* page : m_view->pages()) {
        SearchItem item;
        item.icon = page->iconName();
        item.label = page->title();
        item.detail = page->absence();
        const auto key = std::ranges::find(pagesByKey(), number++) - pagesByKey().begin();
        if (key < m_pageKeys.size())
            item.figure = m_pageKeys[key]->shortcut().toString(QKeySequence::NativeText);
        item.toolTip = item.detail;
        item.go = [this, id = page->id()] { m_view->showPage(id); };
        (void)offer(item, section);
    }
    return section;
}

SearchSection Finder::actions()
{
    SearchSection section{ .title = tr("Actions") };
    if (m_text.isEmpty())
        return section; // all of them stand in the menus
    for (const Actions::Section& menu : m_sections())
        for (QAction* action : menu.actions) {
            SearchItem item;
            const QString name = action->property(kIconName).toString();
            item.icon = name.isEmpty() ? QStringLiteral("forward") : name;
            item.label = plainText(*action);
            item.detail = menu.title;
            item.figure = action->shortcut().toString(QKeySequence::NativeText);
            item.enabled = action->isEnabled();
            item.toolTip = item.enabled ? QString() : tr("not possible now");
            item.go = [target = QPointer<QAction>(action)] {
                if (target)
                    target->trigger();
            };
            (void)offer(item, section);
        }
    std::ranges::stable_sort(
        section.items, [](const SearchItem& a, const SearchItem& b) { return a.enabled && !b.enabled; });
    return section;
}

SearchSection Finder::devices()
{
    SearchSection section{ .title = tr("Devices") };
    if (!m_view)
        return section;
    const std::vector<DeviceBrief> all = m_view->document().devices();
    for (const DeviceBrief& device : all) {
        SearchItem item;
        item.icon = QStringLiteral("dryrun");
        item.label = tr("GPU %1").arg(device.device);
        item.detail = device.device == m_view->document().viewState().device()
            ? tr("shown now, reserved peak %1").arg(text::bytes(device.totals->reservedBytesPeak))
            : tr("reserved peak %1").arg(text::bytes(device.totals->reservedBytesPeak));
        item.go = [this, number = device.device] { m_view->document().viewState().setDevice(number); };
        (void)offer(item, section);
    }
    return section;
}

SearchSection Finder::files()
{
    SearchSection section{ .title = tr("Files") };
    if (!m_files || (m_view && m_text.isEmpty()))
        return section; // the last ones stand in the menu
    const auto add = [&](const QString& name, const QString& about, const QString& path) {
        SearchItem item;
        item.icon = QStringLiteral("open");
        item.label = name;
        item.detail = about;
        item.toolTip = path;
        item.go = [this, path] { Q_EMIT fileWanted(path); };
        (void)offer(item, section);
    };
    const QStringList opened = m_files->paths();
    for (const QString& path : opened) {
        const QFileInfo file(path);
        add(file.fileName(), text::homeShort(file.absolutePath()), path);
    }
    for (const Sample& sample : samples())
        if (!opened.contains(sample.path))
            add(sample.title, sample.about, sample.path);
    section.matchesWell = section.matchesWell && !m_view; // what a document has comes first
    return section;
}

SearchSection Finder::recent()
{
    SearchSection section{ .title = tr("Searched before") };
    for (const QString& typed : m_recent) {
        SearchItem item;
        item.icon = QStringLiteral("search");
        item.label = typed;
        item.go = [this, typed] { Q_EMIT proposed(typed); };
        section.items.append(item);
    }
    return section;
}

std::vector<SearchSection> Finder::sections()
{
    std::vector<SearchSection> all;
    if (m_text.isEmpty())
        all.push_back(recent());
    else if (m_found && m_view)
        addHits(all);
    all.push_back(pages());
    all.push_back(actions());
    all.push_back(devices());
    all.push_back(files());
    bestFirst(all);
    return all;
}

void Finder::bestFirst(std::vector<SearchSection>& sections)
{
    std::ranges::stable_sort(sections,
        [](const SearchSection& a, const SearchSection& b) { return a.matchesWell && !b.matchesWell; });
}

} // namespace strata::views
