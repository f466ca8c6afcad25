// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QStringList>

#include <optional>

class QSettings;

namespace strata::views {

/// What a dry run is asked to do, as the page's form holds it. A value.
struct DryRunRequest {
    QString command; ///< as typed, see splitCommand()
    QString folder; ///< where it runs; empty: the home folder
    QString device = QStringLiteral("A100-80GB");
    QString capacity; ///< "16GiB"; empty: the card's
    int steps = 0; ///< 0: until the program ends
    std::optional<QString> allocatorSettings; ///< replace the environment's; empty removes them
    std::optional<int> rank; ///< one rank of worldSize
    int worldSize = 8;
    int devices = 1;
    bool skipInit = true;
    bool time = false; ///< tell how long a step takes at least; not of a search for what fits
    bool onEachCard = false; ///< run on other cards, too; not of a search for what fits
    QString change; ///< "amp=bf16", several with spaces between
    QString fit; ///< "BATCH=1..512", several with spaces between
    QString output; ///< where the recording is kept; empty: among the window's own

    friend bool operator==(const DryRunRequest&, const DryRunRequest&) = default;

    /// What stands between `strata dryrun` and `--`, without --json and -o.
    [[nodiscard]] QStringList options() const;
    /// The folder, with ~ taken for the home folder.
    [[nodiscard]] QString workingFolder() const;
    /// The line for a terminal that does the same: goes to the folder, sets variables, runs `strata dryrun`.
    /// Empty while the command cannot be run.
    [[nodiscard]] QString commandLine() const;

    [[nodiscard]] QJsonObject toJson() const;
    [[nodiscard]] static DryRunRequest fromJson(const QJsonObject& json); ///< defaults for what is missing
};

/// What was run last, newest first, kept in the settings. GUI thread only.
class RecentDryRuns : public QObject {
    Q_OBJECT
public:
    static constexpr int kMost = 12;

    explicit RecentDryRuns(QSettings& settings, QObject* parent = nullptr);

    [[nodiscard]] QList<DryRunRequest> all() const;
    /// To the front; one with the same command, folder and options is there only once.
    void add(const DryRunRequest& request);
    void clear();

Q_SIGNALS:
    void changed();

private:
    void store(const QList<DryRunRequest>& requests);

    QSettings& m_settings;
};

} // namespace strata::views
