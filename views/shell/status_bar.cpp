// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/status_bar.h"

#include "views/pages/findings_list.h"
#include "views/pages/icons.h"
#include "views/pages/texts.h"
#include "views/pages/type.h"
#include "views/shell/loading_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QScreen>
#include <QScrollArea>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

namespace {

constexpr int kFlashMs = 4000;
constexpr int kWholePermille = 1000;

} // namespace

StatusBar::StatusBar(QWidget* parent)
    : QWidget(parent)
    , m_text(new QLabel)
    , m_work(new QLabel)
    , m_bar(new QProgressBar)
    , m_cancel(new QToolButton)
    , m_integrity(new QToolButton)
    , m_simulated(new QLabel(tr("simulated device")))
    , m_size(new QLabel)
{
    setObjectName(QStringLiteral("statusBar"));
    setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(kMargin, 2, kMargin, 2);
    row->setSpacing(kMargin);
    m_text->setFont(numberFont(font()));
    m_text->setTextFormat(Qt::PlainText);
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_text->setMinimumHeight(kRowHeight);
    row->addWidget(m_text, 1);

    m_bar->setTextVisible(false);
    m_bar->setRange(0, 0);
    m_bar->setFixedWidth(96);
    m_bar->setAccessibleName(tr("Background work"));
    m_cancel->setToolTip(tr("Cancel the background work"));
    m_cancel->setAccessibleName(tr("Cancel the background work"));
    m_cancel->setIconSize(QSize(14, 14));
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        if (m_document)
            m_document->cancel();
    });
    m_integrity->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_integrity->setFocusPolicy(Qt::TabFocus);
    m_integrity->setIconSize(QSize(16, 16));
    m_integrity->setToolTip(tr("How far the figures can be trusted; a click lists breaches and notes"));
    connect(m_integrity, &QToolButton::clicked, this, &StatusBar::showFindings);
    m_simulated->setToolTip(tr("Recorded on a simulated device: sizes and order are real, times are not"));
    m_size->setFont(numberFont(font()));
    for (QWidget* part :
        std::initializer_list<QWidget*>{ m_work, m_bar, m_cancel, m_integrity, m_simulated, m_size })
        row->addWidget(part);
    setDocument(nullptr);
}

void StatusBar::setDocument(Document* document)
{
    if (m_document) {
        disconnect(m_document, nullptr, this, nullptr);
        disconnect(&m_document->viewState(), nullptr, this, nullptr);
    }
    m_document = document;
    m_hover.clear();
    if (document) {
        connect(document, &Document::progressChanged, this, &StatusBar::refresh);
        connect(document, &Document::stateChanged, this, &StatusBar::refresh);
        connect(document, &Document::deviceReady, this, &StatusBar::refresh);
        const ViewState& state = document->viewState();
        connect(&state, &ViewState::selectionChanged, this, &StatusBar::refreshText);
        connect(&state, &ViewState::deviceChanged, this, &StatusBar::refreshText);
    }
    refresh();
}

void StatusBar::setPalette(const Palette& palette)
{
    m_palette = palette;
    m_cancel->setIcon(icon(QStringLiteral("close"), palette));
    refresh();
}

void StatusBar::setHover(const QString& text)
{
    m_hover = text;
    refreshText();
}

void StatusBar::flash(const QString& text)
{
    m_flash = text;
    refreshText();
    QTimer::singleShot(kFlashMs, this, [this, text] {
        if (m_flash == text) {
            m_flash.clear();
            refreshText();
        }
    });
}

QString StatusBar::text() const
{
    return m_text->text();
}

void StatusBar::refresh()
{
    const model::Recording* const recording = m_document ? m_document->recording() : nullptr;
    m_integrity->setVisible(recording != nullptr);
    m_size->setVisible(recording != nullptr);
    m_simulated->setVisible(recording && recording->simulated);
    const bool working = m_document && m_document->working();
    for (QWidget* part : std::initializer_list<QWidget*>{ m_work, m_bar, m_cancel })
        part->setVisible(working);
    if (working) {
        m_work->setText(progressText(m_document->progress()));
        const int permille = progressPermille(m_document->progress());
        m_bar->setRange(0, permille < 0 ? 0 : kWholePermille);
        m_bar->setValue(std::max(permille, 0));
    }
    if (recording) {
        const Integrity integrity = integrityOf(m_document->devices());
        m_integrity->setText(integrity.text());
        m_integrity->setAccessibleName(integrity.text());
        m_integrity->setIcon(integrity.exact()
                ? icon(QStringLiteral("check"), m_palette[Palette::Role::Good])
                : icon(QStringLiteral("error"), m_palette[Palette::Role::Bad]));
        m_size->setText(text::bytes(static_cast<std::int64_t>(recording->fileBytes)));
        m_size->setToolTip(tr("%1\n%2").arg(m_document->path(), text::file(recording->format)));
    }
    refreshText();
}

void StatusBar::refreshText()
{
    QString text = m_flash.isEmpty() ? m_hover : m_flash;
    const auto device = m_document ? m_document->device() : nullptr;
    if (text.isEmpty() && device) {
        const auto& selection = m_document->viewState().selection();
        text = selection ? text::selection(*device, *selection)
            : device->trace->eventCount() == 0
            ? tr("no events were recorded")
            : tr("%1 event(s), all of them shown", nullptr, static_cast<int>(device->trace->eventCount()))
                  .arg(text::count(device->trace->eventCount()));
    }
    m_text->setText(text);
}

void StatusBar::showFindings()
{
    if (!m_document || !m_document->recording())
        return;
    auto* popup = new QFrame(this, Qt::Popup);
    popup->setObjectName(QStringLiteral("popup"));
    popup->setAttribute(Qt::WA_DeleteOnClose);
    auto* layout = new QVBoxLayout(popup);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    auto* list = new FindingsList(m_document->devices(), m_palette);
    connect(list, &FindingsList::eventChosen, this, [this, popup](int device, model::EventIndex event) {
        popup->close();
        Q_EMIT findingChosen(device, event);
    });
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(list);
    layout->addWidget(scroll);
    const int width = qRound(520.0 * font().pixelSize() / kBodyPx);
    const int inner = list->heightForWidth(width - 2 * kMargin - 16);
    popup->resize(width, std::min(inner + 2 * kMargin + 8, 400));
    const QPoint corner = m_integrity->mapToGlobal(QPoint(m_integrity->width(), 0));
    popup->move(std::max(corner.x() - popup->width(), 0), corner.y() - popup->height() - 4);
    popup->show();
}

} // namespace strata::views
