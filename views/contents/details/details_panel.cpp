// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/details/details_panel.h"

#include "model/trace/work.h"
#include "views/contents/details/stack_list.h"
#include "views/models/document/shown_instant.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/filter_text.h"
#include "views/pages/parts/kept_view.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace strata::views {

namespace {

/// So long after the last choice, since new labels take a frame's time: a held arrow key repeats every 30 ms
/// and must not stumble over them.
constexpr int kSettleMs = 45;

/// A link in line with the texts above and below it.
QPushButton* edgeLink(const QString& text)
{
    QPushButton* button = linkButton(text);
    button->setProperty("atEdge", true);
    return button;
}

} // namespace

DetailsPanel::DetailsPanel(Document& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_layout(new QVBoxLayout(this))
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setFocusPolicy(Qt::ClickFocus);
    setAccessibleName(tr("Details"));
    setMinimumWidth(scaled(264.0, font()));
    m_layout->setContentsMargins(0, 0, 0, 0);
    const ViewState& state = document.viewState();
    connect(&state, &ViewState::deviceChanged, this, [this] { setFocusShown({}); });
    // Bytes of a group are those of the instant.
    connect(&state, &ViewState::selectionChanged, this, [this] {
        if (m_focus.kind == Focus::Kind::Group)
            refresh();
    });
    connect(&document, &Document::outlineReady, this, &DetailsPanel::refresh);
    connect(&document, &Document::deviceReady, this, &DetailsPanel::goOn);
    connect(&document, &Document::stateChanged, this, [this] {
        if (m_details.empty()) // what it says then is of what is open
            m_rebuildLater.start();
    });
    m_rebuildLater.setSingleShot(true);
    m_rebuildLater.setInterval(kSettleMs);
    connect(&m_rebuildLater, &QTimer::timeout, this, &DetailsPanel::rebuild);
    rebuild();
}

void DetailsPanel::setFocusShown(const Focus& focus)
{
    if (focus == m_focus)
        return;
    m_focus = focus;
    m_folded = true;
    refresh();
}

void DetailsPanel::setPalette(const Palette& palette)
{
    m_palette = palette;
    rebuild();
}

model::EventIndex DetailsPanel::instant(const DeviceData& device) const
{
    return shownInstant(device, m_document.viewState().selection());
}

void DetailsPanel::refresh()
{
    m_refreshing.cancel();
    m_shown = m_document.device();
    m_details = m_focus.kind == Focus::Kind::Work ? detailsOf(*m_focus.work)
        : m_shown                                 ? detailsOf(*m_shown, m_focus, instant(*m_shown))
                                                  : Details();
    m_rebuildLater.start();
}

/// The device is there, or has more than before. A newer generation may tell more of what is shown.
void DetailsPanel::goOn()
{
    const auto device = m_document.device();
    if (!device || !m_shown || !device->follows(*m_shown) || m_details.empty()) {
        if (m_details.empty())
            refresh();
        return;
    }
    if (device->trace == m_shown->trace && device->labels() == m_shown->labels())
        return;
    struct Told {
        Focus focus;
        Details details;
    };
    m_refreshing.start(
        [device, before = m_shown, focus = m_focus, at = instant(*device)](const JobContext&) {
            Told told{ focus, {} };
            if (focus.kind == Focus::Kind::Block)
                told.focus.block = device->trace->sameBlock(*before->trace, focus.block);
            told.details = detailsOf(*device, told.focus, at);
            return told;
        },
        [this, device, asked = m_focus](Told told) {
            if (m_focus != asked)
                return; // something else was chosen meanwhile
            if (m_built == m_focus)
                m_built = told.focus;
            m_focus = told.focus;
            m_shown = device;
            if (m_details == told.details)
                return;
            m_details = std::move(told.details);
            m_rebuildLater.start();
        });
}

void DetailsPanel::rebuild()
{
    m_rebuildLater.stop();
    const KeptView kept(m_content, m_built == m_focus);
    m_built = m_focus;
    if (m_content) {
        if (kept.hasFocus())
            setFocus(Qt::OtherFocusReason); // or the next in the window takes it
        m_content->hide();
        m_content->deleteLater(); // a button of it may be the sender
    }
    auto* inner = new QWidget;
    auto* layout = new QVBoxLayout(inner);
    layout->setContentsMargins(kMargin, kGrid, kMargin, kMargin);
    layout->setSpacing(kMargin);
    if (m_details.empty()) {
        layout->addWidget(textLabel(m_document.hasOutline() && !m_document.device()
                ? tr("Details are there once the whole file is read.")
                : m_document.recording() && m_document.devices().empty()
                ? tr("Click a piece of work to see what it is, how long it took and what launched it.")
                : m_document.recording() && m_document.recording()->parts.find<model::Work>()
                ? tr("Click a piece of work, a block, an event or a line of code to see what it is, where it "
                     "comes "
                     "from and when it was.")
                : tr("Click a block, an event or a line of code to see what it is, who allocated it "
                     "and when it lived."),
            true));
    } else {
        addHead(*layout);
        addRows(*layout, {}, m_details.size);
        addStack(*layout);
        addRows(*layout, tr("When"), m_details.life);
        addRows(*layout, tr("What for"), m_details.purpose);
        addRows(*layout, tr("Where"), m_details.place);
        addRows(*layout, tr("Recorded with it"), m_details.recorded);
        addActions(*layout);
    }
    layout->addStretch();

    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(inner);
    inner->setAutoFillBackground(false);
    scroll->viewport()->setAutoFillBackground(false);
    m_content = scroll;
    m_layout->addWidget(scroll);
    scroll->show(); // now, for the keyboard
    kept.restore(*scroll);
}

void DetailsPanel::addHead(QVBoxLayout& layout)
{
    auto* head = new QVBoxLayout;
    head->setSpacing(2);
    head->addWidget(captionLabel(m_details.kind));
    const bool folder = !m_details.shortTitle.isEmpty();
    head->addWidget(headingLabel(folder ? m_details.shortTitle : m_details.title, kVerdictPx));
    if (folder)
        head->addWidget(captionLabel(m_details.title));
    layout.addLayout(head);
}

void DetailsPanel::addRows(QVBoxLayout& layout, const QString& heading, const std::vector<DetailsRow>& rows)
{
    if (rows.empty())
        return;
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(kGrid);
    grid->setVerticalSpacing(kGrid / 2);
    grid->setColumnMinimumWidth(0, scaled(72.0, font()));
    grid->setColumnStretch(1, 1);
    int line = 0;
    if (!heading.isEmpty())
        grid->addWidget(captionLabel(heading), line++, 0, 1, 2);
    const QFont numbers = numberFont(font());
    for (const DetailsRow& row : rows) {
        grid->addWidget(textLabel(row.label, true), line, 0, Qt::AlignTop);
        if (row.event) {
            QPushButton* button = edgeLink(row.value);
            button->setFont(numbers);
            button->setToolTip(tr("Show this instant"));
            connect(button, &QPushButton::clicked, this,
                [this, event = *row.event] { Q_EMIT eventChosen(event); });
            grid->addWidget(button, line, 1, Qt::AlignLeft);
        } else {
            auto* values = new QVBoxLayout;
            values->setSpacing(0);
            QLabel* value = textLabel(row.value);
            value->setFont(numbers);
            values->addWidget(value);
            if (!row.exact.isEmpty() && row.exact != row.value) {
                QLabel* exact = textLabel(row.exact, true);
                exact->setFont(sized(numbers, kAxisPx));
                values->addWidget(exact);
            }
            grid->addLayout(values, line, 1);
        }
        ++line;
    }
    layout.addLayout(grid);
}

void DetailsPanel::addStack(QVBoxLayout& layout)
{
    if (m_details.frameHeading.isEmpty())
        return;
    auto* part = new QVBoxLayout;
    part->setSpacing(kGrid / 2);
    part->addWidget(captionLabel(m_details.frameHeading));
    if (m_details.frames.empty()) {
        part->addWidget(textLabel(m_details.noFrames, true));
        layout.addLayout(part);
        return;
    }
    auto* stack = new StackList;
    stack->show(m_details.frames, m_folded, m_palette);
    connect(stack, &StackList::openFrame, this, &DetailsPanel::openFrame);
    connect(stack, &StackList::filterByLine, this, [this](const QString& line) {
        model::BlockFilter filter = m_document.viewState().filter();
        filter.line = line.toStdString();
        m_document.viewState().setFilter(filter);
    });
    part->addWidget(stack);
    if (const int hidden = StackList::foldable(m_details.frames); hidden > 0) {
        QPushButton* fold = edgeLink(foldText(hidden));
        connect(fold, &QPushButton::clicked, this, [this, stack, fold, hidden] {
            m_folded = !m_folded;
            stack->show(m_details.frames, m_folded, m_palette);
            fold->setText(foldText(hidden));
        });
        part->addWidget(fold);
    }
    layout.addLayout(part);
}

QString DetailsPanel::foldText(int hidden) const
{
    return m_folded ? tr("Show %n framework frame(s)", nullptr, hidden)
                    : tr("Hide %n framework frame(s)", nullptr, hidden);
}

void DetailsPanel::addActions(QVBoxLayout& layout)
{
    auto* part = new QVBoxLayout;
    part->setSpacing(0);
    if (!m_details.frames.empty()) {
        QPushButton* copy = edgeLink(tr("Copy the stack"));
        connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(stackText(m_details)); });
        part->addWidget(copy);
    }
    const auto shown = m_document.device();
    if (m_focus.kind == Focus::Kind::Block && shown && shown->trace->blocks().contains(m_focus.block)
        && shown->trace->events().hasTimes() && text::holdsWork(m_document)) {
        QPushButton* ran = edgeLink(tr("What ran while it lived"));
        connect(
            ran, &QPushButton::clicked, this, [this, birth = shown->trace->blocks().birth(m_focus.block)] {
                Q_EMIT openPage(QStringLiteral("timeline"), birth);
            });
        part->addWidget(ran);
    }
    for (const model::GroupingInfo& info : model::allGroupings()) {
        const model::Grouping grouping = info.grouping;
        if (m_focus.kind == Focus::Kind::Group && grouping != m_focus.grouping)
            continue;
        const auto device = m_document.device();
        if (!device || !filterBy(m_document.viewState().filter(), *device, m_focus, grouping))
            continue;
        QPushButton* button = edgeLink(text::said(info.narrower));
        connect(button, &QPushButton::clicked, this, [this, wanted = grouping] {
            const auto now = m_document.device();
            if (const auto filter
                = now ? filterBy(m_document.viewState().filter(), *now, m_focus, wanted) : std::nullopt)
                m_document.viewState().setFilter(*filter);
        });
        part->addWidget(button);
    }
    layout.addLayout(part);
}

} // namespace strata::views
