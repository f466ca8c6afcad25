// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/picture_store.h"

#include "model/analysis/summary/groups.h"

namespace strata::views {

namespace {

PictureAnswer stackedAnswer(const PictureRequest& request, const std::stop_token& stop)
{
    const GroupData& groups = *request.subject.groups;
    auto stacked = request.known;
    if (!stacked || stacked->x != request.x || stacked->subject != request.subject) {
        auto made = std::make_shared<StackedData>();
        const DeviceData& device = *groups.device;
        const model::DeviceTimeline& timeline = *device.timeline;
        made->picture = device.trace->eventCount() == 0
            ? flatPicture(request.subject, request.x)
            : model::stackedPicture(*device.trace, timeline.clock(), timeline.requested(), timeline.live(),
                *groups.table, groups.order->groups(), request.subject.filter.get(), request.x.window(),
                stop);
        made->x = request.x;
        made->subject = request.subject;
        stacked = std::move(made);
    }
    if (stop.stop_requested() || stacked->picture.columns != request.x.columns())
        return {};
    return { { rasterizeStacked(stacked->picture, request.y, request.look), request.x, request.y }, stacked };
}

PictureAnswer blocksAnswer(const PictureRequest& request, const std::stop_token& stop)
{
    const GroupData& groups = *request.subject.groups;
    if (!groups.blocks)
        return {};
    model::BlocksWindow window;
    window.x = request.x.window();
    window.yBegin = request.y.view().begin;
    window.yEnd = request.y.view().end;
    window.rows = request.y.rows();
    const model::BlocksPicture picture = groups.blocks->picture(window, request.subject.filter.get(), stop);
    if (stop.stop_requested() || picture.columns != request.x.columns())
        return {};
    return { { rasterizeBlocks(picture, groups.device->trace->blocks(), request.y, request.look), request.x,
                 request.y },
        nullptr };
}

} // namespace

PictureAnswer makePicture(const PictureRequest& request, const std::stop_token& stop)
{
    if (!request.subject.groups || request.x.columns() <= 0 || request.y.rows() <= 0)
        return {};
    return request.mode == PictureMode::Stacked ? stackedAnswer(request, stop) : blocksAnswer(request, stop);
}

model::StackedPicture flatPicture(const PictureSubject& subject, const XMapping& x)
{
    const GroupData& groups = *subject.groups;
    const model::LiveGroups live
        = model::groupsAt(*groups.device->timeline, *groups.table, -1, subject.filter.get());
    model::StackedPicture picture;
    picture.columns = x.columns();
    const auto columns = static_cast<std::size_t>(picture.columns);
    picture.event.assign(columns, -1);
    const std::int64_t total = groups.device->timeline->requested().at(-1);
    picture.total.assign(columns, total);
    using Kind = model::StackedPicture::Layer::Kind;
    std::vector<std::int64_t> bytesOf(groups.table->count(), 0);
    for (const model::GroupSum& sum : live.groups)
        bytesOf[sum.group] = sum.bytes;
    const auto layer = [&](Kind kind, std::uint32_t group, std::int64_t bytes) {
        if (bytes <= 0)
            return;
        picture.layers.push_back({ group, kind });
        picture.bytes.insert(picture.bytes.end(), columns, bytes);
    };
    std::int64_t rest = live.requestedBytes;
    const std::vector<std::uint32_t>& order = groups.order->groups();
    for (const std::uint32_t group :
        std::span(order).first(std::min(order.size(), std::size_t{ model::kStackedGroups }))) {
        layer(Kind::Group, group, bytesOf[group]);
        rest -= bytesOf[group];
    }
    constexpr std::uint32_t kNone = model::StackedPicture::Layer{}.group;
    layer(Kind::Other, kNone, rest);
    layer(Kind::FilteredOut, kNone, total - live.requestedBytes);
    return picture;
}

PictureStore::PictureStore(QObject* parent)
    : QObject(parent)
{
    for (BackgroundJob* job : { &m_view, &m_whole }) {
        connect(job, &BackgroundJob::runningChanged, this, &PictureStore::busyChanged);
        connect(job, &BackgroundJob::failed, this, &PictureStore::failed);
    }
}

void PictureStore::setSubject(PictureSubject subject)
{
    if (subject == m_subject)
        return;
    // Another filter or grouping of the same device shows the old picture until the new one is there.
    const bool sameDevice = m_subject.groups && subject.groups
        && m_subject.groups->device->trace == subject.groups->device->trace;
    m_subject = std::move(subject);
    m_view.cancel();
    m_whole.cancel();
    m_stacked.reset();
    ++m_lookNumber;
    if (!sameDevice)
        m_slots = {};
    m_detailed = false;
    start();
}

void PictureStore::goOn(PictureSubject subject, const RasterLook& look)
{
    m_subject = std::move(subject);
    m_look = look;
    if (m_stacked && !tells(*m_stacked))
        m_stacked.reset();
    ++m_lookNumber;
    m_detailed = false; // want() comes next
}

/// Whether its layers are groups of what is shown.
bool PictureStore::tells(const StackedData& stacked) const
{
    return m_subject.groups && stacked.subject.groups->table->sharesGroups(*m_subject.groups->table);
}

void PictureStore::setLook(const RasterLook& look)
{
    m_look = look;
    ++m_lookNumber;
    m_detailed = false;
    start();
}

void PictureStore::want(PictureMode mode, const XMapping& x, const YMapping& y, Span wholeX, Span wholeY)
{
    m_wholeX = wholeX;
    m_wholeY = wholeY;
    if (mode == m_mode && x == m_x && y == m_y
        && (m_detailed || (m_view.running() && m_started == m_lookNumber)))
        return;
    m_mode = mode;
    m_x = x;
    m_y = y;
    m_detailed = false;
    start();
}

void PictureStore::start()
{
    if (!m_subject.groups || m_x.columns() <= 0 || m_y.rows() <= 0)
        return;
    if (m_mode == PictureMode::Blocks && !m_subject.groups->blocks)
        return;
    PictureRequest request{ m_subject, m_mode, m_x, m_y, m_look, m_stacked };
    m_view.start([request](const JobContext& context) { return makePicture(request, context.stop()); },
        [this, request, look = m_lookNumber](const PictureAnswer& answer) { took(request, answer, look); });
    m_started = m_lookNumber;
    m_whole.cancel(); // of what was wanted before
}

void PictureStore::took(const PictureRequest& request, const PictureAnswer& answer, std::uint64_t look)
{
    if (answer.picture.isNull())
        return;
    Slot& target = slot(request.mode);
    target.latest = answer.picture;
    if (answer.stacked && tells(*answer.stacked))
        m_stacked = answer.stacked;
    m_detailed = request.mode == m_mode && request.x == m_x && request.y == m_y && look == m_lookNumber;
    if (request.x.view() == m_wholeX && request.y.view() == m_wholeY) {
        target.overview = answer.picture;
        target.overviewLook = look;
    }
    Q_EMIT updated();
    if (m_detailed && slot(m_mode).overviewLook != m_lookNumber)
        startOverview();
}

void PictureStore::startOverview()
{
    PictureRequest request{ m_subject, m_mode, XMapping(m_x.axis(), m_wholeX, m_x.columns()),
        YMapping(m_wholeY, m_y.rows()), m_look, nullptr };
    m_whole.start([request](const JobContext& context) { return makePicture(request, context.stop()); },
        [this, mode = request.mode, look = m_lookNumber](const PictureAnswer& answer) {
            if (answer.picture.isNull())
                return;
            slot(mode).overview = answer.picture;
            slot(mode).overviewLook = look;
            if (!m_detailed) // else nothing of it shows
                Q_EMIT updated();
        });
}

} // namespace strata::views
