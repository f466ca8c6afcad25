// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <QString>
#include <QStringList>

#include <optional>

/// Sentences with figures in bold and instants as links, as rich text. Any thread.
namespace strata::views::text {

[[nodiscard]] QString strong(const QString& plain);
/// Rich text in which no line ends between a figure and its unit. What is copied of it has usual spaces.
[[nodiscard]] QString unbroken(QString html);
/// A link "event:N".
[[nodiscard]] QString link(const QString& plain, model::EventIndex event);
/// The same of what is rich text already, in a colour; empty: as links look.
[[nodiscard]] QString linked(const QString& html, model::EventIndex event, const QString& colour = {});
/// A link to a line of code by its label, at an instant where there is one.
struct LineLink {
    std::string line;
    std::optional<model::EventIndex> event;
    friend bool operator==(const LineLink&, const LineLink&) = default;
};
[[nodiscard]] QString linked(const QString& html, const LineLink& line, const QString& colour = {});
/// The same of another group of what is alive then.
struct GroupLink {
    std::string label;
    model::EventIndex event = -1;
    friend bool operator==(const GroupLink&, const GroupLink&) = default;
};
[[nodiscard]] QString linked(const QString& html, const GroupLink& group);
[[nodiscard]] std::optional<GroupLink> groupOfLink(const QString& link);
/// What linked() made of it; none if it is no such link.
[[nodiscard]] std::optional<LineLink> lineOfLink(const QString& link);
/// A link to a page of the window by its id.
[[nodiscard]] QString pageLinked(const QString& html, const QString& page);
/// What pageLinked() made of it; none if it is no such link.
[[nodiscard]] std::optional<QString> pageOfLink(const QString& link);
/// The sentences of rich text, which end with ". ", in its order; elements are not cut.
[[nodiscard]] QStringList sentences(const QString& html);
/// The event of a link "event:N"; none if it is no such link.
[[nodiscard]] std::optional<model::EventIndex> eventOfLink(const QString& link);

} // namespace strata::views::text
