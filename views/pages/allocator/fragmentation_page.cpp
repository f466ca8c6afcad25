// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/allocator/fragmentation_page.h"

#include "model/trace/producer.h"
#include "views/models/document/shown_instant.h"
#include "views/pages/allocator/allocator_texts.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/tables/table_page.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/allocator/part_legend.h"
#include "views/widgets/allocator/segments_table.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/table_footer.h"

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QSvgGenerator>
#include <QVBoxLayout>

#include <utility>

namespace strata::views {

namespace {

constexpr int kSamples = 240;

} // namespace

FragmentationPage::FragmentationPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_sentence(new QLabel)
    , m_thrash(new QLabel)
    , m_legend(new PartLegend(PartLegend::Of::Chart))
    , m_stack(new QStackedWidget)
    , m_splitter(new QSplitter(Qt::Vertical))
    , m_chart(new FragmentationChart)
    , m_settingsState(new QLabel)
    , m_copy(new QPushButton(tr("Copy the setting")))
    , m_settings(new PlainTableView)
    , m_pinnedTitle(headingLabel({}))
    , m_pinned(new PlainTableView)
    , m_notice(new EmptyNotice)
    , m_footer(new TableFooter)
{
    setAccessibleName(title());
    for (QLabel* label : { m_sentence, m_thrash }) {
        label->setTextFormat(Qt::RichText);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    }
    m_sentence->setFont(sized(font(), kVerdictPx));
    auto* picture = new QWidget;
    auto* upper = new QVBoxLayout(picture);
    upper->setContentsMargins(0, 0, 0, 0);
    upper->setSpacing(0);
    upper->addWidget(m_legend);
    upper->addWidget(m_chart, 1);
    m_splitter->addWidget(picture);
    m_splitter->addWidget(makeSettingsPart());
    m_splitter->addWidget(makePinnedPart());
    m_splitter->setSizes({ 240, 200, 200 });
    m_splitter->setStretchFactor(0, 2);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setStretchFactor(2, 2);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setObjectName(QStringLiteral("fragmentation"));
    m_stack->addWidget(m_splitter);
    m_stack->addWidget(m_notice);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin / 2);
    layout->setSpacing(kGrid);
    layout->addWidget(m_sentence);
    layout->addWidget(m_thrash);
    layout->addWidget(m_stack, 1);
    layout->addWidget(m_footer);
    setFocusProxy(m_settings);

    m_footer->watch(&m_sampling, tr("Going through the trace"));
    follow(m_making);
    follow(m_sampling);
    ViewState& state = document.viewState();
    connect(m_chart, &FragmentationChart::hovered, this, &Page::hoverText);
    connect(m_chart, &FragmentationChart::instantChosen, this, [this](model::EventIndex event) {
        m_document.viewState().select(EventRange{ event, event });
        Q_EMIT focusChanged(Focus::onEvent(event));
    });
    connect(&state, &ViewState::selectionChanged, this, &FragmentationPage::request);
    connect(&state, &ViewState::axisChanged, this, [this] {
        m_sampled.reset();
        request();
    });
    connect(&state, &ViewState::deviceChanged, this, &FragmentationPage::showDevice);
    connect(&document, &Document::deviceReady, this, &FragmentationPage::showDevice);
    connect(&document, &Document::outlineReady, this, &FragmentationPage::showTexts);
    connect(&document, &Document::stateChanged, this, &FragmentationPage::showDevice);
    connect(&document, &Document::progressChanged, this, &FragmentationPage::showSettings);
    addPageAction(tr("Copy the Setting"), { Qt::Key_C }, [this] { copySettings(); });
    showDevice();
}

QWidget* FragmentationPage::makeSettingsPart()
{
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, kGrid, 0, kGrid / 2);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setSpacing(kMargin);
    QLabel* heading = headingLabel(tr("Other settings, by replaying this recording"));
    heading->setWordWrap(false);
    head->addWidget(heading);
    m_settingsState->setProperty("muted", true);
    head->addWidget(m_settingsState, 1);
    head->addWidget(m_copy);
    layout->addLayout(head);
    layout->addWidget(m_settings, 1);
    layout->addStretch(); // while the table is hidden
    m_settings->setAccessibleName(tr("Other settings"));
    m_copy->setToolTip(tr("Copies PYTORCH_CUDA_ALLOC_CONF=… of the selected row"));
    connect(m_copy, &QPushButton::clicked, this, &FragmentationPage::copySettings);
    connect(m_settings, &PlainTableView::sourceRowOpened, this, &FragmentationPage::copySettings);
    return part;
}

QWidget* FragmentationPage::makePinnedPart()
{
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, kGrid, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(m_pinnedTitle);
    layout->addWidget(m_pinned, 1);
    m_pinned->setAccessibleName(tr("Segments that live blocks pin"));
    connect(m_pinned, &PlainTableView::sourceRowChosen, this, [this](quint32 row) {
        const model::Pin& pin = m_picture->fragmentation.pinned[row].pins.front();
        Q_EMIT focusChanged(Focus::onBlock(pin.block, m_picture->map.event));
    });
    connect(m_pinned, &PlainTableView::sourceRowOpened, this,
        [this](quint32) { Q_EMIT openPage(QStringLiteral("allocator"), m_picture->map.event); });
    return part;
}

void FragmentationPage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    m_chart->setColours(palette);
    m_legend->setColours(palette);
    m_settings->setColours(palette);
    m_pinned->setColours(palette);
    showTexts();
}

bool FragmentationPage::busy() const
{
    return m_making.running() || m_sampling.running() || m_document.replaying();
}

void FragmentationPage::showDevice()
{
    const auto device = m_document.device();
    if (!device || (m_picture && !device->follows(*m_picture->device))) {
        m_making.cancel();
        m_sampling.cancel();
        m_picture.reset();
        m_samples.reset();
        m_sampled.reset();
        m_chart->setSamples(nullptr);
        m_settings->setSource(nullptr);
        m_pinned->setSource(nullptr);
    }
    showTexts();
    if (device)
        request();
}

void FragmentationPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (m_late)
        request();
}

void FragmentationPage::request()
{
    const auto device = m_document.device();
    if (!device)
        return;
    m_late = inBackground();
    if (m_late)
        return;
    const model::EventIndex event = shownReservedInstant(m_document);
    m_chart->setInstant(event);
    if (!m_picture || m_picture->device != device || m_picture->map.event != event || m_making.running())
        m_making.start([device, event](const JobContext&) { return mapPicture(device, event); },
            [this](std::shared_ptr<const MapPicture> picture) { show(std::move(picture)); });
    showSettings();
    // What changes once its replay is there would be made twice.
    const bool replayed = device->replay || !m_document.replaying();
    const bool sameReport = m_sampled && m_sampled->trace == device->trace && m_sampled->replay
        && device->replay && m_sampled->replay->report == device->replay->report;
    if (!replayed || sameReport || m_sampled == device || device->trace->eventCount() == 0)
        return;
    m_sampled = device;
    const model::Axis axis
        = device->timeline->clock().hasTimes() ? m_document.viewState().axis() : model::Axis::Events;
    m_sampling.start(
        [device, axis](const JobContext& context) {
            auto samples = std::make_shared<FragmentationSamples>();
            samples->device = device;
            samples->axis = axis;
            const auto instants = model::evenInstants(*device->timeline, axis, kSamples);
            samples->at = model::fragmentationOver(*device->timeline,
                device->replay ? device->replay->report.get() : nullptr, instants, context.stop());
            return std::shared_ptr<const FragmentationSamples>(std::move(samples));
        },
        [this](std::shared_ptr<const FragmentationSamples> samples) {
            m_samples = std::move(samples);
            m_chart->setSamples(m_samples);
            Q_EMIT busyChanged();
        });
    Q_EMIT busyChanged();
}

void FragmentationPage::show(std::shared_ptr<const MapPicture> picture)
{
    m_picture = std::move(picture);
    m_pinned->setSource(std::make_shared<const PinnedTable>(m_picture));
    showSettings();
    showTexts();
    Q_EMIT busyChanged();
}

void FragmentationPage::showSettings()
{
    const auto device = m_document.device();
    const auto tried = device && device->replay ? device->replay->settings : nullptr;
    if (tried && !m_settings->source())
        m_settings->setSource(std::make_shared<const SettingsTable>(tried));
    else if (!tried)
        m_settings->setSource(nullptr);
    const bool any = tried && !tried->empty();
    m_settings->setVisible(any);
    m_copy->setVisible(any);
    // Its heading alone takes no room from the tables beside it.
    QWidget* part = m_settings->parentWidget();
    part->setMaximumHeight(any ? QWIDGETSIZE_MAX : part->sizeHint().height());
    m_settingsState->setText(tried && tried->empty()
            ? text::said(model::whySettingsUntried(*device->trace, *device->replay->report))
            : tried                  ? QString()
            : m_document.replaying() ? tr("trying them…")
            : device                 ? replayText(m_document, *device)
                                     : QString());
}

void FragmentationPage::showTexts()
{
    EmptyNotice::Text text;
    if (!m_document.device())
        text = noticeWithoutDevice(m_document);
    else if (text::lacksSegments(m_document))
        text = noticeWithoutSegments();
    m_notice->setText(text);
    m_stack->setCurrentWidget(text.title.isEmpty() ? static_cast<QWidget*>(m_splitter) : m_notice);
    const bool any = m_picture && text.title.isEmpty();
    const auto& replay = any ? m_picture->device->replay : nullptr;
    const QString thrash = replay ? thrashText(*replay) : QString();
    m_sentence->setVisible(any);
    m_thrash->setVisible(!thrash.isEmpty());
    m_footer->setVisible(any);
    m_chart->parentWidget()->setVisible(!m_document.device() || m_document.device()->trace->eventCount() > 0);
    if (!any)
        return;
    m_sentence->setText(fragmentationVerdict(*m_picture));
    m_thrash->setText(thrash);
    m_footer->setText(allocatorFooter(*m_picture));
    m_pinnedTitle->setText(m_picture->fragmentation.pinned.empty()
            ? tr("No live block pins a segment")
            : tr("Segments that live blocks pin: %1 free in them")
                  .arg(text::bytes(m_picture->fragmentation.pinnedFreeBytes())));
}

void FragmentationPage::copySettings()
{
    const auto device = m_document.device();
    if (!device || !device->replay || !device->replay->settings || device->replay->settings->empty())
        return;
    const std::uint32_t row = m_settings->currentSourceRow().value_or(0);
    const QString variable = text::settingsVariable((*device->replay->settings)[row].settings,
        model::settingsVariable(model::acceleratorOf(m_document.session()->recording())));
    QApplication::clipboard()->setText(variable);
    m_footer->announce(tr("copied %1").arg(variable));
}

QString FragmentationPage::sentenceText() const
{
    return m_sentence->text();
}

const PlainTableView& FragmentationPage::activeTable() const
{
    return m_pinned->hasFocus() ? *m_pinned : *m_settings;
}

QString FragmentationPage::copyText() const
{
    return activeTable().copyText();
}

bool FragmentationPage::hasCsv() const
{
    return activeTable().source() != nullptr;
}

bool FragmentationPage::writeCsv(QIODevice& out) const
{
    return activeTable().writeCsv(out);
}

QWidget* FragmentationPage::pictureWidget()
{
    return m_samples ? static_cast<QWidget*>(m_chart) : this;
}

bool FragmentationPage::saveSvg(const QString& path)
{
    if (!m_samples)
        return false;
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(m_chart->size());
    svg.setViewBox(m_chart->rect());
    svg.setTitle(title());
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    painter.setFont(m_chart->font());
    m_chart->paintOn(painter, true);
    return painter.end();
}

QString FragmentationPage::commandLine() const
{
    const auto device = m_document.device();
    if (!device)
        return {};
    return QStringLiteral("strata fragmentation %1 %2 --device %3")
        .arg(text::shellQuoted(m_document.path()), QString::number(shownReservedInstant(m_document)),
            QString::number(device->trace->device()));
}

} // namespace strata::views
