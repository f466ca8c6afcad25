// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "model/base/ids.h"
#include "model/timeline/pictures.h"
#include "model/timeline/selection.h"
#include "model/trace/filter/filter.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/user_data.h"
#include "views/base/history.h"
#include "views/models/document/track_order.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

using model::EventRange;

/// What every page of a document shows: device, selection, filter, axis, grouping, and the notes, named
/// ranges, saved filters and the order of lanes, which are kept with the recording. Every change of device,
/// selection, filter or of what is kept can be undone (Ctrl+Z) and redone; moves by arrow key or wheel within
/// half a second are one entry. Axis and grouping are looks and are not on the undo stack. GUI thread only.
/// What is zoomed into belongs to the page, not here.
///
/// A selection is made of events of one device, and stays exact there. Another device shows it by its time:
/// the last events at or before that. Where one of them has no times there is no common instant, and nothing
/// is selected there.
class ViewState : public QObject {
    Q_OBJECT
public:
    [[nodiscard]] static const std::shared_ptr<const model::UserData>& noUserData();

    struct Value {
        int device = 0;
        struct Made {
            int device = 0;
            EventRange events;
            friend bool operator==(const Made&, const Made&) = default;
        };
        std::optional<Made> selection; ///< as it was made; none: the whole trace
        model::BlockFilter filter;
        std::shared_ptr<const model::UserData> user = noUserData(); ///< equal if it is the same one
        friend bool operator==(const Value&, const Value&) = default;
    };

    explicit ViewState(QObject* parent = nullptr);

    [[nodiscard]] const Value& value() const { return m_value; }
    [[nodiscard]] int device() const { return m_value.device; }
    /// Events of the selected device; none: the whole trace.
    [[nodiscard]] const std::optional<EventRange>& selection() const { return m_selection; }
    /// The same as it was made, with its time: what other devices, documents and ranks follow.
    [[nodiscard]] std::optional<model::Selection> madeSelection() const;
    /// Something is selected on another device, and this one or that has no times.
    [[nodiscard]] bool lacksClock() const;
    [[nodiscard]] const model::BlockFilter& filter() const { return m_value.filter; }
    [[nodiscard]] model::Axis axis() const { return m_axis; }
    [[nodiscard]] model::Grouping grouping() const { return m_grouping; }

    [[nodiscard]] const model::UserData& user() const { return *m_value.user; }

    void reset(int device, model::UserData user = {}); ///< a new session: empties the undo stack
    /// Where the times of devices come from; nullptr for one that is not there yet. Asked again when
    /// clocksChanged() is called.
    void setClocks(std::function<const model::Clock*(int device)> clocks);
    void clocksChanged();
    /// Drops the filter too: it names rows of the old device. What is selected is followed by its time.
    void setDevice(int device);
    void select(std::optional<EventRange> range);
    void select(int device, const EventRange& range); ///< and shows that device: one entry
    void setFilter(const model::BlockFilter& filter);
    void setUser(model::UserData user);
    /// Takes over what another knows later: to undo a change of ours leaves it there.
    void takeUser(const model::UserData& later);
    [[nodiscard]] TrackOrder trackOrder() const { return TrackOrder::fromText(user().view()); }
    void setTrackOrder(const TrackOrder& order); ///< told by userChanged()
    void setAxis(model::Axis axis);
    void setGrouping(model::Grouping grouping);

    [[nodiscard]] bool canUndo() const { return m_history.canGoBack(); }
    [[nodiscard]] bool canRedo() const { return m_history.canGoForward(); }
    void undo();
    void redo();

Q_SIGNALS:
    void deviceChanged();
    void selectionChanged();
    void filterChanged();
    void userChanged();
    void axisChanged();
    void groupingChanged();
    void undoChanged();

private:
    void change(Value next);
    void restore(const Value& value); // no move joins it
    void apply(const Value& next); // handlers may change the state again: no reference into it is kept
    [[nodiscard]] const model::Clock* clock(int device) const
    {
        return m_clocks ? m_clocks(device) : nullptr;
    }
    [[nodiscard]] std::optional<EventRange> followed() const;

    Value m_value;
    std::optional<EventRange> m_selection; // m_value's, on its device
    std::function<const model::Clock*(int device)> m_clocks;
    model::Axis m_axis = model::Axis::Events;
    model::Grouping m_grouping = model::Grouping::Line;
    History<Value> m_history{ 1'000 };
    std::optional<qint64> m_lastSelectionMs; // set while further moves join the last undo entry
};

} // namespace strata::views
