// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/live/terminal/picture.h"
#include "model/base/sentence.h"
#include "model/live/live_process.h"
#include "model/live/nvml.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// What a user looks at of a process of which the driver's totals are all that is known: one device, what the
/// process had in use over time, and who else is on it. Times are of any clock that goes on. One thread.
class PolledView {
public:
    /// `remedy` says what would tell more.
    PolledView(model::LiveProcess process, const model::Sentence& remedy);

    /// A reading at `ns`; none: the process is gone.
    void take(const std::optional<model::LiveProcess>& read, const std::vector<model::GpuReading>& devices,
        std::int64_t ns);
    void nextDevice();
    void toggleAll() { m_showsAll = !m_showsAll; }
    void toggleHelp() { m_help = !m_help; }
    void scrollLines(int rows) { m_firstLine = m_firstLine + rows < 0 ? 0 : m_firstLine + rows; }
    [[nodiscard]] bool isGone() const { return m_isGone; }

    [[nodiscard]] Picture picture(GridSize size, std::int64_t ns);

private:
    /// From then on it used so much; none: the driver does not say.
    struct Point {
        std::int64_t ns;
        std::optional<std::int64_t> bytes;
    };
    void addPlot(Picture& picture, int columns, std::int64_t ns) const;
    void addProcesses(Picture& picture);

    model::LiveProcess m_process;
    const std::string m_remedy;
    std::vector<model::GpuReading> m_devices; // of the latest reading
    std::map<int, std::vector<Point>> m_history; // by device; a point where it changed
    std::map<std::int64_t, std::string> m_names; // of the others
    std::optional<int> m_device;
    std::int64_t m_beginNs = 0, m_endNs = 0;
    int m_firstLine = 0;
    bool m_isGone = false, m_showsAll = false, m_help = false, m_hasBegun = false;
};

} // namespace strata::cli
