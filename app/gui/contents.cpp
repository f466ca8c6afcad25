// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/contents.h"

#include "views/contents/attach_content.h"
#include "views/contents/document/document_content.h"
#include "views/contents/dry_run_content.h"
#include "views/contents/run_ranks_content.h"
#include "views/contents/start_page.h"
#include "views/shell/main_window.h"

namespace strata::gui {

using views::ContentContext;

views::ContentList windowContents()
{
    return { .start = [](const ContentContext& context) { return new views::StartPage(context); },
        .file = [](const ContentContext& context, const QString& path,
                    bool force) { return new views::DocumentContent(context, path, force); },
        .kinds
        = { views::AttachContent::kind(), views::DryRunContent::kind(), views::RunRanksContent::kind() } };
}

views::RunRanksContent& openRanks(views::MainWindow& window, const QStringList& files)
{
    const QString id = QLatin1String(views::RunRanksContent::kId);
    auto& content = static_cast<views::RunRanksContent&>(window.kind(id));
    window.showKind(id);
    content.open(files);
    return content;
}

} // namespace strata::gui
