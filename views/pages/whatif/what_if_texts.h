// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/whatif/confirm_job.h"
#include "views/models/whatif/what_if.h"
#include "views/widgets/empty_notice.h"

#include <QString>

namespace strata::views {

class Document;

/// What the page What-if says, as rich text. Links are those of views/style/rich_text.h.

/// What it would come to, how that compares with what was recorded, whether it fits; or why there is no
/// answer, and what to do.
[[nodiscard]] QString whatIfVerdict(const WhatIfAnswer& answer);
/// What to do about a refusal, on this page; empty: nobody says.
[[nodiscard]] QString whatIfHint(const model::Error& error);
/// How sure that is and why, between what it lies, what is not known; empty where there is no answer.
[[nodiscard]] QString whatIfEvidence(const WhatIfAnswer& answer);
/// The same of what was run: whatever the estimate was, this is so.
[[nodiscard]] QString confirmedVerdict(const WhatIfAnswer& answer, const Confirmation& confirmed);
/// What it came to when it was run, and how far the estimate was off.
[[nodiscard]] QString confirmedText(const Confirmation& confirmed);
/// Why nothing can be asked of the device that is shown, and what to do; without a title where something can.
[[nodiscard]] EmptyNotice::Text whatIfAbsence(const Document& document);

} // namespace strata::views
