// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

class QProcess;

namespace strata::views {

/// Has `strata attach --inject` bring a recorder into a process that runs without one: first asks what would
/// be done, then does it. One at a time; GUI thread only.
class InjectJob : public QObject {
    Q_OBJECT
public:
    /// `program`: the command line beside the window.
    explicit InjectJob(const QString& program, QObject* parent = nullptr);
    ~InjectJob() override; ///< ends what still asks; the process goes on as before

    [[nodiscard]] bool running() const { return m_running != nullptr; }
    void ask(qint64 process); ///< planned() or refused() follows
    void begin(qint64 process); ///< begun() or refused() follows

Q_SIGNALS:
    void planned(qint64 process, const QStringList& sentences); ///< what would be done
    void begun(qint64 process); ///< it can be watched
    void refused(const QString& what, const QString& hint);
    void runningChanged();

private:
    void run(qint64 process, const QStringList& options);
    void ended(qint64 process, bool asked);

    const QString m_program;
    QProcess* m_running = nullptr;
};

} // namespace strata::views
