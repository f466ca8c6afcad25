// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/operator_cost.h"

#include <gtest/gtest.h>
#include <string>

namespace strata::model {

namespace {

/// As the profiler writes a row: sizes, types, values and strides of each argument.
std::optional<OperatorCost> cost(std::string_view name, std::string_view shapes, std::string_view types,
    std::string_view values = {}, std::string_view strides = {})
{
    const auto inputs = readOperatorInputs(shapes, types, values, strides);
    return inputs ? costOf(name, *inputs) : std::nullopt;
}

constexpr const char* kTwoHalves = R"(["c10::Half","c10::Half"])";

} // namespace

TEST(OperatorCost, OfProductsIsTwiceTheirThreeSides)
{
    const auto product = cost("aten::mm", "[[3,5],[5,7]]", kTwoHalves, R"(["",""])", "[[5,1],[7,1]]");
    ASSERT_TRUE(product);
    EXPECT_EQ(product->kind, CostKind::MatrixProduct);
    EXPECT_EQ(product->type, NumberType::Fp16);
    EXPECT_EQ(product->flops, 2 * 3 * 5 * 7);
    EXPECT_EQ(product->leastFlops, product->flops);
    EXPECT_EQ(product->readBytes, 2 * (3 * 5 + 5 * 7));
    EXPECT_EQ(product->leastReadBytes, 2 * 5 * 7) << "both may be views of the same memory";
    EXPECT_EQ(product->writtenBytes, 2 * 3 * 7);

    const auto added = cost("aten::addmm", "[[7],[3,5],[5,7],[],[]]",
        R"(["float","float","float","Scalar","Scalar"])", R"(["","","","1","1"])");
    ASSERT_TRUE(added);
    EXPECT_EQ(added->flops, 2 * 3 * 5 * 7);
    EXPECT_EQ(added->readBytes, 4 * (7 + 3 * 5 + 5 * 7));

    const auto batch = cost(
        "aten::bmm.out", "[[4,3,5],[4,5,7],[4,3,7]]", R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])");
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->flops, 2 * 4 * 3 * 5 * 7);
    EXPECT_EQ(batch->readBytes, 2 * 4 * (3 * 5 + 5 * 7)) << "the result is not read";

    const auto vector = cost("aten::mv", "[[3,5],[5]]", R"(["float","float"])");
    ASSERT_TRUE(vector);
    EXPECT_EQ(vector->flops, 2 * 3 * 5);
}

TEST(OperatorCost, OfProductsThatDoNotGoTogetherIsNotKnown)
{
    EXPECT_FALSE(cost("aten::mm", "[[3,5],[6,7]]", kTwoHalves));
    EXPECT_FALSE(cost("aten::bmm", "[[2,3,5],[3,5,7]]", kTwoHalves));
    EXPECT_FALSE(cost("aten::bmm", "[[2,3,5],[5,7]]", kTwoHalves));
    EXPECT_FALSE(cost("aten::mm", "[[],[]]", kTwoHalves));
    EXPECT_FALSE(cost("aten::mm", "[[3,5]]", R"(["float"])"));
    EXPECT_FALSE(cost("aten::mm", "[[3,5],[5,7]]", R"(["float","what"])"));
    EXPECT_FALSE(cost("aten::no_such_operator", "[[3,5],[5,7]]", kTwoHalves));
    EXPECT_FALSE(cost("mine::mm", "[[3,5],[5,7]]", kTwoHalves));
    EXPECT_FALSE(cost("aten::mm", "[[3,5],[5,7]]", kTwoHalves, "", "[[],[7,1]]")) << "sparse";
}

TEST(OperatorCost, OfConvolutions)
{
    // 2 pictures, 3 to 8 channels, windows of 3 by 3 over 10 by 12, an edge of 1, every second: 5 by 6.
    constexpr const char* kTypes
        = R"(["c10::Half","c10::Half","ScalarList","ScalarList","ScalarList","Scalar"])";
    const auto forward = cost("aten::cudnn_convolution", "[[2,3,10,12],[8,3,3,3],[],[],[],[]]", kTypes,
        R"(["","","[1, 1]","[2, 2]","[1, 1]","1"])");
    ASSERT_TRUE(forward);
    const double flops = 2.0 * 2 * 8 * 5 * 6 * 3 * 3 * 3;
    EXPECT_EQ(forward->flops, flops);
    EXPECT_EQ(forward->leastFlops, flops / 4) << "two windows overlap in both dimensions";
    EXPECT_EQ(forward->writtenBytes, 2 * 2 * 8 * 5 * 6);

    const auto patches = cost("aten::cudnn_convolution", "[[2,3,32,32],[8,3,16,16],[],[],[],[]]", kTypes,
        R"(["","","[0, 0]","[16, 16]","[1, 1]","1"])");
    ASSERT_TRUE(patches);
    EXPECT_EQ(patches->flops, 2.0 * 2 * 8 * 2 * 2 * 3 * 16 * 16);
    EXPECT_EQ(patches->leastFlops, patches->flops) << "nothing overlaps";

    constexpr const char* kConvolution
        = R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";
    const auto transposed = cost("aten::convolution", "[[2,8,5,6],[8,3,3,3],[],[],[],[],[],[],[]]",
        kConvolution, R"(["","","","[2, 2]","[1, 1]","[1, 1]","True","[1, 1]","1"])");
    ASSERT_TRUE(transposed);
    EXPECT_EQ(transposed->flops, 2.0 * 2 * 5 * 6 * 8 * 3 * 3 * 3) << "one for each place of the input";
    EXPECT_EQ(transposed->writtenBytes, 4 * 2 * 3 * 10 * 12);

    const auto grouped = cost("aten::convolution", "[[1,6,9],[6,1,3],[],[],[],[],[],[],[]]", kConvolution,
        R"(["","","","[1]","[1]","[1]","False","[0]","6"])");
    ASSERT_TRUE(grouped);
    EXPECT_EQ(grouped->flops, 2 * 9 * 6 * 3);
}

TEST(OperatorCost, OfConvolutionsBackwardFollowsTheirMask)
{
    const auto backward = [](const std::string& mask, int groups) {
        const std::string channels = std::to_string(6 / groups);
        return cost("aten::convolution_backward",
            "[[2,6,5,5],[2,6,5,5],[6," + channels + ",3,3],[],[],[],[],[],[],[],[]]",
            R"(["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"])",
            R"(["","","","[6]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]",")" + std::to_string(groups)
                + R"(","[)" + mask + R"(]"])");
    };
    const double one = 2.0 * 2 * 5 * 5 * 6 * 6 * 3 * 3;
    ASSERT_TRUE(backward("True, True, False", 1));
    EXPECT_EQ(backward("True, True, False", 1)->flops, 2 * one);
    EXPECT_EQ(backward("True, False, False", 1)->flops, one);
    EXPECT_EQ(backward("False, True, True", 1)->flops, one);
    EXPECT_EQ(backward("False, False, True", 1)->flops, 0);
    // torch's counter takes the weight's gradient for one of all channels with all.
    EXPECT_EQ(backward("False, True, False", 6)->flops, one);
    EXPECT_EQ(backward("False, True, False", 6)->doneFlops, one / 6);
    EXPECT_FALSE(backward("True", 1));
    EXPECT_FALSE(backward("", 1));
}

TEST(OperatorCost, OfAttentionCountsWhatAMaskLeaves)
{
    const auto flash = [](const char* causal, const char* lengths = "[]", const char* window = "") {
        return cost("aten::_flash_attention_forward",
            std::string("[[2,4,8,16],[2,4,8,16],[2,4,8,16],") + lengths + ",[],[],[],[],[],[],[],[],[]]",
            R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","int","","Scalar","Scalar","Scalar","Scalar","Scalar","","",""])",
            std::string(R"(["","","","","","4","4","0.",")") + causal + R"(","False","",")" + window
                + R"(",""])");
    };
    const double all = 2.0 * 2 * 8 * 4 * 4 * (16 + 16);
    ASSERT_TRUE(flash("False"));
    EXPECT_EQ(flash("False")->flops, all);
    EXPECT_EQ(flash("False")->leastFlops, all);
    EXPECT_EQ(flash("True")->flops, all) << "as torch's counter has it";
    EXPECT_EQ(flash("True")->doneFlops, all * 10 / 16) << "4 + 3 + 2 + 1 of 16 scores";
    EXPECT_EQ(flash("")->doneFlops, all);
    EXPECT_EQ(flash("")->leastFlops, all * 10 / 16) << "whether there is a mask is not told";
    EXPECT_EQ(flash("False")->writtenBytes, 2 * 2 * 8 * 4 * 16);
    EXPECT_FALSE(flash("False", "[3]")) << "packed sequences of lengths that only the tensor tells";
    EXPECT_FALSE(flash("False", "[]", "128"));

    const auto backward = cost("aten::_scaled_dot_product_cudnn_attention_backward",
        "[[2,8,4,16],[2,8,4,32],[2,8,6,32],[2,8,6,16],[2,8,4,16]]",
        R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half"])");
    ASSERT_TRUE(backward);
    EXPECT_EQ(backward->flops, 2.0 * 2 * 8 * 4 * 6 * (3 * 32 + 2 * 16));
    EXPECT_EQ(backward->kind, CostKind::Attention);
}

TEST(OperatorCost, OfElementwiseIsBytesAlone)
{
    const auto sum = cost(
        "aten::add", "[[4,1],[3],[]]", R"(["float","float","Scalar"])", R"(["","","1"])", "[[1,1],[1],[]]");
    ASSERT_TRUE(sum);
    EXPECT_EQ(sum->flops, 0);
    EXPECT_EQ(sum->writtenBytes, 4 * 12);
    EXPECT_EQ(sum->readBytes, 4 * (4 + 3));
    EXPECT_FALSE(cost("aten::add", "[[4],[3],[]]", R"(["float","float","Scalar"])"));

    const auto scaled = cost("aten::mul", "[[100],[]]", R"(["c10::BFloat16","double"])");
    ASSERT_TRUE(scaled);
    EXPECT_EQ(scaled->writtenBytes, 200) << "a number does not widen a tensor";

    // x + x.expand(): one element for all of a dimension that was expanded.
    const auto expanded = cost("aten::neg", "[[1000,8]]", R"(["float"])", R"([""])", "[[0,1]]");
    ASSERT_TRUE(expanded);
    EXPECT_EQ(expanded->leastReadBytes, 4 * 8);
    EXPECT_EQ(expanded->writtenBytes, 4 * 8000);
    const auto windows = cost("aten::sum", "[[98,3]]", R"(["float"])", R"([""])", "[[1,1]]");
    ASSERT_TRUE(windows);
    EXPECT_EQ(windows->leastReadBytes, 4 * 98) << "windows overlap";
    const auto turned = cost("aten::sum", "[[8,100]]", R"(["float"])", R"([""])", "[[1,8]]");
    EXPECT_EQ(turned->leastReadBytes, 4 * 800);
    const auto noStrides = cost("aten::sum", "[[8,100]]", R"(["float"])");
    EXPECT_EQ(noStrides->readBytes, 4 * 800);
    EXPECT_EQ(noStrides->leastReadBytes, 4) << "it may be expanded";

    const auto truths = cost("aten::eq", "[[64],[]]", R"(["long int","Scalar"])");
    EXPECT_EQ(truths->writtenBytes, 64);
    const auto inPlace = cost("aten::add_", "[[64],[64],[]]", R"(["c10::Half","float","Scalar"])");
    EXPECT_EQ(inPlace->writtenBytes, 128);
    const auto widened = cost("aten::add", "[[64],[64],[]]", R"(["c10::Half","float","Scalar"])");
    EXPECT_EQ(widened->writtenBytes, 256);
}

TEST(OperatorCost, OfTheOthers)
{
    const auto rows = cost("aten::embedding", "[[30000,64],[2,5],[],[],[]]",
        R"(["float","long int","Scalar","Scalar","Scalar"])", R"(["","","-1","False","False"])");
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->bytes(), 4 * 10 * 64) << "which rows are read is not told";
    const auto selected = cost(
        "aten::index_select", "[[30,64],[],[5]]", R"(["float","Scalar","long int"])", R"(["","-1",""])");
    ASSERT_TRUE(selected);
    EXPECT_EQ(selected->bytes(), 4 * 30 * 5);
    EXPECT_FALSE(
        cost("aten::index_select", "[[30,64],[],[5]]", R"(["float","Scalar","long int"])", R"(["","2",""])"));

    const auto softmax = cost(
        "aten::_softmax", "[[4,8],[],[]]", R"(["c10::Half","Scalar","Scalar"])", R"(["","-1","True"])");
    EXPECT_EQ(softmax->bytes(), 2 * 32 + 4 * 32);
    EXPECT_EQ(cost("aten::copy_", "[[8],[],[]]", R"(["float","c10::Half","Scalar"])")->bytes(), 4 * 8 + 2);
    EXPECT_EQ(cost("aten::zero_", "[[8]]", R"(["float"])")->bytes(), 32);
    EXPECT_EQ(cost("aten::view", "[[8],[]]", R"(["float","ScalarList"])")->bytes(), 0);
    EXPECT_FALSE(cost("aten::cat", "[[[2,3],[4,3]],[]]", R"(["TensorList","Scalar"])"))
        << "of what type is not told";

    OperatorInputs lists;
    EXPECT_EQ(elementTypeOf("long unsigned int").bytes, 8); // seeds of attention that are saved
    const TensorInput one{ { 3, 4 }, { 4, 1 }, elementTypeOf("float") };
    for (int i = 0; i < 6; ++i)
        lists.arguments.push_back({ { one, one }, true, {} });
    const auto adam = costOf("aten::_fused_adamw_", lists);
    ASSERT_TRUE(adam);
    EXPECT_EQ(adam->readBytes, 4 * 2 * 48);
    EXPECT_EQ(adam->writtenBytes, 3 * 2 * 48);
}

TEST(OperatorCost, OfHostileTextsIsNotKnown)
{
    for (const char* const shapes : { "", "[", "{}", "[[-1,2],[2,3]]", "[[1e30,2],[2,3]]", "[[\"a\"],[2]]",
             "[[[[[[1]]]]],[2]]", "[null,null]", "[[18446744073709551615,1],[1,1]]" })
        EXPECT_FALSE(cost("aten::mm", shapes, kTwoHalves)) << shapes;
    EXPECT_FALSE(cost("aten::mm", "[[4611686018427387904,4611686018427387904],[4611686018427387904,9]]",
        kTwoHalves, "", "[[-9223372036854775808,9223372036854775807],[1,1]]"))
        << "no device does that";
    for (const char* const values : { "[1]", "[[],{}]", R"(["[","]"])", R"(["[,]","[1,,2]"])", "{" })
        EXPECT_NO_FATAL_FAILURE(cost("aten::convolution", "[[1,1,1],[1,1,1]]", kTwoHalves, values)) << values;
}

TEST(ShapesText, LeavesOutWhatHasNoSizes)
{
    EXPECT_EQ(shapesText("[[2, 3],\n  [],[ 4 ]]"), "[2,3] [4]");
    EXPECT_EQ(shapesText("[[],[[1,2],[3]],[]]"), "[[1,2],[3]]");
    EXPECT_EQ(shapesText("[]"), "");
    EXPECT_EQ(shapesText("[[],[]]"), "");
    for (const char* const text : { "", "]", "[[", "]]]][[[", "[[[]]", "x" })
        EXPECT_LE(shapesText(text).size(), 8u) << text;
}

TEST(LeastTime, IsTheLongerOfComputingAndMemory)
{
    const Card* const card = cardOfDevice("NVIDIA A100-SXM4-80GB");
    ASSERT_TRUE(card);
    OperatorCost cost;
    cost.type = NumberType::Bf16;
    cost.leastFlops = cost.doneFlops = cost.flops = 312e12; // a second
    EXPECT_NEAR(leastNs(cost, *card), 1e9, 1);
    cost.leastWrittenBytes = cost.writtenBytes = 2 * 2039e9;
    EXPECT_NEAR(rooflineNs(cost, *card), 2e9, 1);
    EXPECT_LT(leastNs(cost, *card), 2e9) << "what L2 holds at the end need not have been written";
    EXPECT_GT(leastNs(cost, *card), 1.9e9);
    cost.leastWrittenBytes = static_cast<double>(card->l2Bytes);
    cost.leastFlops = 0;
    EXPECT_EQ(leastNs(cost, *card), 0);

    cost.type = NumberType::Fp32;
    cost.leastFlops = 156e12;
    EXPECT_NEAR(leastNs(cost, *card), 1e9, 1) << "a program may allow TF32";
    cost.type = NumberType::Other;
    EXPECT_EQ(leastNs(cost, *card), 0) << "no peak is known";
}

} // namespace strata::model
