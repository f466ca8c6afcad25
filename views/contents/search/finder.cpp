// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/search/finder.h"

#include "views/contents/document/page_list.h"
#include "views/models/document/shown_instant.h"
#include "views/pages/tables/flame_page.h"
#include "views/shell/recent_files.h"
#include "views/style/texts.h"

#include <QAction>
#include <QFileInfo>
#include <QKeySequence>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr qsizetype kMostRecent = 8;

QString plainText(const QAction& action)
{
    return QString(action.text()).remove(QLatin1Char('&'));
}

} // namespace

Finder::Finder(std::function<QList<Actions::Section>()> sections, QObject* parent)
    : QObject(parent)
    , m_sections(std::move(sections))
{
}

void Finder::setView(DocumentView* view)
{
    if (m_view == view)
        return;
    m_view = view;
    m_job.cancel();
    m_found.reset();
    m_stop.reset();
    m_waiting = 0;
    Q_EMIT stepsChanged();
}

bool Finder::holds(const QString& text) const
{
    if (!m_view)
        return false;
    const auto device = m_view->document().device();
    return device && m_found && m_found->text == text && m_found->device == device
        && m_found->hits.event == shownInstant(*device, m_view->document().viewState().selection());
}

void Finder::find(const QString& text)
{
    m_text = text.trimmed();
    const bool computes = m_view && m_view->document().device() && !m_text.isEmpty();
    if (computes && !holds(m_text))
        return start(m_text);
    m_job.cancel();
    if (!computes)
        m_found.reset();
    Q_EMIT found();
}

void Finder::start(const QString& text)
{
    const auto device = m_view->document().device();
    const model::EventIndex event = shownInstant(*device, m_view->document().viewState().selection());
    m_job.start(
        [text, path = m_view->document().path(), device, event](const JobContext& context) {
            return std::make_shared<const FoundHits>(FoundHits{ text, path, device,
                model::search(*device->timeline, *device->byLine, text.toStdString(), event, context.stop(),
                    device->labels()) });
        },
        [this](std::shared_ptr<const FoundHits> found) {
            m_found = std::move(found);
            if (m_waiting != 0)
                showStep();
            Q_EMIT this->found();
        });
}

QString Finder::error() const
{
    return m_found && m_found->hits.error && m_found->text == m_text ? text::said(*m_found->hits.error)
                                                                     : QString();
}

QString Finder::instant() const
{
    return m_found ? text::instant(m_found->device->timeline->clock(), m_found->hits.event) : QString();
}

void Finder::remember(const QString& text)
{
    const QString typed = text.trimmed();
    if (typed.isEmpty())
        return;
    m_recent.removeAll(typed);
    m_recent.prepend(typed);
    m_recent = m_recent.mid(0, kMostRecent);
}

void Finder::go(std::size_t number)
{
    if (!m_found || !m_view || number >= m_found->hits.hits.size())
        return;
    using Kind = model::SearchHit::Kind;
    const model::SearchHit& hit = m_found->hits.hits[number];
    if (hit.kind == Kind::Condition)
        return narrow(number);
    const auto walked = stops();
    m_stepText = m_found->text;
    m_at = hit.conditions;
    m_stop = static_cast<std::size_t>(std::ranges::find(walked, number) - walked.begin());
    ViewState& state = m_view->document().viewState();
    switch (hit.kind) {
    case Kind::Line:
        state.setGrouping(model::Grouping::Line); // where Memory can show it
        m_view->showPage(QStringLiteral("memory"));
        m_view->focusOn(Focus::onGroup(model::Grouping::Line, { hit.label }));
        break;
    case Kind::Function:
    case Kind::File:
        m_view->showPage(QStringLiteral("flame"));
        if (auto* flame = qobject_cast<FlamePage*>(m_view->findPage(QStringLiteral("flame"))))
            flame->search(text::utf8(hit.label));
        break;
    case Kind::Size:
    case Kind::Address: {
        const Page* shown = m_view->currentPage();
        if (!shown || (shown->id() != QLatin1String("memory") && shown->id() != QLatin1String("blocks")))
            m_view->showPage(QStringLiteral("blocks"));
        m_view->focusOn(Focus::onBlock(
            m_view->document().device()->trace->sameBlock(*m_found->device->trace, hit.block)));
        break;
    }
    case Kind::Condition:
        break;
    }
    Q_EMIT flash(tr("%1 of %2: %3, %4")
                     .arg(text::count(static_cast<std::int64_t>(*m_stop) + 1),
                         text::count(static_cast<std::int64_t>(walked.size())), m_found->item(number).label,
                         text::bytes(hit.bytes)));
    Q_EMIT stepsChanged();
}

void Finder::narrow(std::size_t number)
{
    const model::Recording* recording = m_view ? m_view->document().recording() : nullptr;
    if (!recording || !m_found || number >= m_found->hits.hits.size())
        return;
    ViewState& state = m_view->document().viewState();
    state.setFilter(
        model::narrowed(state.filter(), model::filterOf(*recording, m_found->hits.hits[number].conditions)));
}

std::vector<std::size_t> Finder::stops()
{
    std::vector<SearchSection> sections = m_found->sections();
    bestFirst(sections);
    std::vector<std::size_t> numbers;
    for (const SearchSection& section : sections)
        for (const SearchItem& item : section.items)
            if (m_found->hits.hits[*item.hit].kind != model::SearchHit::Kind::Condition)
                numbers.push_back(*item.hit);
    return numbers;
}

void Finder::step(int by)
{
    if (!canStep() || !m_view->document().device())
        return;
    m_waiting += by;
    if (holds(m_stepText))
        showStep();
    else
        start(m_stepText);
}

void Finder::showStep()
{
    const int by = std::exchange(m_waiting, 0);
    const auto walked = stops();
    if (walked.empty())
        return Q_EMIT flash(tr("nothing here has “%1”").arg(m_stepText));
    // Where it stands now: figures, and with them the order, may be others than they were.
    const auto same = std::ranges::find_if(
        walked, [this](std::size_t number) { return m_found->hits.hits[number].conditions == m_at; });
    const bool moved = same != walked.end() && m_stop
        && (*m_stop >= walked.size() || m_found->hits.hits[walked[*m_stop]].conditions != m_at);
    if (moved)
        m_stop = static_cast<std::size_t>(same - walked.begin());
    const auto count = static_cast<int>(walked.size());
    const int from = m_stop ? static_cast<int>(*m_stop) : by > 0 ? -1 : count;
    go(walked[static_cast<std::size_t>((((from + by) % count) + count) % count)]);
}

std::vector<SearchSection> Finder::hitSections()
{
    std::vector<SearchSection> sections = m_found->sections();
    for (SearchSection& section : sections)
        for (SearchItem& item : section.items) {
            item.go = [this, number = *item.hit] { go(number); };
            item.narrow = [this, number = *item.hit] { narrow(number); };
        }
    return sections;
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
        section.matchesWell = section.matchesWell || matchesWell(found->match);
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
        all = hitSections();
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
