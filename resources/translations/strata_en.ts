<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<!-- SPDX-License-Identifier: GPL-3.0-or-later. English is in the source; here are only its plurals. -->
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>Checks</name>
    <message numerus="yes">
        <source>%n note(s)</source>
        <translation>
            <numerusform>%n note</numerusform>
            <numerusform>%n notes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n breach(es)</source>
        <translation>
            <numerusform>%n breach</numerusform>
            <numerusform>%n breaches</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Details</name>
    <message numerus="yes">
        <source>%n event(s)</source>
        <translation>
            <numerusform>%n event</numerusform>
            <numerusform>%n events</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DryRun</name>
    <message numerus="yes">
        <source>Runs the command on the largest card of each other GPU generation: %n more run(s). Two run at a time where host memory allows. Smaller cards that may be too small get runs of their own.</source>
        <translation>
            <numerusform>Runs the command on the largest card of each other GPU generation: %n more run. Two run at a time where host memory allows. Smaller cards that may be too small get runs of their own.</numerusform>
            <numerusform>Runs the command on the largest card of each other GPU generation: %n more runs. Two run at a time where host memory allows. Smaller cards that may be too small get runs of their own.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n optimizer step(s)</source>
        <translation>
            <numerusform>%n optimizer step</numerusform>
            <numerusform>%n optimizer steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) marked by the program</source>
        <translation>
            <numerusform>%n step marked by the program</numerusform>
            <numerusform>%n steps marked by the program</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) in %1.</source>
        <translation>
            <numerusform>%n run in %1.</numerusform>
            <numerusform>%n runs in %1.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FilterText</name>
    <message numerus="yes">
        <source>%n site(s)</source>
        <translation>
            <numerusform>%n site</numerusform>
            <numerusform>%n sites</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QObject</name>
    <message numerus="yes">
        <source>%n more lane(s) of annotations find no room here</source>
        <translation>
            <numerusform>%n more lane of annotations finds no room here</numerusform>
            <numerusform>%n more lanes of annotations find no room here</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, all those of %n thread(s) among them</source>
        <translation>
            <numerusform>%1, all those of %n thread among them</numerusform>
            <numerusform>%1, all those of %n threads among them</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Texts</name>
    <message numerus="yes">
        <source>%n event(s)</source>
        <translation>
            <numerusform>%n event</numerusform>
            <numerusform>%n events</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::DetailsPanel</name>
    <message numerus="yes">
        <source>Show %n framework frame(s)</source>
        <translation>
            <numerusform>Show %n framework frame</numerusform>
            <numerusform>Show %n framework frames</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Hide %n framework frame(s)</source>
        <translation>
            <numerusform>Hide %n framework frame</numerusform>
            <numerusform>Hide %n framework frames</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::DryRunResultView</name>
    <message numerus="yes">
        <source>%n request(s) refused, the first of %1 (%2).</source>
        <translation>
            <numerusform>%n request refused, of %1 (%2).</numerusform>
            <numerusform>%n requests refused, the first of %1 (%2).</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more device(s)</source>
        <translation>
            <numerusform>and %n more device</numerusform>
            <numerusform>and %n more devices</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n other line(s)</source>
        <translation>
            <numerusform>%n other line</numerusform>
            <numerusform>%n other lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::DryRunTimeView</name>
    <message numerus="yes">
        <source>%1 takes at least %2 on %3: %4, operands and results of %5, in %n launch(es).</source>
        <translation>
            <numerusform>%1 takes at least %2 on %3: %4, operands and results of %5, in %n launch.</numerusform>
            <numerusform>%1 takes at least %2 on %3: %4, operands and results of %5, in %n launches.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, operands and results of %2, %n launch(es)</source>
        <translation>
            <numerusform>%1, operands and results of %2, %n launch</numerusform>
            <numerusform>%1, operands and results of %2, %n launches</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Launching it took %1 on this machine&apos;s CPU (%n step(s) timed).</source>
        <translation>
            <numerusform>Launching it took %1 on this machine&apos;s CPU (one step timed).</numerusform>
            <numerusform>Launching it took %1 on this machine&apos;s CPU (median of %n steps).</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::MainWindow</name>
    <message numerus="yes">
        <source>copied %n line(s)</source>
        <translation>
            <numerusform>copied %n line</numerusform>
            <numerusform>copied %n lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::ShareList</name>
    <message numerus="yes">
        <source>%n block(s)</source>
        <translation>
            <numerusform>%n block</numerusform>
            <numerusform>%n blocks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::DeviceList</name>
    <message numerus="yes">
        <source>%n request(s) failed</source>
        <translation>
            <numerusform>%n request failed</numerusform>
            <numerusform>%n requests failed</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::DocumentContent</name>
    <message numerus="yes">
        <source>copied %n line(s) as CSV</source>
        <translation>
            <numerusform>copied %n line as CSV</numerusform>
            <numerusform>copied %n lines as CSV</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>copied a stack of %n frame(s)</source>
        <translation>
            <numerusform>copied a stack of %n frame</numerusform>
            <numerusform>copied a stack of %n frames</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 event(s), all of them shown</source>
        <translation>
            <numerusform>%1 event, shown whole</numerusform>
            <numerusform>%1 events, all of them shown</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::SummaryPage</name>
    <message numerus="yes">
        <source>The last of %n request(s) that failed</source>
        <translation>
            <numerusform>The last of %n request that failed</numerusform>
            <numerusform>The last of %n requests that failed</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n other line(s)</source>
        <translation>
            <numerusform>%n other line</numerusform>
            <numerusform>%n other lines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Show %n more, all at their defaults</source>
        <translation>
            <numerusform>Show %n more, all at their defaults</numerusform>
            <numerusform>Show %n more, all at their defaults</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::NotesPage</name>
    <message numerus="yes">
        <source>%n note(s)</source>
        <translation>
            <numerusform>%n note</numerusform>
            <numerusform>%n notes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n named range(s)</source>
        <translation>
            <numerusform>%n named range</numerusform>
            <numerusform>%n named ranges</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n saved filter(s)</source>
        <translation>
            <numerusform>%n saved filter</numerusform>
            <numerusform>%n saved filters</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strata::views::ProcessList</name>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
</context>
</TS>
