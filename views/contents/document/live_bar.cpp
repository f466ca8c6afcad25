// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/live_bar.h"

#include "views/models/document/document.h"
#include "views/models/live/live_source.h"
#include "views/style/icons.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include <algorithm>

namespace strata::views {

using model::LinkState;
using Role = Palette::Role;

namespace {

constexpr int kButtonPadding = 7; // as the style sheet has it, with the border

} // namespace

LiveBar::LiveBar(LiveSource& source, Document& document, QWidget* parent)
    : QWidget(parent)
    , m_source(source)
    , m_document(document)
    , m_follow(new QToolButton)
    , m_dot(new QLabel)
    , m_state(new QLabel)
    , m_figures(new QLabel)
    , m_missing(new QLabel)
    , m_save(new QToolButton)
{
    setObjectName(QStringLiteral("liveBar"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("The process that is watched"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(kMargin - kButtonPadding, 2, kMargin - kButtonPadding, 2);
    row->setSpacing(kGrid);
    m_follow->setText(tr("Follow"));
    m_follow->setCheckable(true);
    m_follow->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_follow->setIconSize(QSize(14, 14));
    m_follow->setFocusPolicy(Qt::TabFocus);
    m_follow->setToolTip(
        tr("Shows the newest as it comes. Switched off, the picture stands still: what comes "
           "meanwhile is kept, and shown when it is on again (Ctrl+G)"));
    connect(m_follow, &QToolButton::toggled, &source, &LiveSource::setFollowing);
    m_save->setText(tr("Save…"));
    m_save->setFocusPolicy(Qt::TabFocus);
    m_save->setToolTip(tr("Writes what has come so far as a session (Ctrl+Alt+W)"));
    connect(m_save, &QToolButton::clicked, this, &LiveBar::saveWanted);
    for (QLabel* label : { m_figures, m_missing }) {
        label->setProperty("muted", true);
        label->setFont(numberFont(font()));
        label->setTextFormat(Qt::PlainText);
    }
    m_state->setTextFormat(Qt::PlainText);
    m_missing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row->addWidget(m_follow);
    row->addWidget(m_dot);
    row->addWidget(m_state);
    row->addSpacing(kGrid);
    row->addWidget(m_figures);
    row->addWidget(m_missing, 1);
    row->addWidget(m_save);
    connect(&source, &LiveSource::changed, this, &LiveBar::refresh);
    connect(&source, &LiveSource::followingChanged, this, &LiveBar::refresh);
    connect(&document, &Document::deviceReady, this, &LiveBar::refresh);
    connect(&document.viewState(), &ViewState::deviceChanged, this, &LiveBar::refresh);
    refresh();
}

void LiveBar::setPalette(const Palette& palette)
{
    m_palette = palette;
    m_follow->setIcon(icon(QStringLiteral("follow"), palette));
    refresh();
}

QString LiveBar::stateText() const
{
    const std::int64_t behind = m_source.eventsBehind(m_document.viewState().device());
    if (!m_source.isFollowing())
        return behind == 0
            ? tr("Paused")
            : tr("Paused: %1 since").arg(text::counted(behind, tr("one event"), tr("%1 events")));
    switch (m_source.status().state) {
    case LinkState::Connecting:
        return tr("Connecting");
    case LinkState::Following:
        return tr("Live");
    case LinkState::Reconnecting:
        return tr("Reconnecting");
    case LinkState::Ended:
        return tr("Ended: all of it is here");
    case LinkState::Broken:
        return tr("Gone: all that came is here");
    }
    return {};
}

void LiveBar::refresh()
{
    const model::LiveSession::Status& status = m_source.status();
    {
        const QSignalBlocker quiet(m_follow);
        m_follow->setChecked(m_source.isFollowing());
    }
    const bool follows = m_source.isFollowing();
    m_follow->setAccessibleName(follows ? tr("Follow: on") : tr("Follow: off"));
    const Role role = !follows                  ? Role::TextMuted
        : status.state == LinkState::Following  ? Role::Good
        : status.state == LinkState::Ended      ? Role::TextMuted
        : status.state == LinkState::Connecting ? Role::TextMuted
                                                : Role::Warning;
    m_dot->setPixmap(iconPixmap(QStringLiteral("dot"), m_palette[role], 10, devicePixelRatioF()));
    m_state->setText(stateText());
    m_state->setToolTip(text::said(status.why));

    QStringList figures;
    if (status.totals && status.state == LinkState::Following) {
        const int device = m_document.viewState().device();
        const auto& devices = status.totals->devices;
        if (const auto found = std::ranges::find(devices, device, &wire::DeviceTotals::device);
            found != devices.end()) {
            if (found->requestedBytes >= 0)
                figures.append(tr("%1 requested").arg(text::bytes(found->requestedBytes)));
            if (found->reservedBytes >= 0)
                figures.append(tr("%1 reserved").arg(text::bytes(found->reservedBytes)));
        }
        if (status.totals->eventsPerSecond >= 0)
            figures.append(tr("%1 events/s").arg(text::count(status.totals->eventsPerSecond)));
    }
    m_figures->setText(figures.join(QStringLiteral(" · ")));
    m_figures->setVisible(!figures.isEmpty());
    m_save->setEnabled(m_source.latest() != nullptr);
    std::int64_t missing = 0;
    for (const wire::Gap::Missing& device : status.missing)
        missing += static_cast<std::int64_t>(device.events);
    if (status.thinned > 0) {
        m_missing->setText(tr("%1 earlier events are here as curves alone").arg(text::count(status.thinned)));
        m_missing->setToolTip(tr("How many events are kept is set in the preferences"));
        return;
    }
    m_missing->setText(missing == 0
            ? QString()
            : tr("Joined late: %1 earlier events are not here").arg(text::count(missing)));
    m_missing->setToolTip(missing == 0
            ? QString()
            : tr("The recorder keeps no file, or its memory for those that join late was full. What was "
                 "allocated then is known, but not by whom."));
}

} // namespace strata::views
