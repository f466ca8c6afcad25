// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/options.h"

#include <QCommandLineParser>
#include <QCoreApplication>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace strata::gui {

namespace {

[[noreturn]] void badUsage(const QString& what)
{
    std::fprintf(stderr, "strata-gui: %s: see strata-gui --help\n", qPrintable(what));
    std::exit(2);
}

/// The value of "--name VALUE" or "--name=VALUE"; nullptr if it is not there.
const char* argumentValue(int argc, char** argv, const char* name)
{
    const std::size_t length = std::strlen(name);
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], name, length) != 0)
            continue;
        if (argv[i][length] == '=')
            return argv[i] + length + 1;
        if (argv[i][length] == '\0' && i + 1 < argc)
            return argv[i + 1];
    }
    return nullptr;
}

} // namespace

bool prepareEnvironment(int argc, char** argv)
{
    // Text needs no screen, and Qt ends a program that finds none.
    const auto asksForText = [](std::string_view argument) {
        return argument == "--help" || argument == "-h" || argument == "--version";
    };
    if (std::any_of(argv + std::min(argc, 1), argv + argc, asksForText))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    if (!argumentValue(argc, argv, "--render"))
        return false;
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    qputenv("QT_ENABLE_HIGHDPI_SCALING", "1");
    if (const char* scale = argumentValue(argc, argv, "--scale"))
        qputenv("QT_SCALE_FACTOR", scale);
    return true;
}

Options parseOptions(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QCoreApplication::translate("Options", "Shows where GPU memory goes in PyTorch programs."));
    const QCommandLineOption help(QStringList{ QStringLiteral("h"), QStringLiteral("help") },
        QCoreApplication::translate("Options", "Prints this text."));
    const QCommandLineOption version(
        QStringLiteral("version"), QCoreApplication::translate("Options", "Prints the version."));
    const QCommandLineOption theme(QStringLiteral("theme"),
        QCoreApplication::translate("Options", "light or dark; without it as set in the window."),
        QStringLiteral("THEME"));
    const QCommandLineOption render(QStringLiteral("render"),
        QCoreApplication::translate(
            "Options", "Writes a picture of each page to a folder and leaves; needs no screen."),
        QStringLiteral("DIR"));
    const QCommandLineOption page(QStringLiteral("page"),
        QCoreApplication::translate("Options", "With --render: this page alone; may be given several times."),
        QStringLiteral("PAGE"));
    const QCommandLineOption size(QStringLiteral("size"),
        QCoreApplication::translate("Options", "With --render: size of a picture (1280x800)."),
        QStringLiteral("WxH"));
    const QCommandLineOption scale(QStringLiteral("scale"),
        QCoreApplication::translate("Options", "With --render: pixels per point (1)."), QStringLiteral("N"));
    const QCommandLineOption change(QStringLiteral("change"),
        QCoreApplication::translate("Options",
            "With --render: what the page What-if is asked, as strata whatif takes it; may be given several "
            "times."),
        QStringLiteral("KIND=VALUE"));
    const QCommandLineOption table(QStringLiteral("table"),
        QCoreApplication::translate("Options",
            "With --render: what stands below the picture of What-if: alternatives, peaks, cards, blocks, "
            "plan or confirm."),
        QStringLiteral("TABLE"));
    const QCommandLineOption svg(QStringLiteral("svg"),
        QCoreApplication::translate("Options", "With --render: also an SVG of pages that have one."));
    const QCommandLineOption window(QStringLiteral("window"),
        QCoreApplication::translate("Options", "With --render: the whole window instead of the page."));
    const QCommandLineOption force(QStringLiteral("force"),
        QCoreApplication::translate(
            "Options", "Reads even what unpacks to more than half of this machine's memory."));
    const QCommandLineOption ranks(QStringLiteral("ranks"),
        QCoreApplication::translate(
            "Options", "The files are traces of the ranks of one run: compares them."));
    parser.addOptions(
        { help, version, theme, render, page, size, scale, change, table, svg, window, force, ranks });
    parser.addPositionalArgument(QStringLiteral("FILE"),
        QCoreApplication::translate("Options", "A PyTorch memory snapshot."), QStringLiteral("[FILE...]"));
    if (!parser.parse(arguments))
        badUsage(parser.errorText());
    if (parser.isSet(help)) {
        std::fputs(qPrintable(parser.helpText()), stdout);
        std::exit(0);
    }
    if (parser.isSet(version)) {
        std::printf("strata-gui %s\n", STRATA_VERSION);
        std::exit(0);
    }

    Options options;
    options.files = parser.positionalArguments();
    options.theme = parser.value(theme);
    if (!options.theme.isEmpty() && options.theme != QLatin1String("light")
        && options.theme != QLatin1String("dark"))
        badUsage(QStringLiteral("--theme is light or dark, not %1").arg(options.theme));
    options.pages = parser.values(page);
    options.changes = parser.values(change);
    options.table = parser.value(table);
    options.svg = parser.isSet(svg);
    options.window = parser.isSet(window);
    options.force = parser.isSet(force);
    options.ranks = parser.isSet(ranks);
    if (options.ranks && options.files.size() < 2)
        badUsage(QStringLiteral("--ranks takes two files or more"));
    if (parser.isSet(size)) {
        const QStringList parts = parser.value(size).split(QLatin1Char('x'));
        if (parts.size() == 2)
            options.size = QSize(parts[0].toInt(), parts[1].toInt());
        if (parts.size() != 2 || options.size.width() < 64 || options.size.height() < 64
            || options.size.width() > 16'384 || options.size.height() > 16'384)
            badUsage(QStringLiteral("--size is WIDTHxHEIGHT between 64 and 16384, not %1")
                         .arg(parser.value(size)));
    }
    if (parser.isSet(scale)) {
        options.scale = parser.value(scale).toDouble();
        if (options.scale < 0.5 || options.scale > 8)
            badUsage(QStringLiteral("--scale is between 0.5 and 8, not %1").arg(parser.value(scale)));
    }
    if (parser.isSet(render)) {
        options.renderTo = parser.value(render);
        if (options.files.size() != 1 && !options.ranks)
            badUsage(QStringLiteral("--render takes one file"));
    }
    return options;
}

} // namespace strata::gui
