// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/added_memory_line.h"

#include "views/pages/timeline/timeline_texts.h"
#include "views/style/icons.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QTextDocumentFragment>
#include <QToolButton>
#include <QVBoxLayout>

namespace strata::views {

namespace {

constexpr int kPatienceMs = 300, kWhole = 1000, kBarWidth = 120, kIconPx = 18;

} // namespace

AddedMemoryLine::AddedMemoryLine(MemoryAdder& adder, QWidget* parent)
    : QWidget(parent)
    , m_adder(adder)
    , m_icon(new QLabel)
    , m_what(new QLabel)
    , m_more(new QLabel)
    , m_bar(new QProgressBar)
    , m_button(new QToolButton)
{
    setAccessibleName(tr("What is added to this timeline"));
    m_bar->setRange(0, kWhole);
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(scaled(kBarWidth, font()));
    m_bar->setAccessibleName(tr("Progress"));
    m_more->setProperty("muted", true);
    m_button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(2);
    for (QLabel* label : { m_what, m_more }) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::RichText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        texts->addWidget(label);
    }
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid);
    layout->addWidget(m_icon, 0, Qt::AlignTop);
    layout->addLayout(texts, 1);
    layout->addWidget(m_bar);
    layout->addWidget(m_button, 0, Qt::AlignTop);
    m_patience.setSingleShot(true);
    m_patience.setInterval(kPatienceMs);
    connect(&m_patience, &QTimer::timeout, this, &AddedMemoryLine::refresh);
    connect(m_button, &QToolButton::clicked, this, &AddedMemoryLine::press);
    connect(&adder, &MemoryAdder::addedChanged, this, [this] { m_peaks.clear(); });
    connect(&adder, &MemoryAdder::changed, this, &AddedMemoryLine::refresh);
    refresh();
}

void AddedMemoryLine::showPeaks(const WorkFigures& figures)
{
    m_peaks = timelinePeaks(figures);
    refresh();
}

void AddedMemoryLine::setColours(const Palette& palette)
{
    m_palette = palette;
    m_button->setIcon(icon(QStringLiteral("close"), palette));
    refresh();
}

void AddedMemoryLine::refresh()
{
    const QString reading = m_adder.adding();
    if (reading.isEmpty())
        m_patience.stop();
    else if (!m_patience.isActive() && m_bar->isHidden() && sender() != &m_patience)
        m_patience.start();
    const bool isReading = !reading.isEmpty() && !m_patience.isActive();
    const bool isRefused = !isReading && m_adder.refusal();
    if (isReading) {
        m_what->setText(tr("Reading <b>%1</b>, and looking where it lies in the trace…")
                            .arg(QFileInfo(reading).fileName().toHtmlEscaped()));
        m_more->clear();
        m_button->setText(tr("Cancel"));
        m_button->setToolTip(tr("Stop reading the file"));
        m_bar->setValue(static_cast<int>(m_adder.fraction() * kWhole));
    } else if (isRefused) {
        const model::Error& error = *m_adder.refusal();
        m_what->setText(tr("<b>%1 is not added:</b> %2")
                            .arg(QFileInfo(text::utf8(error.where)).fileName().toHtmlEscaped(),
                                text::said(error.what).toHtmlEscaped()));
        m_more->setText(text::said(error.hint.said).toHtmlEscaped());
        m_button->setText(tr("Close"));
        m_button->setToolTip(tr("Close this message"));
    } else if (m_adder.added()) {
        m_what->setText(timelineAdded(*m_adder.added()));
        m_what->setToolTip(m_adder.added()->path);
        m_more->setText(m_peaks.toHtmlEscaped());
        m_button->setText(tr("Remove"));
        m_button->setToolTip(tr("Show the memory that the trace tells of itself"));
    }
    if (isRefused)
        m_icon->setPixmap(iconPixmap(
            QStringLiteral("warning"), m_palette[Palette::Role::Warning], kIconPx, devicePixelRatioF()));
    m_icon->setVisible(isRefused);
    m_more->setVisible(!m_more->text().isEmpty());
    m_bar->setVisible(isReading);
    setVisible(isReading || isRefused || m_adder.added());
}

void AddedMemoryLine::press()
{
    if (!m_bar->isHidden())
        m_adder.cancel();
    else if (m_adder.refusal())
        m_adder.dismiss();
    else
        m_adder.remove();
}

QString AddedMemoryLine::text() const
{
    return QTextDocumentFragment::fromHtml(m_what->text() + QStringLiteral("<br>") + m_more->text())
        .toPlainText();
}

} // namespace strata::views
