// SPDX-License-Identifier: GPL-3.0-or-later
// Pages of the manual that the program makes: docs/json.md from the fields of its answers, docs/changes.md
// from its kinds of change. Run with STRATA_WRITE_DOCS=1, these tests write the pages.
#include "app/cli/tables/row_labels.h"
#include "app/launch/diagnosis.h"
#include "model/analysis/allocator/fragmentation_answer.h"
#include "model/analysis/oom/oom_answer.h"
#include "model/analysis/allocator/replay_answer.h"
#include "model/analysis/allocator/state_answer.h"
#include "model/analysis/summary/check_answer.h"
#include "model/analysis/summary/groups_answer.h"
#include "model/analysis/training/leaks/leaks_answer.h"
#include "model/analysis/training/ledger/ledger_answer.h"
#include "model/analysis/training/steps/steps_answer.h"
#include "model/analysis/work/timeline_answer.h"
#include "model/answers/summary_answer_fields.h"
#include "model/dryrun/dry_run_answer.h"
#include "model/dryrun/dry_run_fit.h"
#include "model/live/processes_answer.h"
#include "model/session/share_answer.h"
#include "model/tables/block_columns.h"
#include "model/tables/event_columns.h"
#include "model/tables/notes_answer.h"
#include "model/tables/rows_between_events.h"
#include "model/tables/rows_header.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/plan/whatif_report.h"
#include "tests/integration/answer_reference.h"
#include "tests/integration/run_strata.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

namespace strata::test {

namespace {

namespace fs = std::filesystem;

class JsonPage {
public:
    template <class T, class... In> void section(std::string_view title)
    {
        KeyRows rows;
        rows.add<T, In...>();
        m_text
            += "\n## " + std::string(title) + "\n\n| key | unit | meaning |\n|---|---|---|\n" + rows.text();
        m_rows += rows.rows();
    }

    std::string m_text = "# JSON keys\n\nWhat `strata COMMAND --json` prints. `[]` stands for each element "
                         "of an array, `*` for any key. Strata makes this "
                         "page from the program: see [HACKING.md](../HACKING.md).\n";
    int m_rows = 0;
};

JsonPage jsonPage()
{
    using namespace model;
    JsonPage page;
    page.section<SummaryAnswer, SummaryAnswer>("summary");
    page.section<CheckAnswer, CheckAnswer>("check");
    page.section<GroupsAnswer, GroupsAnswer>("at");
    page.section<RowsHeader>("blocks and events: first line");
    page.section<BlockRow>("blocks: each row");
    page.section<EventRow>("events: each row");
    page.section<RowBetweenEvents>("events: rows of --annotations");
    page.section<StepsAnswer>("steps");
    page.section<OomAnswer>("oom");
    page.section<StateAnswer, StateAnswer>("state");
    page.section<LedgerAnswer, LedgerAnswer>("ledger");
    page.section<FragmentationAnswer, FragmentationAnswer>("fragmentation");
    page.section<LeaksAnswer, LeaksAnswer>("leaks");
    page.section<ReplayCheckAnswer>("replay --check");
    page.section<OtherSettingsAnswer>("replay --set");
    page.section<WhatIfReport>("whatif");
    page.section<DryRunAnswer>("dryrun");
    page.section<DryRunFitAnswer>("dryrun --fit");
    page.section<TimelineAnswer, TimelineAnswer>("timeline");
    page.section<ProcessesAnswer>("list");
    page.section<ProcessAt>("attach, and list --follow: each line");
    page.section<launch::Diagnosis>("doctor");
    page.section<ShareAnswer, ShareAnswer>("share");
    page.section<NotesAnswer, NotesAnswer>("notes");
    page.section<NoteChangeAnswer>("notes: after a change");
    return page;
}

std::string codeOf(std::string_view text)
{
    std::string code = "`";
    for (const char c : text)
        code += c == '|' ? std::string("\\|") : std::string(1, c);
    return code + '`';
}

/// What confirms an answer: makes the change of a real run.
std::string confirmedBy(const model::ChangeKind& kind)
{
    if (kind.stage == model::ChangeStage::Ranks) // no program is run as one of many
        return "nobody";
    std::string by = kind.isByCalls != nullptr ? "recorded calls" : "";
    if (kind.madeBy == model::MadeBy::Arguments || kind.madeBy == model::MadeBy::Outside)
        by += by.empty() ? "the program" : ", the program";
    return by.empty() ? "nobody" : by;
}

std::string changesPage()
{
    std::string page
        = "# Changes of what-if\n\nWhat `strata whatif --change` takes, and what `strata dryrun --change` "
          "makes of a program that runs. Strata makes "
          "this page from the program: see [HACKING.md](../HACKING.md).\n\n"
          "| `whatif --change` | change | confirmed by | `dryrun --change` |\n|---|---|---|---|\n";
    for (const model::ChangeKind* kind : model::changeKinds())
        page += "| " + codeOf(kind->values) + " | " + std::string(kind->help.text()) + " | "
            + confirmedBy(*kind) + " | " + (kind->dryRunValues.empty() ? "" : codeOf(kind->dryRunValues))
            + " |\n";
    std::vector<const model::ChangeKind*> made;
    for (const model::ChangeKind* kind : model::changeKinds())
        if (kind->stage != model::ChangeStage::None)
            made.push_back(kind);
    std::ranges::stable_sort(made, {}, &model::ChangeKind::stage);
    page += "\nSeveral changes are made in this order, whatever the order on the command line:";
    for (const model::ChangeKind* kind : made)
        page += (kind == made.front() ? " `" : ", `") + std::string(kind->word) + '`';
    return page + ". Several of one kind are taken in the order given.\n";
}

void expectPage(const char* name, const std::string& made)
{
    const fs::path path = fs::path(STRATA_SOURCE) / "docs" / name;
    if (std::getenv("STRATA_WRITE_DOCS") != nullptr)
        std::ofstream(path) << made;
    EXPECT_EQ(contentOf(path), made) << "run this test with STRATA_WRITE_DOCS=1";
}

} // namespace

TEST(Reference, JsonKeysAreThoseOfTheProgram)
{
    const JsonPage page = jsonPage();
    EXPECT_GT(page.m_rows, 500);
    expectPage("json.md", page.m_text);
}

TEST(Reference, ChangesAreThoseOfTheProgram)
{
    expectPage("changes.md", changesPage());
}

} // namespace strata::test
