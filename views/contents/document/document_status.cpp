// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/document_status.h"

#include "views/contents/document/loading_view.h"
#include "views/pages/summary/findings_list.h"
#include "views/style/icons.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QScrollArea>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <optional>

namespace strata::views {

namespace {

constexpr int kWholePermille = 1000;
constexpr int kPatienceMs = 300; // what takes no longer is not worth a word

struct Work {
    QString name;
    model::ProgressReport progress;
    void (Document::*stop)() = nullptr;
    bool atOnce = false; // it is told of
};

std::optional<Work> workOn(const Document& document)
{
    if (document.working())
        return Work{ progressText(document.progress()), document.progress(), &Document::cancel, true };
    if (document.replaying())
        return Work{ DocumentStatus::tr("Replaying the allocator"), document.replayProgress(),
            &Document::cancelReplay };
    if (document.analysing())
        return Work{ DocumentStatus::tr("Looking for steps and leaks"), document.analysisProgress(),
            &Document::cancelAnalysis };
    return std::nullopt;
}

} // namespace

DocumentStatus::DocumentStatus(QWidget* parent)
    : QWidget(parent)
    , m_work(new QLabel)
    , m_bar(new QProgressBar)
    , m_cancel(new QToolButton)
    , m_integrity(new QToolButton)
    , m_simulated(new QLabel(tr("simulated device")))
    , m_size(new QLabel)
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(kMargin);
    m_bar->setTextVisible(false);
    m_bar->setRange(0, 0);
    m_bar->setFixedWidth(96);
    m_bar->setAccessibleName(tr("Background work"));
    m_cancel->setToolTip(tr("Cancel the background work"));
    m_cancel->setAccessibleName(tr("Cancel the background work"));
    m_cancel->setIconSize(QSize(14, 14));
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        if (m_document && m_stop)
            (m_document->*m_stop)();
    });
    m_integrity->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_integrity->setFocusPolicy(Qt::TabFocus);
    m_integrity->setIconSize(QSize(16, 16));
    m_integrity->setToolTip(tr("How far the figures can be trusted; a click lists breaches and notes"));
    connect(m_integrity, &QToolButton::clicked, this, &DocumentStatus::showFindings);
    m_simulated->setToolTip(tr("Recorded on a simulated device: sizes and order are real, times are not"));
    m_size->setFont(numberFont(font()));
    for (QWidget* part :
        std::initializer_list<QWidget*>{ m_work, m_bar, m_cancel, m_integrity, m_simulated, m_size })
        row->addWidget(part);
    refresh();
}

void DocumentStatus::setDocument(Document* document)
{
    if (m_document)
        disconnect(m_document, nullptr, this, nullptr);
    m_document = document;
    if (document) {
        connect(document, &Document::progressChanged, this, &DocumentStatus::refresh);
        connect(document, &Document::stateChanged, this, &DocumentStatus::refresh);
        connect(document, &Document::deviceReady, this, &DocumentStatus::refresh);
    }
    refresh();
}

void DocumentStatus::setPalette(const Palette& palette)
{
    m_palette = palette;
    m_cancel->setIcon(icon(QStringLiteral("close"), palette));
    refresh();
}

void DocumentStatus::refresh()
{
    const model::Recording* const recording = m_document ? m_document->recording() : nullptr;
    m_integrity->setVisible(recording && !recording->devices.empty());
    m_size->setVisible(recording != nullptr);
    m_simulated->setVisible(recording && recording->simulated);
    const std::optional<Work> work = m_document ? workOn(*m_document) : std::nullopt;
    if (!work || work->atOnce)
        m_busy.invalidate();
    else if (!m_busy.isValid()) {
        m_busy.start();
        QTimer::singleShot(kPatienceMs, this, &DocumentStatus::refresh);
    }
    const bool waits = work && (work->atOnce || m_busy.hasExpired(kPatienceMs - 1));
    m_stop = waits ? work->stop : nullptr;
    for (QWidget* part : std::initializer_list<QWidget*>{ m_work, m_bar, m_cancel })
        part->setVisible(waits);
    if (waits) {
        m_work->setText(work->name);
        const int permille = progressPermille(work->progress);
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
        m_size->setToolTip(tr("%1\n%2").arg(m_document->path(), text::utf8(recording->format)));
    }
}

void DocumentStatus::showFindings()
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
    const int width = scaled(520.0, font());
    const int inner = list->heightForWidth(width - 2 * kMargin - 16);
    popup->resize(width, std::min(inner + 2 * kMargin + 8, 400));
    const QPoint corner = m_integrity->mapToGlobal(QPoint(m_integrity->width(), 0));
    popup->move(std::max(corner.x() - popup->width(), 0), corner.y() - popup->height() - 4);
    popup->show();
}

} // namespace strata::views
