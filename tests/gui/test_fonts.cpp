// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/test_fonts.h"

#include <QApplication>
#include <QFile>
#include <QFileInfo>
#include <QFont>
#include <QFontInfo>

#include <cstdio>
#include <cstdlib>

namespace strata::test {

namespace {

constexpr int kSizePx = 12;

QString element(const char* name, const QString& content)
{
    return QStringLiteral("<%1>%2</%1>\n").arg(QLatin1String(name), content);
}

QString families(const QStringList& all)
{
    QString text;
    for (const QString& family : all)
        text += element("family", family.toHtmlEscaped());
    return text;
}

QString alias(const char* generic, const QStringList& preferred)
{
    return element(
        "alias", element("family", QLatin1String(generic)) + element("prefer", families(preferred)));
}

/// What a machine's configuration says of text that names no family, and how glyphs are drawn.
const char* const kRules = R"(
<match target="pattern">
  <test qual="all" name="family" compare="not_eq"><string>sans-serif</string></test>
  <test qual="all" name="family" compare="not_eq"><string>serif</string></test>
  <test qual="all" name="family" compare="not_eq"><string>monospace</string></test>
  <edit name="family" mode="append_last"><string>sans-serif</string></edit>
</match>
<match target="pattern">
  <edit name="antialias" mode="assign"><bool>true</bool></edit>
  <edit name="hinting" mode="assign"><bool>true</bool></edit>
  <edit name="hintstyle" mode="assign"><const>hintslight</const></edit>
  <edit name="rgba" mode="assign"><const>none</const></edit>
</match>
)";

} // namespace

TestFonts::TestFonts()
{
    QStringList folders{ QStringLiteral("/usr/share/fonts/truetype/dejavu") };
    if (!QFileInfo::exists(folders.front())) {
        std::printf("no folder %s: the fonts of the machine are used, and sizes may differ\n",
            qPrintable(folders.front()));
        return;
    }
    for (const QString& word :
        qEnvironmentVariable("STRATA_TEST_FONTS").split(QLatin1Char(':'), Qt::SkipEmptyParts)) {
        if (word.contains(QLatin1Char('/')))
            folders += word;
        else if (word.contains(QLatin1String("Mono")))
            m_fixed += word;
        else
            m_proportional += word;
    }
    if (folders.size() > 1 && m_proportional.isEmpty()) {
        std::fprintf(stderr, "STRATA_TEST_FONTS names folders, but no family to use\n");
        std::exit(EXIT_FAILURE);
    }
    m_proportional += QStringLiteral("DejaVu Sans");
    m_fixed += QStringLiteral("DejaVu Sans Mono");

    QString text;
    for (const QString& folder : folders)
        text += element("dir", folder.toHtmlEscaped());
    text += element("cachedir", QStringLiteral(STRATA_FONT_CACHE));
    text += QLatin1String(kRules);
    for (const char* generic : { "sans-serif", "Sans Serif", "Sans", "system-ui", "Helvetica", "Arial" })
        text += alias(generic, m_proportional);
    text += alias("serif", { QStringLiteral("DejaVu Serif") });
    for (const char* generic : { "monospace", "Mono", "Monospace" })
        text += alias(generic, m_fixed);

    QFile file(m_folder.filePath(QStringLiteral("fonts.conf")));
    const QByteArray content = "<?xml version=\"1.0\"?>\n" + element("fontconfig", text).toUtf8();
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) {
        std::fprintf(stderr, "cannot write %s\n", qPrintable(file.fileName()));
        std::exit(EXIT_FAILURE);
    }
    qputenv("FONTCONFIG_FILE", file.fileName().toUtf8());
}

void TestFonts::setFontOf(QApplication& /*application*/) const
{
    if (m_proportional.isEmpty())
        return;
    QFont font;
    font.setFamilies(m_proportional);
    font.setPixelSize(kSizePx);
    // Nobody is to believe that the tests pass with a font that is not there.
    if (const QString found = QFontInfo(font).family(); found != m_proportional.front()) {
        std::fprintf(stderr,
            "the font %s is not there, but %s: install it, or name its folder in "
            "STRATA_TEST_FONTS\n",
            qPrintable(m_proportional.front()), qPrintable(found));
        std::exit(EXIT_FAILURE);
    }
    QApplication::setFont(font);
}

} // namespace strata::test
