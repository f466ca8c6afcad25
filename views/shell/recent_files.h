// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

class QSettings;

namespace strata::views {

/// The files that were opened last, newest first, and where they lie; kept in the settings. GUI thread only.
class RecentFiles : public QObject {
    Q_OBJECT
public:
    static constexpr int kMost = 10;

    explicit RecentFiles(QSettings& settings, QObject* parent = nullptr);

    [[nodiscard]] QStringList paths() const;
    void add(const QString& path); ///< to the front; kept absolute
    void remove(const QString& path);
    void clear();
    /// Where file dialogs begin.
    [[nodiscard]] QString folder() const;
    void setFolder(const QString& folder);

Q_SIGNALS:
    void changed();

private:
    void store(const QStringList& paths);

    QSettings& m_settings;
};

/// The samples that lie beside the program, in the build tree as when installed; empty where there are none.
struct Sample {
    QString path;
    QString title;
    QString about;
};
[[nodiscard]] QList<Sample> samples();

} // namespace strata::views
