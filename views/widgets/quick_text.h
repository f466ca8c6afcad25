// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QFontMetricsF>
#include <QRawFont>

#include <array>

class QPainter;

namespace strata::views {

/// Draws many short texts of one font fast: glyphs and widths of Latin text come from a table instead of a
/// shaping run for every call (about 1 us instead of 6). Anything the table does not hold (Chinese, accents
/// built from two characters) goes the ordinary way. Uses the painter's pen. GUI thread only.
class QuickText {
public:
    explicit QuickText(const QFont& font);

    [[nodiscard]] const QFont& font() const { return m_font; }
    [[nodiscard]] const QFontMetricsF& metrics() const { return m_metrics; }
    [[nodiscard]] double width(QStringView text) const;

    /// `x` and `baseline`: where the text begins.
    void draw(QPainter& painter, double x, double baseline, QStringView text) const;
    /// The same, cut to `room` pixels with an ellipsis; nothing if not even one letter fits. Returns the
    /// width it took.
    double drawElided(QPainter& painter, double x, double baseline, double room, QStringView text) const;

    /// Off: text stays text, as vector pictures want it.
    void setQuick(bool on) { m_quick = on; }

private:
    static constexpr char16_t kFirst = 0x20;
    static constexpr char16_t kEnd = 0x180; // Latin with accents
    struct Glyph {
        quint32 index = 0;
        float advance = 0;
    };

    [[nodiscard]] bool known(QStringView text) const;
    [[nodiscard]] const Glyph& glyph(QChar c) const { return m_glyphs[c.unicode() - kFirst]; }

    QFont m_font;
    QFontMetricsF m_metrics;
    QRawFont m_raw;
    std::array<Glyph, kEnd - kFirst> m_glyphs{};
    Glyph m_ellipsis;
    bool m_quick = true;
};

} // namespace strata::views
