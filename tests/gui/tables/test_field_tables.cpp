// SPDX-License-Identifier: GPL-3.0-or-later
// A column of a FieldTable that names no field would show "–" in every row.
#include "views/widgets/allocator/segments_table.h"
#include "views/widgets/training/leaks_table.h"
#include "views/widgets/training/steps_table.h"
#include "views/widgets/whatif/what_if_tables.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

using namespace strata;
using namespace strata::views;

namespace {

template <class Row> void expectFields(const FieldTable<Row>& table)
{
    const int columns = static_cast<int>(table.columns().size());
    EXPECT_GT(columns, 0);
    for (int column = 0; column < columns; ++column) {
        const std::string name = table.sortName(column).toStdString();
        bool known = false;
        model::forEachField<Row>([&](const auto& field) { known = known || field.key == name; });
        EXPECT_TRUE(known) << name;
    }
}

TEST(FieldTables, NameAFieldInEachColumn)
{
    expectFields(SettingsTable(std::make_shared<const std::vector<model::SettingTried>>()));
    expectFields(StepsTable(std::make_shared<const StepFigures>()));
    expectFields(FittingCardsTable(0, false));
    expectFields(RulesTable({}));

    auto leaks = std::make_shared<model::LeakReport>();
    leaks->sites.emplace_back();
    auto training = std::make_shared<TrainingData>();
    training->leaks = leaks;
    expectFields(SurvivorsTable(training, 0));
}

} // namespace
