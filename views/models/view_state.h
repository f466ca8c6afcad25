// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "model/base/ids.h"
#include "model/timeline/pictures.h"
#include "model/trace/filter.h"
#include "model/trace/grouping.h"
#include "model/trace/user_data.h"

#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

/// Events first..last of the selected device; first == last is an instant.
struct EventRange {
    model::EventIndex first = -1;
    model::EventIndex last = -1;
    [[nodiscard]] bool isInstant() const { return first == last; }
    friend bool operator==(const EventRange&, const EventRange&) = default;
};

/// What every page of a document shows: device, selection, filter, axis, grouping, and the notes, named
/// ranges and saved filters. Every change of device, selection, filter or notes can be undone (Ctrl+Z) and
/// redone; moves by arrow key or wheel within half a second are one entry. Axis and grouping are looks and
/// are not on the undo stack. GUI thread only. What is zoomed into belongs to the page, not here.
class ViewState : public QObject {
    Q_OBJECT
public:
    [[nodiscard]] static const std::shared_ptr<const model::UserData>& noUserData();

    struct Value {
        int device = 0;
        std::optional<EventRange> selection; ///< none: the whole trace
        model::BlockFilter filter;
        std::shared_ptr<const model::UserData> user = noUserData(); ///< equal if it is the same one
        friend bool operator==(const Value&, const Value&) = default;
    };

    explicit ViewState(QObject* parent = nullptr);

    [[nodiscard]] const Value& value() const { return m_value; }
    [[nodiscard]] int device() const { return m_value.device; }
    [[nodiscard]] const std::optional<EventRange>& selection() const { return m_value.selection; }
    [[nodiscard]] const model::BlockFilter& filter() const { return m_value.filter; }
    [[nodiscard]] model::Axis axis() const { return m_axis; }
    [[nodiscard]] model::Grouping grouping() const { return m_grouping; }

    [[nodiscard]] const model::UserData& user() const { return *m_value.user; }

    void reset(int device, model::UserData user = {}); ///< a new session: empties the undo stack
    void setDevice(int device); ///< also drops selection and filter: they name rows of the old device
    void select(std::optional<EventRange> range);
    void setFilter(const model::BlockFilter& filter);
    void setUser(model::UserData user);
    void setAxis(model::Axis axis);
    void setGrouping(model::Grouping grouping);

    [[nodiscard]] bool canUndo() const { return !m_undo.empty(); }
    [[nodiscard]] bool canRedo() const { return !m_redo.empty(); }
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
    void apply(const Value& next); // handlers may change the state again: no reference into it is kept

    Value m_value;
    model::Axis m_axis = model::Axis::Events;
    model::Grouping m_grouping = model::Grouping::Line;
    std::vector<Value> m_undo, m_redo;
    std::optional<qint64> m_lastSelectionMs; // set while further moves join the last undo entry
};

} // namespace strata::views
