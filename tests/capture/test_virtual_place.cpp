// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/hook/virtual_place.h"

#include <gtest/gtest.h>
#include <memory>

namespace strata::hook {

namespace {

class Base {
public:
    virtual ~Base() = default;
    virtual int first(int value) { return value; }
    virtual int second(int value) = 0;
    int plain(int value) { return value; } // NOLINT: not static for its type
};

class Derived : public Base {
public:
    int first(int value) override { return value + 1; }
    int second(int value) override { return value + 2; }
};

class Other : public Base {
public:
    int second(int value) override { return value + 3; }
};

struct Unrelated {
    virtual ~Unrelated() = default;
    virtual int third(int value) { return value; }
};
class Both : public Base, public Unrelated {
public:
    int second(int value) override { return value; }
    int third(int value) override { return value + 4; }
};

/// Made where the compiler does not see of which class it is.
[[gnu::noinline]] std::unique_ptr<Base> made(bool derived)
{
    if (derived)
        return std::make_unique<Derived>();
    return std::make_unique<Other>();
}

void* g_before = nullptr;

int instead(Base* self, int value)
{
    return 1000 + reinterpret_cast<int (*)(Base*, int)>(g_before)(self, value);
}

} // namespace

TEST(VirtualPlace, LeadsCallsOfAClassElsewhereAndBack)
{
    const std::unique_ptr<Base> one = made(true), another = made(true), other = made(false);
    const VirtualPlace place = VirtualPlace::of(one.get(), &Base::second);
    ASSERT_TRUE(place.isUsable());
    g_before = place.function();
    ASSERT_TRUE(place.set(reinterpret_cast<void*>(instead)));
    EXPECT_EQ(one->second(1), 1003);
    EXPECT_EQ(another->second(1), 1003) << "it is of the class";
    EXPECT_EQ(other->second(1), 4);
    EXPECT_EQ(one->first(1), 2);
    ASSERT_TRUE(place.set(g_before));
    EXPECT_EQ(one->second(1), 3);
}

TEST(VirtualPlace, RefusesWhatIsNotAsItIsKnownToBe)
{
    const std::unique_ptr<Base> one = made(true);
    EXPECT_FALSE(VirtualPlace::of(one.get(), &Base::plain).isUsable()) << "not virtual";
    const auto both = std::make_unique<Both>();
    EXPECT_FALSE(VirtualPlace::of(both.get(), static_cast<int (Both::*)(int)>(&Unrelated::third)).isUsable())
        << "of another base class";
    // Objects whose vtable is in no library, or has what is no function.
    void* entries[8]{};
    void** vtable = entries;
    EXPECT_FALSE(VirtualPlace::of(reinterpret_cast<Base*>(&vtable), &Base::second).isUsable());
    static void* table[8] = { table, table, table, table, table, table, table, table };
    void** inLibrary = table;
    EXPECT_FALSE(VirtualPlace::of(reinterpret_cast<Base*>(&inLibrary), &Base::second).isUsable());
}

} // namespace strata::hook
