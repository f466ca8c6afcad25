// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/element_type.h"

#include <algorithm>
#include <array>

namespace strata::model {

ElementType elementTypeOf(std::string_view name)
{
    struct Known {
        std::string_view name;
        ElementType type;
    };
    using enum NumberType;
    static constexpr std::array kKnown{ Known{ "float", { Fp32, 4, true } },
        Known{ "c10::BFloat16", { Bf16, 2, true } }, Known{ "c10::Half", { Fp16, 2, true } },
        Known{ "long int", { Other, 8, false } }, Known{ "long", { Other, 8, false } },
        Known{ "bool", { Other, 1, false } }, Known{ "int", { Other, 4, false } },
        Known{ "unsigned char", { Other, 1, false } }, Known{ "signed char", { Other, 1, false } },
        Known{ "short int", { Other, 2, false } }, Known{ "short", { Other, 2, false } },
        Known{ "long unsigned int", { Other, 8, false } }, Known{ "unsigned long", { Other, 8, false } },
        Known{ "unsigned int", { Other, 4, false } }, Known{ "short unsigned int", { Other, 2, false } },
        Known{ "unsigned short", { Other, 2, false } }, Known{ "torch.uint64", { Other, 8, false } },
        Known{ "torch.uint32", { Other, 4, false } }, Known{ "torch.uint16", { Other, 2, false } },
        Known{ "double", { Fp64, 8, true } }, Known{ "c10::Float8_e4m3fn", { Fp8, 1, true } },
        Known{ "c10::Float8_e5m2", { Fp8, 1, true } }, Known{ "c10::Float8_e4m3fnuz", { Fp8, 1, true } },
        Known{ "c10::Float8_e5m2fnuz", { Fp8, 1, true } }, Known{ "c10::complex<float>", { Fp32, 8, true } },
        Known{ "c10::complex<double>", { Fp64, 16, true } }, Known{ "torch.float32", { Fp32, 4, true } },
        Known{ "torch.bfloat16", { Bf16, 2, true } }, Known{ "torch.float16", { Fp16, 2, true } },
        Known{ "torch.float64", { Fp64, 8, true } }, Known{ "torch.int64", { Other, 8, false } },
        Known{ "torch.int32", { Other, 4, false } }, Known{ "torch.int16", { Other, 2, false } },
        Known{ "torch.int8", { Other, 1, false } }, Known{ "torch.uint8", { Other, 1, false } },
        Known{ "torch.bool", { Other, 1, false } }, Known{ "torch.float8_e4m3fn", { Fp8, 1, true } },
        Known{ "torch.float8_e5m2", { Fp8, 1, true } }, Known{ "torch.complex64", { Fp32, 8, true } },
        Known{ "torch.complex128", { Fp64, 16, true } } };
    const auto* const found = std::ranges::find(kKnown, name, &Known::name);
    return found == kKnown.end() ? ElementType() : found->type;
}

} // namespace strata::model
