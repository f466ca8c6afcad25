// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/allocator/allocator_page.h"

#include "views/models/document/shown_instant.h"
#include "views/pages/allocator/allocator_texts.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/tables/table_page.h"
#include "views/style/icons.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/allocator/part_legend.h"
#include "views/widgets/allocator/segments_table.h"
#include "views/widgets/flow_layout.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/segmented.h"
#include "views/widgets/table_footer.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QSvgGenerator>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr int kPlayMs = 50;
constexpr model::EventIndex kPlaySteps = 400; // through the whole trace

} // namespace

AllocatorPage::AllocatorPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_sentence(new QLabel)
    , m_search(new QLineEdit)
    , m_found(new QLabel)
    , m_legend(new PartLegend(PartLegend::Of::Map))
    , m_stack(new QStackedWidget)
    , m_splitter(new QSplitter(Qt::Vertical))
    , m_map(new AddressMap)
    , m_table(new PlainTableView)
    , m_notice(new EmptyNotice)
    , m_footer(new TableFooter)
{
    setAccessibleName(title());
    m_sentence->setFont(sized(font(), kVerdictPx));
    m_sentence->setTextFormat(Qt::RichText);
    m_sentence->setWordWrap(true);
    m_sentence->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    m_table->setAccessibleName(tr("Segments"));
    m_controls = makeControls();
    m_splitter->addWidget(m_map);
    m_splitter->addWidget(m_table);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setSizes({ 420, 180 });
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setObjectName(QStringLiteral("allocator"));
    m_stack->addWidget(m_splitter);
    m_stack->addWidget(m_notice);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin / 2);
    layout->setSpacing(kGrid);
    layout->addWidget(m_sentence);
    layout->addWidget(m_controls);
    layout->addWidget(m_legend);
    layout->addWidget(m_stack, 1);
    layout->addWidget(m_footer);
    setFocusProxy(m_map);

    m_footer->watch(&m_making, tr("Laying out addresses"));
    follow(m_making);
    m_player.setInterval(kPlayMs);
    connect(&m_player, &QTimer::timeout, this, &AllocatorPage::playOn);

    connect(m_map, &AddressMap::hovered, this, &Page::hoverText);
    connect(m_map, &AddressMap::chosenByUser, this, [this](const MapHit& hit) {
        m_table->setCurrentSourceRow(hit.row);
        chosen(hit);
    });
    connect(m_table, &PlainTableView::sourceRowChosen, this, [this](quint32 row) {
        m_map->setChosen(MapHit{ row, std::nullopt });
        m_map->reveal(row);
    });
    ViewState& state = document.viewState();
    connect(&state, &ViewState::selectionChanged, this, &AllocatorPage::request);
    connect(&state, &ViewState::deviceChanged, this, &AllocatorPage::showDevice);
    connect(&document, &Document::deviceReady, this, &AllocatorPage::showDevice);
    connect(&document, &Document::outlineReady, this, &AllocatorPage::showNotice);
    connect(&document, &Document::stateChanged, this, &AllocatorPage::showDevice);
    makeActions();
    showDevice();
}

QWidget* AllocatorPage::makeControls()
{
    m_scale = new Segmented(tr("Scale"),
        { { tr("To scale"), tr("Equal bytes are equally wide; long segments go on in the next line") },
            { tr("Normalised"), tr("Every segment is one line, as wide as the picture") } });
    connect(m_scale, &Segmented::changed, this, [this](int index) { setNormalised(index == 1); });
    m_play = new QPushButton;
    m_play->setCheckable(true);
    m_play->setProperty("beside", true);
    m_play->setText(tr("Play"));
    m_play->setToolTip(tr("Steps on through the events (Left and Right: by one)"));
    connect(m_play, &QPushButton::toggled, this, &AllocatorPage::play);
    m_search->setPlaceholderText(tr("Go to an address"));
    m_search->setAccessibleName(tr("Go to an address"));
    m_search->setClearButtonEnabled(true);
    m_search->setAcceptDrops(false);
    m_search->setFixedWidth(176);
    m_found->setProperty("muted", true);
    connect(m_search, &QLineEdit::textChanged, m_found, &QLabel::clear);
    connect(m_search, &QLineEdit::returnPressed, this, [this] {
        m_found->setText(findAddress(m_search->text()) ? QString() : tr("nothing is reserved there"));
    });

    auto* controls = new QWidget;
    auto* row = new FlowLayout(controls);
    row->setSpacings(kMargin, kGrid);
    row->addWidget(m_scale);
    row->addWidget(m_play);
    row->addWidget(m_search);
    row->addWidget(m_found);
    return controls;
}

void AllocatorPage::makeActions()
{
    addPageAction(tr("Normalise Segments"), { Qt::Key_S }, [this] { setNormalised(!m_map->normalised()); });
    addPageAction(tr("Play or Pause"), { Qt::Key_Space }, [this] { play(!playing()); });
    addPageAction(tr("Go to an Address"), { Qt::Key_G }, [this] { m_search->setFocus(); });
    addPageAction(tr("Zoom In"), { Qt::Key_Plus, Qt::Key_Equal }, [this] { m_map->zoomBy(2); });
    addPageAction(tr("Zoom Out"), { Qt::Key_Minus }, [this] { m_map->zoomBy(0.5); });
}

void AllocatorPage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    m_map->setColours(palette);
    m_table->setColours(palette);
    m_legend->setColours(palette);
    if (m_picture)
        m_sentence->setText(sentence());
}

void AllocatorPage::setNormalised(bool on)
{
    m_scale->choose(on ? 1 : 0);
    m_map->setNormalised(on);
}

bool AllocatorPage::busy() const
{
    return m_making.running() || m_document.replaying();
}

void AllocatorPage::showDevice()
{
    const auto device = m_document.device();
    if (!device || (m_picture && !device->follows(*m_picture->device))) {
        m_making.cancel();
        play(false);
        m_picture.reset();
        m_map->setPicture(nullptr);
        m_table->setSource(nullptr);
    }
    showNotice();
    if (device)
        request();
}

void AllocatorPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (m_late)
        request();
}

void AllocatorPage::hideEvent(QHideEvent* event)
{
    Page::hideEvent(event);
    play(false);
}

void AllocatorPage::request()
{
    const auto device = m_document.device();
    if (!device)
        return;
    m_late = inBackground();
    if (m_late)
        return;
    const model::EventIndex event = shownInstant(m_document);
    if (m_picture && m_picture->device == device && m_picture->map.event == event && !m_making.running())
        return;
    m_making.start([device, event](const JobContext&) { return mapPicture(device, event); },
        [this](std::shared_ptr<const MapPicture> picture) { show(std::move(picture)); });
    Q_EMIT busyChanged();
}

void AllocatorPage::show(std::shared_ptr<const MapPicture> picture)
{
    m_picture = std::move(picture);
    m_map->setPicture(m_picture);
    m_table->setSource(std::make_shared<const SegmentsTable>(m_picture));
    showNotice();
    if (m_focus.kind == Focus::Kind::Block)
        showFocus(m_focus);
    else if (m_picture->refused && m_picture->refused->hole)
        m_map->reveal(m_picture->refused->row, m_picture->refused->hole, true);
    Q_EMIT busyChanged();
}

void AllocatorPage::showNotice()
{
    EmptyNotice::Text text;
    if (!m_document.device())
        text = noticeWithoutDevice(m_document);
    else if (text::lacksSegments(m_document))
        text = noticeWithoutSegments();
    else if (m_picture && m_picture->rows.empty())
        text = { tr("Nothing is reserved at this instant"),
            tr("PyTorch holds no segment of the device. Go to the peak with P, or step on with the arrow "
               "keys."),
            {}, {} };
    m_notice->setText(text);
    m_stack->setCurrentWidget(text.title.isEmpty() ? static_cast<QWidget*>(m_splitter) : m_notice);
    const bool any = m_picture != nullptr && m_document.device() != nullptr;
    for (QWidget* part : { static_cast<QWidget*>(m_sentence), m_controls, static_cast<QWidget*>(m_legend),
             static_cast<QWidget*>(m_footer) })
        part->setVisible(any);
    if (!any)
        return;
    m_sentence->setText(sentence());
    m_footer->setText(allocatorFooter(*m_picture));
}

QString AllocatorPage::sentence() const
{
    return allocatorVerdict(*m_picture);
}

QString AllocatorPage::sentenceText() const
{
    return m_sentence->text();
}

void AllocatorPage::chosen(const MapHit& hit)
{
    if (!hit.block || m_picture->map.blocks[*hit.block].isFree())
        return;
    m_focus = Focus::onBlock(m_picture->map.blocks[*hit.block].block, m_picture->map.event);
    Q_EMIT focusChanged(m_focus);
}

void AllocatorPage::showFocus(const Focus& focus)
{
    m_focus = focus;
    if (!m_picture || focus.kind != Focus::Kind::Block || !focus.block.valid())
        return m_map->setChosen(std::nullopt);
    const model::BlockColumns& blocks = m_picture->device->trace->blocks();
    if (!blocks.contains(focus.block) || !blocks.liveAt(focus.block, m_picture->map.event))
        return m_map->setChosen(std::nullopt);
    const std::uint64_t address = blocks.address[focus.block];
    if (const auto row = m_picture->rowAt(address)) {
        m_map->setChosen(MapHit{ *row, m_picture->blockAt(address) });
        m_map->reveal(*row, m_picture->blockAt(address));
        m_table->setCurrentSourceRow(*row);
    }
}

bool AllocatorPage::findAddress(const QString& text)
{
    bool ok = false;
    const QString trimmed = text.trimmed();
    const qulonglong address = trimmed.startsWith(QLatin1String("0x"), Qt::CaseInsensitive)
        ? trimmed.mid(2).toULongLong(&ok, 16)
        : trimmed.toULongLong(&ok, 16);
    const auto row = ok && m_picture ? m_picture->rowAt(address) : std::nullopt;
    if (!row)
        return false;
    const MapHit hit{ *row, m_picture->blockAt(address) };
    m_map->setChosen(hit);
    m_map->reveal(hit.row, hit.block);
    m_table->setCurrentSourceRow(hit.row);
    chosen(hit);
    return true;
}

void AllocatorPage::play(bool on)
{
    if (on && (!m_document.device() || m_document.device()->trace->eventCount() == 0))
        on = false;
    m_play->setChecked(on);
    m_play->setText(on ? tr("Pause") : tr("Play"));
    if (on == m_player.isActive())
        return;
    if (!on)
        return m_player.stop();
    // From the begin where the end is shown.
    if (shownInstant(m_document) + 1 >= m_document.device()->trace->eventCount())
        m_document.viewState().select(EventRange{ 0, 0 });
    m_player.start();
}

void AllocatorPage::playOn()
{
    const auto device = m_document.device();
    if (!device || m_making.running())
        return; // the eye cannot be faster
    const model::EventIndex last = device->trace->eventCount() - 1;
    const model::EventIndex next = std::min(last,
        shownInstant(m_document) + std::max<model::EventIndex>(1, device->trace->eventCount() / kPlaySteps));
    m_document.viewState().select(EventRange{ next, next });
    if (next == last)
        play(false);
}

QString AllocatorPage::commandLine() const
{
    const auto device = m_document.device();
    if (!device)
        return {};
    return QStringLiteral("strata state %1 %2 --device %3")
        .arg(text::shellQuoted(m_document.path()), QString::number(shownInstant(m_document)),
            QString::number(device->trace->device()));
}

QString AllocatorPage::copyText() const
{
    if (m_map->hasFocus() && m_map->chosen())
        return m_map->describe(*m_map->chosen()).join(QLatin1Char('\n')) + QLatin1Char('\n');
    return m_table->copyText();
}

bool AllocatorPage::hasCsv() const
{
    return m_picture && !m_picture->rows.empty();
}

bool AllocatorPage::writeCsv(QIODevice& out) const
{
    return m_table->writeCsv(out);
}

QWidget* AllocatorPage::pictureWidget()
{
    return hasCsv() ? static_cast<QWidget*>(m_map) : this;
}

bool AllocatorPage::saveSvg(const QString& path)
{
    if (!hasCsv())
        return false;
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(m_map->fullSize());
    svg.setViewBox(QRect(QPoint(0, 0), m_map->fullSize()));
    svg.setTitle(title());
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    painter.setFont(m_map->font());
    m_map->paintVectors(painter);
    return painter.end();
}

} // namespace strata::views
