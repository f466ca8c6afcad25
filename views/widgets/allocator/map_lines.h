// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/allocator/map_picture.h"

#include <QRect>

#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

/// Of an address map, for one font: pixels.
struct MapSizes {
    int line = 20, heading = 36; ///< heights
    int label = 160; ///< the width beside the bars
};

/// Where the rows of an address map stand: each takes lines of so many bytes, sections follow each other with
/// a heading each. A value, for one zoom; all places are pixels of the whole content, however it is scrolled.
class MapLines {
public:
    static constexpr std::int64_t kLeastLine = std::int64_t{ 16 } << 10; ///< bytes: blocks are 512 and more
    static constexpr std::int64_t kTallest = 1 << 28; ///< pixels of the content

    /// A line of a row: the bytes of the row that it shows, and where they fall.
    struct Line {
        std::uint32_t row = 0;
        std::int64_t begin = 0, end = 0; ///< of the row
        QRect bar; ///< of what is reserved, in the content
        double perByte = 0;

        [[nodiscard]] double x(std::int64_t offset) const
        {
            return bar.left() + static_cast<double>(offset - begin) * perByte;
        }
    };

    MapLines() = default;
    /// `isNormalised`: every row is one line, whatever the zoom. O(rows).
    MapLines(
        std::shared_ptr<const MapPicture> picture, const MapSizes& sizes, double zoom, bool isNormalised);

    [[nodiscard]] const MapSizes& sizes() const { return m_sizes; }
    [[nodiscard]] bool isNormalised() const { return m_normalised; }
    [[nodiscard]] int height() const; ///< of all of it; 0 without a picture
    [[nodiscard]] std::int64_t lineBytes(std::uint32_t section) const;
    [[nodiscard]] std::int64_t bytesOfLine(std::uint32_t row) const; ///< of a full line of that row
    /// Of its heading.
    [[nodiscard]] int sectionTop(std::uint32_t section) const { return m_sectionTop[section]; }
    [[nodiscard]] int sectionEnd(std::uint32_t section) const { return m_sectionTop[section + 1]; }
    [[nodiscard]] std::optional<std::uint32_t> sectionAt(int y) const; ///< `y`: not negative
    [[nodiscard]] int lineTop(std::uint32_t row, std::int64_t line) const;
    /// `width`: of the picture, with labels and margin.
    [[nodiscard]] Line lineOf(std::uint32_t row, std::int64_t line, int width) const;
    [[nodiscard]] std::optional<Line> lineAt(int y, int width) const; ///< none on a heading

private:
    std::shared_ptr<const MapPicture> m_picture;
    MapSizes m_sizes;
    double m_zoom = 1;
    bool m_normalised = false;
    std::vector<std::int64_t> m_firstLine; // by row: lines of its section before it
    std::vector<int> m_sectionTop; // by section: of its heading; one more at the end
};

} // namespace strata::views
