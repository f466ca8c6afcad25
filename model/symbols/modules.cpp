// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/symbols/modules.h"

#include "model/trace/frames.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace strata::model {

namespace {

std::string demangled(const char* name)
{
    if (!name)
        return {};
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string out = status == 0 && text ? text : name;
    std::free(text);
    return out;
}

std::string functionName(Dwarf_Die& die)
{
    Dwarf_Attribute attribute;
    for (const unsigned name : { DW_AT_linkage_name, DW_AT_MIPS_linkage_name })
        if (dwarf_attr_integrate(&die, name, &attribute))
            return demangled(dwarf_formstring(&attribute));
    const char* plain = dwarf_diename(&die);
    return plain ? plain : "";
}

std::int64_t number(Dwarf_Die& die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_attr(&die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0
        ? static_cast<std::int64_t>(value)
        : 0;
}

struct FreeScopes {
    void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};
using Scopes = std::unique_ptr<Dwarf_Die, FreeScopes>;

} // namespace

struct Modules::Module {
    explicit Module(const std::string& path)
    {
        dwfl = dwfl_begin(&callbacks);
        if (!dwfl)
            return;
        module = dwfl_report_offline(dwfl, path.c_str(), path.c_str(), -1);
        dwfl_report_end(dwfl, nullptr, nullptr);
        GElf_Addr bias = 0;
        Elf* elf = module ? dwfl_module_getelf(module, &bias) : nullptr;
        if (!elf)
            return;
        std::size_t count = 0;
        elf_getphdrnum(elf, &count);
        GElf_Phdr header;
        for (std::size_t i = 0; i < count; ++i) {
            if (gelf_getphdr(elf, static_cast<int>(i), &header) && header.p_type == PT_LOAD) {
                constexpr GElf_Addr kPage = 4096;
                begin = bias + (header.p_vaddr & ~(kPage - 1));
                break;
            }
        }
        const unsigned char* bits = nullptr;
        GElf_Addr where = 0;
        const int bytes = dwfl_module_build_id(module, &bits, &where);
        for (int i = 0; i < bytes; ++i)
            buildId += fmt::format("{:02x}", bits[i]);
    }
    ~Module()
    {
        if (dwfl)
            dwfl_end(dwfl);
    }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// The function and the ones that are inlined there, innermost first, each with the place where it is at.
    [[nodiscard]] std::vector<SourcePlace> placesAt(Dwarf_Addr address) const
    {
        std::vector<SourcePlace> places;
        SourcePlace here;
        int line = 0;
        if (Dwfl_Line* const row = dwfl_module_getsrc(module, address))
            if (const char* file = dwfl_lineinfo(row, nullptr, &line, nullptr, nullptr, nullptr))
                here = { file, {}, line };
        Dwarf_Addr bias = 0;
        Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &bias);
        Dwarf_Die* found = nullptr;
        const int outer = unit ? dwarf_getscopes(unit, address - bias, &found) : 0;
        const Scopes enclosing(found);
        for (int i = 0; i < outer; ++i) {
            const int tag = dwarf_tag(&enclosing.get()[i]);
            if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
                continue;
            Dwarf_Die* nested = nullptr;
            const int count = dwarf_getscopes_die(&enclosing.get()[i], &nested);
            const Scopes scopes(nested);
            for (int k = 0; k < count; ++k) {
                Dwarf_Die& die = scopes.get()[k];
                const int kind = dwarf_tag(&die);
                if (kind != DW_TAG_subprogram && kind != DW_TAG_inlined_subroutine)
                    continue;
                here.function = functionName(die);
                places.push_back(here);
                if (kind == DW_TAG_subprogram)
                    break;
                Dwarf_Files* files = nullptr;
                std::size_t fileCount = 0;
                dwarf_getsrcfiles(unit, &files, &fileCount);
                const auto file = static_cast<std::size_t>(number(die, DW_AT_call_file));
                const char* name = file < fileCount ? dwarf_filesrc(files, file, nullptr, nullptr) : nullptr;
                here = { name ? name : "", {}, number(die, DW_AT_call_line) };
            }
            break;
        }
        if (places.empty())
            places.push_back(here);
        return places;
    }

    /// The function by the table of symbols, mangled; nullptr where there is none. dwfl_module_addrinfo()
    /// looks at all of them each time: milliseconds with LibTorch's million.
    [[nodiscard]] const char* symbolAt(GElf_Addr address)
    {
        if (!hasSymbols)
            readSymbols();
        auto behind = std::ranges::upper_bound(symbols, address, {}, &Symbol::address);
        // The nearest may be a label within a function.
        for (int tries = 0; behind != symbols.begin() && tries < 8; ++tries) {
            --behind;
            if (address - behind->address < behind->bytes)
                return behind->name;
        }
        return nullptr;
    }

    void readSymbols()
    {
        hasSymbols = true;
        for (int i = dwfl_module_getsymtab(module) - 1; i > 0; --i) {
            GElf_Sym symbol;
            GElf_Addr address = 0;
            const char* name
                = dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
            const unsigned type = GELF_ST_TYPE(symbol.st_info);
            const bool isCode = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
            if (name && *name && isCode && symbol.st_shndx != SHN_UNDEF && symbol.st_size > 0)
                symbols.push_back(
                    { address, symbol.st_size, name, GELF_ST_BIND(symbol.st_info) != STB_LOCAL });
        }
        // Of several names of one function the last here is taken: exported before local, the first of its
        // kind.
        std::ranges::stable_sort(symbols, [](const Symbol& a, const Symbol& b) {
            return a.address != b.address ? a.address < b.address : a.isExported < b.isExported;
        });
    }

    struct Symbol {
        GElf_Addr address;
        GElf_Xword bytes;
        const char* name; // in the file, which stays open
        bool isExported;
    };
    std::vector<Symbol> symbols; ///< by address
    bool hasSymbols = false;

    char* debugFolders = nullptr; // where distributions keep debug information
    Dwfl_Callbacks callbacks{ .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &debugFolders };
    Dwfl* dwfl = nullptr;
    Dwfl_Module* module = nullptr;
    GElf_Addr begin = 0; ///< of the first byte that is loaded
    std::string buildId;
};

Modules::Modules() = default;
Modules::~Modules() = default;

std::optional<SourcePlace> Modules::find(
    const std::string& path, const std::string& buildId, std::uint64_t offset)
{
    std::unique_ptr<Module>& module = m_modules[path];
    if (!module)
        module = std::make_unique<Module>(path);
    if (!module->module || module->begin == 0 || module->buildId != buildId)
        return std::nullopt;
    const Dwarf_Addr address = module->begin + offset;
    std::vector<SourcePlace> places = module->placesAt(address);
    const auto own = [&] {
        for (SourcePlace& place : places)
            if (isOwnNative(place.file)) // not what was compiled in from the standard library or LibTorch
                return place;
        return places.front();
    };
    SourcePlace place = own();
    if (place.function.empty())
        place.function = demangled(module->symbolAt(address));
    if (place.file.empty() && place.function.empty())
        return std::nullopt;
    return place;
}

} // namespace strata::model
