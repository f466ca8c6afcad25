// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/fragmentation_answer.h"
#include "views/models/tables/field_table.h"
#include "views/widgets/allocator/map_picture.h"

#include <QCoreApplication>

namespace strata::views {

/// The segments of an address map; a row is a row of the map.
class SegmentsTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(SegmentsTable)
public:
    enum Place { Address, Size, InUse, Pending, Free, Largest, Line, Blocks, Pool, Stream };

    explicit SegmentsTable(std::shared_ptr<const MapPicture> picture);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_picture->rows.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;

private:
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override;
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override;

    struct Counted {
        std::int64_t largestFree = 0, blocks = 0, pendingBytes = 0;
        model::BlockId ofBiggestLine; ///< one of its blocks
    };
    std::shared_ptr<const MapPicture> m_picture;
    std::vector<Counted> m_counted;
};

/// The segments that live blocks keep from being given back; a row is a place in Fragmentation::pinned.
class PinnedTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(PinnedTable)
public:
    enum Place { Address, Free, Size, Pin, PinBytes, Age, GivesBack };

    explicit PinnedTable(std::shared_ptr<const MapPicture> picture);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_picture->fragmentation.pinned.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] QString stackText(std::uint32_t row) const override;

private:
    [[nodiscard]] const model::PinnedSegment& pinned(std::uint32_t row) const
    {
        return m_picture->fragmentation.pinned[row];
    }
    [[nodiscard]] model::StackId stackOf(std::uint32_t row) const;
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override;
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override;

    std::shared_ptr<const MapPicture> m_picture;
};

/// Other settings and what they come to; a row is a place among those tried.
class SettingsTable final : public FieldTable<model::SettingTried> {
    Q_DECLARE_TR_FUNCTIONS(SettingsTable)
public:
    enum Place { Settings, Reserved, Saved, Mallocs, Exact, Serves }; ///< Serves: where a request was refused

    explicit SettingsTable(std::shared_ptr<const std::vector<model::SettingTried>> tried);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_tried->size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] const model::SettingTried& setting(std::uint32_t row) const { return at(row); }

private:
    [[nodiscard]] const model::SettingTried& at(std::uint32_t row) const override { return (*m_tried)[row]; }

    std::shared_ptr<const std::vector<model::SettingTried>> m_tried;
};

} // namespace strata::views
