// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/view_state.h"

#include <chrono>

namespace strata::views {

namespace {

constexpr qint64 kOneMoveMs = 500;

qint64 nowMs()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

} // namespace

const std::shared_ptr<const model::UserData>& ViewState::noUserData()
{
    static const auto none = std::make_shared<const model::UserData>();
    return none;
}

ViewState::ViewState(QObject* parent)
    : QObject(parent)
{
}

void ViewState::reset(int device, model::UserData user)
{
    m_history.clear();
    m_lastSelectionMs.reset();
    m_value = Value{ .device = device, .user = std::make_shared<const model::UserData>(std::move(user)) };
    m_selection.reset();
    Q_EMIT deviceChanged();
    Q_EMIT selectionChanged();
    Q_EMIT filterChanged();
    Q_EMIT userChanged();
    Q_EMIT undoChanged();
}

void ViewState::setDevice(int device)
{
    if (device == m_value.device)
        return;
    change(Value{ .device = device, .selection = m_value.selection, .user = m_value.user });
}

void ViewState::select(int device, const EventRange& range)
{
    if (device == m_value.device)
        return select(range);
    change(Value{ .device = device, .selection = Value::Made{ device, range }, .user = m_value.user });
}

void ViewState::select(std::optional<EventRange> range)
{
    if (range == m_selection && (range || !m_value.selection))
        return;
    const qint64 now = nowMs();
    const bool continues = m_lastSelectionMs && now - *m_lastSelectionMs <= kOneMoveMs;
    Value next = m_value;
    next.selection = range ? std::optional(Value::Made{ m_value.device, *range }) : std::nullopt;
    if (continues) {
        m_history.forgetForward();
        apply(next);
        Q_EMIT undoChanged();
    } else {
        change(std::move(next));
    }
    m_lastSelectionMs = now;
}

void ViewState::setFilter(const model::BlockFilter& filter)
{
    Value next = m_value;
    next.filter = filter;
    change(std::move(next));
}

void ViewState::setUser(model::UserData user)
{
    if (user == *m_value.user)
        return;
    Value next = m_value;
    next.user = std::make_shared<const model::UserData>(std::move(user));
    change(std::move(next));
}

void ViewState::takeUser(const model::UserData& later)
{
    const auto merged = [&later](const std::shared_ptr<const model::UserData>& before) {
        model::UserData all = *before;
        all.merge(later);
        return all == *before ? before : std::make_shared<const model::UserData>(std::move(all));
    };
    m_history.changeAll([&](Value& value) { value.user = merged(value.user); });
    Value next = m_value;
    next.user = merged(next.user);
    apply(next);
}

void ViewState::setTrackOrder(const TrackOrder& order)
{
    using namespace std::chrono;
    std::string text = order.text();
    if (text == user().view())
        return;
    model::UserData user = this->user();
    user.setView(std::move(text), duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
    setUser(std::move(user));
}

void ViewState::setAxis(model::Axis axis)
{
    if (axis == m_axis)
        return;
    m_axis = axis;
    Q_EMIT axisChanged();
}

void ViewState::setGrouping(model::Grouping grouping)
{
    if (grouping == m_grouping)
        return;
    m_grouping = grouping;
    Q_EMIT groupingChanged();
}

void ViewState::undo()
{
    if (m_history.canGoBack())
        restore(m_history.back(m_value));
}

void ViewState::redo()
{
    if (m_history.canGoForward())
        restore(m_history.forward(m_value));
}

void ViewState::change(Value next)
{
    if (next == m_value)
        return;
    m_history.leave(m_value);
    restore(next);
}

void ViewState::restore(const Value& value)
{
    m_lastSelectionMs.reset();
    apply(value);
    Q_EMIT undoChanged();
}

void ViewState::setClocks(std::function<const model::Clock*(int device)> clocks)
{
    m_clocks = std::move(clocks);
    clocksChanged();
}

void ViewState::clocksChanged()
{
    const std::optional<EventRange> now = followed();
    if (now == m_selection)
        return;
    m_selection = now;
    Q_EMIT selectionChanged();
}

std::optional<model::Selection> ViewState::madeSelection() const
{
    if (!m_value.selection)
        return std::nullopt;
    const auto& [device, events] = *m_value.selection;
    const model::Clock* times = clock(device);
    return model::Selection{ device, events, times ? model::timeOf(events, *times) : std::nullopt };
}

bool ViewState::lacksClock() const
{
    if (!m_value.selection || m_value.selection->device == m_value.device)
        return false;
    const model::Clock *made = clock(m_value.selection->device), *here = clock(m_value.device);
    return made && here && !(made->hasTimes() && here->hasTimes());
}

std::optional<EventRange> ViewState::followed() const
{
    const std::optional<model::Selection> made = madeSelection();
    if (made && made->device == m_value.device)
        return made->events;
    const model::Clock* here = clock(m_value.device);
    return made && made->time && here ? model::eventsAt(*made->time, made->events.isInstant(), *here)
                                      : std::nullopt;
}

void ViewState::apply(const Value& next)
{
    const Value before = std::move(m_value);
    const std::optional<EventRange> selected = m_selection;
    m_value = next;
    m_selection = followed();
    if (before.device != m_value.device)
        Q_EMIT deviceChanged();
    if (selected != m_selection)
        Q_EMIT selectionChanged();
    if (before.filter != m_value.filter)
        Q_EMIT filterChanged();
    if (before.user != m_value.user)
        Q_EMIT userChanged();
}

} // namespace strata::views
