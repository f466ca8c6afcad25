// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/roofline_words.h"

#include "views/style/texts.h"

#include <QCoreApplication>

#include <array>
#include <cmath>

namespace strata::views::text {

namespace {

struct RooflineTexts {
    Q_DECLARE_TR_FUNCTIONS(Roofline)
};

/// Three digits and the unit that fits: "12.7 T".
QString scaledNumber(double number, const QString& unit)
{
    struct Scale {
        double from;
        const char* prefix;
    };
    static constexpr std::array kScales{ Scale{ 1e15, "P" }, Scale{ 1e12, "T" }, Scale{ 1e9, "G" },
        Scale{ 1e6, "M" }, Scale{ 1e3, "k" }, Scale{ 0, "" } };
    const auto scale
        = std::ranges::find_if(kScales, [&](const Scale& each) { return number >= each.from * 0.9995; });
    const Scale& found = scale == kScales.end() ? kScales.back() : *scale;
    const double value = found.from > 0 ? number / found.from : number;
    const int decimals = value >= 99.95 || value == std::round(value) ? 0 : value >= 9.995 ? 1 : 2;
    return QStringLiteral("%1\u00a0%2%3").arg(value, 0, 'f', decimals).arg(QLatin1String(found.prefix), unit);
}

} // namespace

QString flopRate(double perSecond)
{
    return scaledNumber(perSecond, QStringLiteral("FLOP/s"));
}

QString byteRate(double perSecond)
{
    return scaledNumber(perSecond, QStringLiteral("B/s"));
}

QString intensity(double flopsPerByte)
{
    const QString number = flopsPerByte >= 999.5 ? count(std::llround(std::min(flopsPerByte, 9e18)))
                                                 : QString::number(flopsPerByte, 'g', 3);
    return QStringLiteral("%1\u00a0FLOP/B").arg(number);
}

QString numberType(model::NumberType type)
{
    return utf8(model::numberTypeWord(type)).toUpper();
}

QString costKind(model::CostKind kind)
{
    switch (kind) {
    case model::CostKind::MatrixProduct:
        return RooflineTexts::tr("matrix product");
    case model::CostKind::Convolution:
        return RooflineTexts::tr("convolution");
    case model::CostKind::Attention:
        return RooflineTexts::tr("attention");
    case model::CostKind::Elementwise:
        return RooflineTexts::tr("element by element");
    case model::CostKind::Normalisation:
        return RooflineTexts::tr("normalisation");
    case model::CostKind::Reduction:
        return RooflineTexts::tr("reduction");
    case model::CostKind::Gather:
        return RooflineTexts::tr("gather");
    case model::CostKind::Copy:
        return RooflineTexts::tr("copy");
    case model::CostKind::Optimiser:
        return RooflineTexts::tr("optimiser");
    case model::CostKind::View:
        break;
    }
    return RooflineTexts::tr("view");
}

QString rooflineBound(const model::Roofline& roofline, const model::RooflineRow& row)
{
    if (!row.isKnown)
        return RooflineTexts::tr("not known");
    const auto isCompute = roofline.isComputeBound(row);
    return !isCompute ? QStringLiteral("–")
        : *isCompute  ? RooflineTexts::tr("compute")
                      : RooflineTexts::tr("memory");
}

QString rooflineName(const WorkFigures& figures, std::uint32_t row)
{
    const model::RooflineRow& shown = figures.report.roofline.rows[row];
    const model::StringTable& strings = figures.lanes->strings();
    QString name = utf8(strings[shown.name]);
    if (shown.shapes.valid())
        name += QLatin1Char(' ') + utf8(model::shapesText(strings[shown.shapes]));
    return name;
}

QStringList rooflineRow(const WorkFigures& figures, std::uint32_t row)
{
    constexpr qsizetype kLongest = 80;
    const model::Roofline& roofline = figures.report.roofline;
    const model::RooflineRow& shown = roofline.rows[row];
    const auto ns = static_cast<double>(shown.deviceNs);
    QStringList lines{ shortened(rooflineName(figures, row).toStdString(), kLongest),
        RooflineTexts::tr("%1 on the GPU in %2, %3")
            .arg(duration(shown.deviceNs),
                counted(shown.calls, RooflineTexts::tr("1 call"), RooflineTexts::tr("%1 calls")),
                costKind(shown.kind)) };
    if (shown.doneFlops > 0)
        lines << RooflineTexts::tr("%1 of %2, %3")
                     .arg(flopRate(shown.flopRate()), numberType(shown.type), intensity(shown.intensity()));
    lines << RooflineTexts::tr("%1 of operands and results").arg(byteRate(shown.byteRate()));
    if (roofline.card && ns > 0)
        lines << RooflineTexts::tr("%1 % of its roof; limited by %2")
                     .arg(100 * shown.roofNs / ns, 0, 'f', 1)
                     .arg(rooflineBound(roofline, shown));
    return lines;
}

} // namespace strata::views::text
