// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/roofline_table.h"

#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"
#include "views/widgets/timeline/roofline_words.h"

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

struct RooflineTableTexts {
    Q_DECLARE_TR_FUNCTIONS(Roofline)
};

const QString kNone = QStringLiteral("–");

std::int64_t wholeOf(double number)
{
    return std::llround(std::clamp(number, 0.0, 9e18));
}

class RooflineTable final : public WorkTable {
public:
    explicit RooflineTable(std::shared_ptr<const WorkFigures> all)
        : WorkTable(columnsOf(), std::move(all))
        , m_isTimed(!figures().lanes->session().recording().simulated)
    {
    }
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(roofline().rows.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t number, int column) const override
    {
        const model::RooflineRow& row = roofline().rows[number];
        const bool isTimed = m_isTimed && row.isKnown && row.deviceNs > 0;
        switch (column) {
        case Time:
            return { text::duration(row.deviceNs), {} };
        case Calls:
            return { text::count(row.calls), {} };
        case FlopRate:
            return isTimed && row.doneFlops > 0 ? TableCell{ text::flopRate(row.flopRate()), {} }
                                                : noteCell(kNone);
        case ByteRate:
            return isTimed ? TableCell{ text::byteRate(row.byteRate()), {} } : noteCell(kNone);
        case Roof:
            return isTimed && row.roofNs > 0
                ? TableCell{ QStringLiteral("%1 %").arg(100 * shareOf(row), 0, 'f', 1), {} }
                : noteCell(kNone);
        case Bound:
            return row.isKnown ? TableCell{ text::rooflineBound(roofline(), row), {} }
                               : noteCell(text::rooflineBound(roofline(), row));
        case Type:
            return row.doneFlops > 0 ? TableCell{ text::numberType(row.type), {} } : noteCell(kNone);
        default:
            return { text::shortened(text::rooflineName(figures(), number).toStdString(), 400), {} };
        }
    }
    [[nodiscard]] QString tooltip(std::uint32_t row, int) const override
    {
        return roofline().rows[row].isKnown
            ? text::rooflineRow(figures(), row).join(QLatin1Char('\n'))
            : RooflineTableTexts::tr(
                "What it costs is not known: it is no operator that is known here, or its sizes were "
                "not recorded");
    }
    [[nodiscard]] Key sortKey(int column) const override
    {
        if (column != Roof)
            return WorkTable::sortKey(column);
        return [this](std::uint32_t row) -> std::optional<std::uint64_t> {
            const model::RooflineRow& of = roofline().rows[row];
            return of.roofNs > 0 ? std::optional(static_cast<std::uint64_t>(wholeOf(shareOf(of) * 1e6)))
                                 : std::nullopt;
        };
    }
    [[nodiscard]] std::span<const std::uint32_t> workOf(std::uint32_t row) const override
    {
        return roofline().rows[row].work;
    }

private:
    enum Place { Time, Name, Calls, FlopRate, ByteRate, Roof, Bound, Type };

    static std::vector<Column> columnsOf()
    {
        const auto number
            = [](const QString& title, const QString& tip, const char* sample, const char* name) {
                  return Column{ { title, tip, QString::fromLatin1(sample), true }, name };
              };
        const auto word = [](const QString& title, const QString& tip, const char* sample, const char* name) {
            return Column{ { title, tip, QString::fromLatin1(sample), false }, name };
        };
        return {
            number(RooflineTableTexts::tr("GPU"), RooflineTableTexts::tr("Of what it launched itself"),
                "888.8 ms", "gpu_ns"),
            // Its sizes take what room there is.
            { { RooflineTableTexts::tr("Operator"), {}, QStringLiteral("aten::addmm [512]"), false, {},
                  true },
                "name" },
            number(RooflineTableTexts::tr("Calls"), {}, "88,888", "calls"),
            number(RooflineTableTexts::tr("Computes"),
                RooflineTableTexts::tr("FLOPs that were done, a second"), "888.8 TFLOP/s",
                "flops_per_second"),
            number(RooflineTableTexts::tr("Moves"),
                RooflineTableTexts::tr(
                    "Each operand and each result once, a second: more than the memory can where they "
                    "lay in L2"),
                "88.88 TB/s", "bytes_per_second"),
            number(RooflineTableTexts::tr("Of roof"),
                RooflineTableTexts::tr(
                    "Time at the card's peaks, all bytes from memory, of the time that it took"),
                "888.8 %", "roof_ns"),
            word(RooflineTableTexts::tr("Limit"),
                RooflineTableTexts::tr("What limits it at the card's peaks"), "not known", "bound"),
            word(RooflineTableTexts::tr("Type"), RooflineTableTexts::tr("Of what is multiplied"), "BF16",
                "type"),
        };
    }
    [[nodiscard]] const model::Roofline& roofline() const { return figures().report.roofline; }
    static double shareOf(const model::RooflineRow& row)
    {
        return row.deviceNs > 0 ? row.roofNs / static_cast<double>(row.deviceNs) : 0;
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t number, int column) const override
    {
        const model::RooflineRow& row = roofline().rows[number];
        switch (column) {
        case Time:
            return row.deviceNs;
        case Calls:
            return row.calls;
        case FlopRate:
            return row.doneFlops > 0 ? std::optional(wholeOf(row.flopRate())) : std::nullopt;
        case ByteRate:
            return row.isKnown ? std::optional(wholeOf(row.byteRate())) : std::nullopt;
        case Roof:
            return row.roofNs > 0 ? std::optional(wholeOf(row.roofNs)) : std::nullopt;
        default:
            return std::nullopt;
        }
    }
    [[nodiscard]] std::string text(std::uint32_t number, int column) const override
    {
        const model::RooflineRow& row = roofline().rows[number];
        if (column == Bound) {
            const auto isCompute = roofline().isComputeBound(row);
            return !isCompute ? "" : *isCompute ? "compute" : "memory";
        }
        if (column == Type)
            return row.isKnown ? std::string(model::numberTypeWord(row.type)) : std::string();
        return column == Name ? text::rooflineName(figures(), number).toStdString() : std::string();
    }

    bool m_isTimed; ///< by a card: times of the simulated device are none's
};

} // namespace

std::shared_ptr<const WorkTable> makeRooflineTable(std::shared_ptr<const WorkFigures> figures)
{
    return std::make_shared<const RooflineTable>(std::move(figures));
}

} // namespace strata::views
