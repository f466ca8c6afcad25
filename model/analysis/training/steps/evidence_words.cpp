// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/evidence_words.h"

namespace strata::model {

Sentence evidenceSentence(StepEvidence evidence)
{
    switch (evidence) {
    case StepEvidence::Ranges:
        return say("known from optimizers");
    case StepEvidence::Bits:
        return say("known from autograd");
    case StepEvidence::Marks:
        return say("known from names in the program");
    case StepEvidence::Frames:
        return say("known from stack traces");
    case StepEvidence::Rhythm:
        return say("a guess from block sizes and lifetimes");
    case StepEvidence::None:
        break;
    }
    return say("nothing shows where steps end");
}

Sentence evidenceSentence(const TrainingSteps& steps)
{
    const bool isOfWork = steps.evidence == StepEvidence::Bits || steps.evidence == StepEvidence::Frames;
    return isOfWork && !steps.optimizerSeen && steps.certainty() == Certainty::Likely
        ? say("%1; no optimizer step seen", evidenceSentence(steps.evidence))
        : evidenceSentence(steps.evidence);
}

} // namespace strata::model
