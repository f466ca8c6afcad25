// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/oom_panel.h"

#include "views/pages/parts/code_row.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

using Role = Palette::Role;

namespace {

/// The device as one bar, the request under it, to the same scale.
class DeviceBar : public QWidget {
public:
    DeviceBar(const model::OutOfMemory& oom, const Palette& palette)
        : m_oom(oom)
        , m_palette(palette)
    {
        setFixedHeight(scaled(44.0, font()));
        setAccessibleName(OomPanel::tr("Of the device %1 were reserved, %2 free; %3 were asked for")
                              .arg(text::bytes(oom.reservedBytes), text::bytes(oom.deviceFreeBytes),
                                  text::bytes(oom.requestedBytes)));
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const std::int64_t device = m_oom.reservedBytes + m_oom.deviceFreeBytes;
        const std::int64_t free = std::min(m_oom.freeInSegmentsBytes, m_oom.reservedBytes);
        const std::int64_t whole = std::max({ device, m_oom.requestedBytes, std::int64_t{ 1 } });
        const double scale = static_cast<double>(width()) / static_cast<double>(whole);
        const double bar = (height() - 4) / 2.0;
        double x = 0;
        const auto part
            = [&](std::int64_t bytes, const QColor& fill, const QString& label, const QColor& ink) {
                  const QRectF box(x, 0, static_cast<double>(bytes) * scale, bar);
                  painter.fillRect(box, fill);
                  drawLabel(painter, box, label, ink);
                  x += box.width();
              };
        part(m_oom.reservedBytes - free, m_palette[Role::Requested], OomPanel::tr("in use"),
            m_palette[Role::AccentText]);
        part(free, m_palette[Role::FilteredOut], OomPanel::tr("free in segments"), m_palette[Role::Text]);
        part(m_oom.deviceFreeBytes, m_palette[Role::Free], OomPanel::tr("free"), m_palette[Role::Text]);

        // Where it would have to fit: beside what is reserved.
        const double begin = std::min(static_cast<double>(m_oom.reservedBytes) * scale,
            width() - static_cast<double>(m_oom.requestedBytes) * scale);
        const QRectF asked(
            std::max(begin, 0.0), bar + 4, static_cast<double>(m_oom.requestedBytes) * scale, bar);
        painter.fillRect(asked, m_palette[Role::Bad]);
        drawLabel(painter, asked, OomPanel::tr("asked"), m_palette[Role::Surface]);
    }

private:
    static void drawLabel(QPainter& painter, const QRectF& box, const QString& label, const QColor& ink)
    {
        const QRectF inner = box.adjusted(6, 0, -6, 0);
        if (painter.fontMetrics().horizontalAdvance(label) > inner.width())
            return;
        painter.setPen(ink);
        painter.drawText(inner, Qt::AlignVCenter | Qt::AlignLeft, label);
    }

    model::OutOfMemory m_oom;
    Palette m_palette;
};

QWidget* figure(const QString& label, std::int64_t bytes, const QString& prefix, const QColor& colour)
{
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* name = new QLabel(label);
    name->setProperty("muted", true);
    name->setFont(sized(name->font(), kAxisPx));
    auto* value = new QLabel(prefix + text::bytes(bytes));
    QFont font = numberFont(sized(value->font(), kVerdictPx));
    font.setBold(true);
    value->setFont(font);
    value->setToolTip(text::exactBytes(bytes));
    if (colour.isValid())
        value->setStyleSheet(QStringLiteral("color: %1").arg(colour.name()));
    column->addWidget(name);
    column->addWidget(value);
    return part;
}

} // namespace

QString oomConclusion(const model::OutOfMemory& oom)
{
    const std::int64_t missing = oom.requestedBytes - oom.deviceFreeBytes - oom.freeInSegmentsBytes;
    if (missing > 0)
        return (oom.freeInSegmentsExact
                ? OomPanel::tr(
                    "Even with all free memory in one piece, %1 would be missing: the program has to "
                    "hold less, or the card has to be larger.")
                : OomPanel::tr(
                    "Even with all free memory in one piece, at least %1 would be missing: the program "
                    "has to hold less, or the card has to be larger."))
            .arg(text::bytes(missing));
    if (oom.deviceFreeBytes >= oom.requestedBytes)
        return OomPanel::tr(
            "The driver had enough free, so something else limits this process: a memory fraction, or "
            "another process that took it in between.");
    if (oom.freeInSegmentsBytes >= oom.requestedBytes)
        return OomPanel::tr("Up to %1 were free inside segments, but in pieces too small.")
            .arg(text::bytes(oom.freeInSegmentsBytes));
    return OomPanel::tr("The free pieces together might be enough, but no single one is.");
}

OomPanel::OomPanel(
    const model::OutOfMemory& oom, const QString& conclusion, const Palette& palette, QWidget* parent)
    : QWidget(parent)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kMargin);
    auto* figures = new QHBoxLayout;
    figures->setSpacing(kMargin); // all of it beside the facts in a window of 1280 pixels
    figures->addWidget(figure(tr("asked"), oom.requestedBytes, {}, palette[Role::Bad]));
    figures->addWidget(figure(tr("driver free"), oom.deviceFreeBytes, {}, {}));
    figures->addWidget(figure(tr("reserved by PyTorch"), oom.reservedBytes, {}, {}));
    figures->addWidget(figure(tr("free inside segments"), oom.freeInSegmentsBytes,
        oom.freeInSegmentsExact ? QString() : QStringLiteral("≤ "), {}));
    figures->addStretch();
    layout->addLayout(figures);
    layout->addWidget(new DeviceBar(oom, palette));
    layout->addWidget(textLabel(conclusion));
}

namespace {

QVBoxLayout* rowsIn(QWidget* list)
{
    auto* layout = new QVBoxLayout(list);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid);
    return layout;
}

} // namespace

AdviceList::AdviceList(const model::OomVerdict& verdict, const Palette& palette, QWidget* parent)
    : QWidget(parent)
{
    QVBoxLayout* const layout = rowsIn(this);
    for (const model::SettingTried& advice : verdict.advice) {
        layout->addWidget(new CodeRow(text::settingsVariable(advice.settings),
            tr("With it this request would have been served%1, %2 to spare.")
                .arg(
                    advice.exact ? QString() : tr(" (an estimate)"), text::bytes(verdict.spareBytes(advice))),
            palette));
    }
}

NextStepList::NextStepList(const std::vector<model::NextStep>& steps, const Palette& palette, QWidget* parent)
    : QWidget(parent)
{
    QVBoxLayout* const layout = rowsIn(this);
    for (const model::NextStep& step : steps) {
        QString what = text::said(step.what);
        if (!step.verified)
            what += tr(" (not verified)");
        if (step.command.empty())
            layout->addWidget(textLabel(what));
        else
            layout->addWidget(new CodeRow(text::utf8(step.command), what, palette));
    }
}

} // namespace strata::views
