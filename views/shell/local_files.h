// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QMimeData;

namespace strata::views {

/// The files of this machine that a drag carries, which any window of the program opens.
[[nodiscard]] QStringList localFiles(const QMimeData& data);

} // namespace strata::views
