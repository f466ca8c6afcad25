// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/document_pane.h"

#include "views/contents/document/document_view.h"
#include "views/contents/document/live_bar.h"
#include "views/models/live/live_source.h"
#include "views/style/icons.h"
#include "views/style/type.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

namespace strata::views {

DocumentPane::DocumentPane(const QString& place, bool force, std::shared_ptr<ColourTable> colours,
    std::int64_t mostEvents, QWidget* parent)
    : QWidget(parent)
    , m_place(place)
    , m_document(std::make_unique<Document>(nullptr, std::move(colours)))
    , m_header(makeHeader())
{
    connect(m_document.get(), &Document::stateChanged, this, &DocumentPane::follow);
    connect(m_document.get(), &Document::outlineReady, this, &DocumentPane::follow);
    if (LivePlace::isLive(place))
        watch(mostEvents);
    else
        m_document->open(place, force);
    showName();
    m_view = new DocumentView(*m_document, this);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_header);
    layout->addWidget(m_view, 1);
    if (m_liveBar)
        layout->addWidget(m_liveBar);
    QTimer::singleShot(0, this, &DocumentPane::prepare);
}

DocumentPane::~DocumentPane()
{
    m_document->disconnect(this);
    delete m_liveBar;
    delete m_live;
    delete m_view;
}

void DocumentPane::watch(std::int64_t mostEvents)
{
    const auto found = LivePlace::find(m_place);
    if (!found) {
        m_document->follow();
        m_document->setName(LivePlace::target(m_place));
        // Who made this pane hears of it then.
        QTimer::singleShot(0, this, [this, error = found.error()] { m_document->endFollowing(error); });
        return;
    }
    m_live = new LiveSource(*m_document, *found, mostEvents, this);
    m_liveBar = new LiveBar(*m_live, *m_document);
    connect(m_liveBar, &LiveBar::saveWanted, this, &DocumentPane::saveWanted);
    connect(m_live, &LiveSource::changed, this, [this] {
        if (m_name->text() == name())
            return;
        showName();
        Q_EMIT renamed();
    });
}

void DocumentPane::showName()
{
    m_name->setText(name());
    m_name->setToolTip(m_live ? m_live->place().target() : m_place);
}

QWidget* DocumentPane::makeHeader()
{
    auto* header = new QWidget;
    header->setObjectName(QStringLiteral("paneHeader")); // as the style sheet knows it
    header->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(kMargin, 0, kGrid / 2, 0);
    m_name = new QLabel;
    m_name->setTextFormat(Qt::PlainText);
    m_name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row->addWidget(m_name, 1);
    m_close = new QToolButton;
    m_close->setIconSize(QSize(14, 14));
    m_close->setFocusPolicy(Qt::TabFocus);
    m_close->setToolTip(tr("Close this file"));
    m_close->setAccessibleName(tr("Close this file"));
    connect(m_close, &QToolButton::clicked, this, &DocumentPane::closeWanted);
    row->addWidget(m_close);
    header->hide();
    return header;
}

QString DocumentPane::name() const
{
    return m_document->name();
}

bool DocumentPane::isLive(const QString& place)
{
    return LivePlace::isLive(place);
}

void DocumentPane::setFollowing(bool follows)
{
    if (m_live)
        m_live->setFollowing(follows);
}

void DocumentPane::prepare()
{
    if (m_view->addNextPage())
        QTimer::singleShot(0, this, &DocumentPane::prepare);
    else
        follow();
}

void DocumentPane::follow()
{
    if (m_prepared)
        return;
    switch (m_document->state()) {
    case Document::State::Loading:
        if (!m_document->hasOutline())
            return;
        [[fallthrough]]; // its summary can be shown
    case Document::State::Ready:
        if (!m_view->complete())
            return; // prepare() ends with it
        m_prepared = true;
        Q_EMIT prepared();
        return;
    case Document::State::Failed:
        Q_EMIT failed();
        return;
    case Document::State::Empty:
    case Document::State::Stopped:
        Q_EMIT cancelled();
        return;
    }
}

void DocumentPane::cancel()
{
    if (m_document->isFollowing() && m_document->state() == Document::State::Loading)
        m_document->endFollowing(); // nothing came yet
    else
        m_document->cancel();
}

void DocumentPane::setPalette(const Palette& palette)
{
    m_close->setIcon(icon(QStringLiteral("close"), palette));
    m_view->setPalette(palette);
    if (m_liveBar)
        m_liveBar->setPalette(palette);
}

void DocumentPane::setBesideOthers(bool beside)
{
    m_header->setVisible(beside);
    m_view->setCompact(beside);
}

void DocumentPane::setActive(bool active)
{
    QFont font = m_name->font();
    font.setBold(active);
    m_name->setFont(font);
    m_name->setProperty("muted", !active);
    m_name->setStyleSheet(QString()); // the property is looked at again
}

void DocumentPane::mousePressEvent(QMouseEvent* event)
{
    Q_EMIT chosen();
    QWidget::mousePressEvent(event);
}

} // namespace strata::views
