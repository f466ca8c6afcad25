// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/document_bar.h"

#include "views/contents/document/document_view.h"
#include "views/contents/document/filter_bar.h"
#include "views/contents/search/search_box.h"
#include "views/style/icons.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QAction>
#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QToolButton>

namespace strata::views {

DocumentBar::DocumentBar(Finder& finder, const Actions& actions, QWidget* parent)
    : QWidget(parent)
    , m_devices(new QComboBox)
    , m_events(new QToolButton)
    , m_time(new QToolButton)
    , m_filters(new FilterBar)
    , m_search(new SearchBox(finder))
    , m_previous(new QToolButton)
    , m_next(new QToolButton)
    , m_details(new QToolButton)
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid);
    m_devices->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_devices->setMinimumContentsLength(6);
    m_devices->setAccessibleName(tr("Device"));
    m_devices->setToolTip(tr("The device that all pages show"));
    connect(m_devices, &QComboBox::activated, this, [this](int row) {
        if (m_document)
            m_document->viewState().setDevice(m_devices->itemData(row).toInt());
    });
    layout->addWidget(m_devices);

    layout->addWidget(m_axis = makeAxisSwitch());
    layout->addWidget(m_filters, 1);
    layout->addWidget(m_search);
    const std::pair<QToolButton*, QAction*> buttons[] = { { m_previous, actions.previousHit },
        { m_next, actions.nextHit }, { m_details, actions.details } };
    for (const auto& [button, action] : buttons) {
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonIconOnly);
        button->setFocusPolicy(Qt::TabFocus);
        layout->addWidget(button);
    }
}

QWidget* DocumentBar::makeAxisSwitch()
{
    auto* axis = new QWidget;
    axis->setObjectName(QStringLiteral("segmented"));
    axis->setAccessibleName(tr("Horizontal axis"));
    auto* row = new QHBoxLayout(axis);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    auto* group = new QButtonGroup(axis);
    m_events->setText(tr("Events"));
    m_events->setProperty("place", QStringLiteral("first"));
    m_events->setToolTip(tr("One step per event (T)"));
    m_time->setText(tr("Time"));
    m_time->setProperty("place", QStringLiteral("last"));
    for (QToolButton* button : { m_events, m_time }) {
        button->setCheckable(true);
        button->setFocusPolicy(Qt::TabFocus);
        group->addButton(button, button == m_events ? 0 : 1);
        row->addWidget(button);
    }
    connect(group, &QButtonGroup::idClicked, this, [this](int id) {
        if (m_document)
            m_document->viewState().setAxis(id == 0 ? model::Axis::Events : model::Axis::Time);
    });
    return axis;
}

void DocumentBar::setView(DocumentView* view)
{
    Document* document = view ? &view->document() : nullptr;
    if (m_document) {
        disconnect(m_document, nullptr, this, nullptr);
        disconnect(&m_document->viewState(), nullptr, this, nullptr);
    }
    if (m_view)
        disconnect(m_view, nullptr, this, nullptr);
    m_view = view;
    m_document = document;
    m_filters->setDocument(document);
    m_search->setView(view);
    if (!document)
        return;
    const ViewState& state = document->viewState();
    connect(document, &Document::deviceReady, this, &DocumentBar::showState);
    connect(document, &Document::grown, this, &DocumentBar::fillDevices);
    connect(&state, &ViewState::deviceChanged, this, &DocumentBar::showState);
    connect(&state, &ViewState::axisChanged, this, &DocumentBar::showState);
    connect(view, &DocumentView::currentPageChanged, this, &DocumentBar::showReach);
    fillDevices();
    showState();
    showReach();
}

void DocumentBar::setPalette(const Palette& palette)
{
    m_filters->setPalette(palette);
    m_search->setPalette(palette);
    m_details->defaultAction()->setIcon(icon(QStringLiteral("details"), palette));
    m_previous->defaultAction()->setIcon(icon(QStringLiteral("up"), palette));
    m_next->defaultAction()->setIcon(icon(QStringLiteral("down"), palette));
}

void DocumentBar::fillDevices()
{
    const QSignalBlocker blocker(m_devices);
    const std::vector<DeviceBrief> devices = m_document->devices();
    const auto has = [this](int row, const DeviceBrief& device) {
        return row < m_devices->count() && m_devices->itemData(row) == device.device;
    };
    bool same = m_devices->count() == static_cast<int>(devices.size());
    for (std::size_t i = 0; i < devices.size() && same; ++i)
        same = has(static_cast<int>(i), devices[i]);
    if (!same) { // else it may be open
        m_devices->clear();
        for (const DeviceBrief& device : devices)
            m_devices->addItem(tr("GPU %1").arg(device.device), device.device);
        m_devices->setCurrentIndex(m_devices->findData(m_document->viewState().device()));
    }
    for (std::size_t i = 0; i < devices.size(); ++i)
        m_devices->setItemData(static_cast<int>(i),
            tr("reserved peak %1, %2 events")
                .arg(text::bytes(devices[i].totals->reservedBytesPeak),
                    text::count(devices[i].totals->events)),
            Qt::ToolTipRole);
    m_devices->setEnabled(m_devices->count() > 1);
}

void DocumentBar::showReach()
{
    const Page* page = m_view->currentPage();
    m_filters->setMuted(page && page->filterReach() == Page::FilterReach::Nothing);
}

void DocumentBar::showState()
{
    const ViewState& state = m_document->viewState();
    const auto device = m_document->device();
    const bool hasTimes = !device || device->timeline->clock().hasTimes();
    m_devices->setCurrentIndex(m_devices->findData(state.device()));
    const bool hasDevices = !m_document->recording() || !m_document->devices().empty();
    m_devices->setVisible(hasDevices);
    m_axis->setVisible(hasDevices);
    (state.axis() == model::Axis::Time ? m_time : m_events)->setChecked(true);
    m_time->setEnabled(hasTimes);
    m_time->setToolTip(
        hasTimes ? tr("True to time (T)") : tr("This recording has no times: PyTorch writes them since 2.2"));
}

} // namespace strata::views
