// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/editor.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>

namespace strata::views {

namespace {

struct Known {
    const char* program;
    const char* arguments;
};

/// Editors with a window, and how they take a line.
constexpr Known kEditors[] = { { "code", "-g %f:%l" }, { "codium", "-g %f:%l" }, { "cursor", "-g %f:%l" },
    { "zed", "%f:%l" }, { "subl", "%f:%l" }, { "pycharm", "--line %l %f" }, { "charm", "--line %l %f" },
    { "kate", "-l %l %f" }, { "gvim", "+%l %f" }, { "nvim-qt", "%f -- +%l" }, { "emacs", "+%l %f" },
    { "gnome-text-editor", "+%l %f" }, { "gedit", "+%l %f" }, { "xed", "+%l %f" },
    { "mousepad", "--line=%l %f" } };

model::Failure missing(model::Sentence what, model::Sentence hint)
{
    return model::fail(model::Error::Kind::NotFound, std::move(what), std::move(hint));
}

} // namespace

QStringList editorCommand(const QString& command, const QString& file, std::int64_t line)
{
    QStringList words = QProcess::splitCommand(command);
    if (words.isEmpty())
        return {};
    if (!command.contains(QLatin1String("%f")))
        words.append(QStringLiteral("%f"));
    for (QString& word : words) {
        // The file last: its name may hold a percent sign.
        word.replace(QLatin1String("%l"), QString::number(std::max<std::int64_t>(line, 1)));
        word.replace(QLatin1String("%f"), file);
    }
    return words;
}

QString defaultEditor()
{
    for (const char* variable : { "VISUAL", "EDITOR" }) {
        const QStringList words = QProcess::splitCommand(qEnvironmentVariable(variable));
        for (const Known& known : kEditors)
            if (!words.isEmpty() && QFileInfo(words.first()).fileName() == QLatin1String(known.program))
                return QStringLiteral("%1 %2").arg(words.first(), QLatin1String(known.arguments));
    }
    for (const Known& known : kEditors)
        if (!QStandardPaths::findExecutable(QLatin1String(known.program)).isEmpty())
            return QStringLiteral("%1 %2").arg(QLatin1String(known.program), QLatin1String(known.arguments));
    return QStringLiteral("xdg-open %f");
}

model::Result<QString> locateSource(const QString& file, const QString& snapshotPath)
{
    if (file.isEmpty() || file == QLatin1String("??"))
        return missing(
            model::say("this frame has no source file"), model::say("only frames with a file can be opened"));
    if (QFileInfo::exists(file))
        return QFileInfo(file).absoluteFilePath();
    if (QFileInfo(file).isRelative()) {
        const QString beside = QFileInfo(snapshotPath).dir().absoluteFilePath(file);
        if (QFileInfo::exists(beside))
            return beside;
    }
    return missing(model::say("%1 does not exist on this machine", file.toStdString()),
        QFileInfo(file).isRelative()
            ? model::say(
                "the stack names it without a folder: put the snapshot beside it, or start Strata in "
                "its folder")
            : model::say("the snapshot was recorded elsewhere: make the file available under the same path"));
}

model::Result<void> openInEditor(
    const QString& command, const QString& file, std::int64_t line, const QString& snapshotPath)
{
    const auto path = locateSource(file, snapshotPath);
    if (!path)
        return model::Failure(path.error());
    QStringList words = editorCommand(command.trimmed().isEmpty() ? defaultEditor() : command, *path, line);
    const QString program = words.takeFirst();
    if (!QProcess::startDetached(program, words))
        return missing(model::say("the editor %1 cannot be started", program.toStdString()),
            model::say("set another one under Edit, Preferences"));
    return {};
}

} // namespace strata::views
