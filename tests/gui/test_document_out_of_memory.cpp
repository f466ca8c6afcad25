// SPDX-License-Identifier: GPL-3.0-or-later
// What a document does where its analyses want more memory than there is.
#include "tests/gui/eventually.h"
#include "tests/gui/training/training_run.h"
#include "tests/support/grow.h"
#include "views/models/document/document.h"

#include <QCoreApplication>
#include <QTest>
#include <QThread>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

using namespace strata;
using strata::test::eventually;
using strata::views::Document;

namespace {

constexpr std::size_t kLarge = 2048; // what goes on without an analysis asks for less at once

std::atomic<bool> noMemory = false; // on threads of pools

bool isRefused(std::size_t bytes)
{
    return noMemory && bytes >= kLarge && QThread::currentThread() != QCoreApplication::instance()->thread();
}

} // namespace

void* operator new(std::size_t bytes)
{
    void* const memory = isRefused(bytes) ? nullptr : std::malloc(std::max<std::size_t>(bytes, 1));
    return memory ? memory : throw std::bad_alloc();
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

namespace {

TEST(DocumentOutOfMemory, KeepsWhatWasFoundAndRestsUntilThereIsMore)
{
    const auto whole = test::trainingRun(40, 4'000);
    test::Feeder feeder(*whole);
    Document document;
    document.follow();
    feeder.addEvents(0, 300);
    document.show(feeder.append());
    const auto training = [&] { return document.device() ? document.device()->training : nullptr; };
    ASSERT_TRUE(eventually([&] { return training() && training()->complete; }));
    const auto before = training();
    ASSERT_TRUE(before->categories && before->leaks && before->refusal.what.empty());

    const auto runsOut = QObject::connect(&document, &Document::deviceReady, [&] { // before it is looked at
        noMemory = !before->isOf(*document.device());
    });
    feeder.addEvents(0, 50);
    document.show(feeder.append());
    const bool failed = eventually([&] { return !training()->refusal.what.empty(); });
    QObject::disconnect(runsOut);
    noMemory = false;
    ASSERT_TRUE(failed);
    EXPECT_EQ(training()->categories, before->categories);
    EXPECT_EQ(training()->leaks, before->leaks);
    EXPECT_EQ(training()->trace, before->trace);
    EXPECT_FALSE(document.analysing()) << "it would fail again";

    document.endFollowing();
    ASSERT_TRUE(eventually([&] { return !document.analysing(); }));
    EXPECT_TRUE(training()->refusal.what.empty());
    EXPECT_TRUE(training()->isOf(*document.device()));
}

} // namespace
