// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QTemporaryDir>

class QApplication;

namespace strata::test {

/// Keeps the fonts of the machine out of window tests: DejaVu alone is there, and "sans-serif" is DejaVu
/// Sans. The variable STRATA_TEST_FONTS names other fonts, separated by colons: folders to read besides
/// DejaVu's (with a slash), and families to prefer to DejaVu's in that order. Families with "Mono" in their
/// names are those of fixed width. Example: STRATA_TEST_FONTS="Noto Sans:/usr/share/fonts/truetype/noto".
/// Make one before the QApplication; it must outlive it.
class TestFonts {
public:
    TestFonts();

    void setFontOf(QApplication& application) const; ///< 12 px of the preferred family

private:
    QTemporaryDir m_folder;
    QStringList m_proportional, m_fixed; // families, the preferred one first
};

} // namespace strata::test
