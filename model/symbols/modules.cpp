// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/symbols/modules.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <string_view>
#include <unistd.h>
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

struct FreeScopes {
    void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};
using Scopes = std::unique_ptr<Dwarf_Die, FreeScopes>;

/// Where it was declared: of what was inlined or defined elsewhere, the namespaces and classes are there.
Dwarf_Die declarationOf(Dwarf_Die die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die other;
    constexpr int kFarthest = 8;
    for (int i = 0; i < kFarthest; ++i) {
        const bool leads = dwarf_attr(&die, DW_AT_abstract_origin, &attribute)
            || dwarf_attr(&die, DW_AT_specification, &attribute);
        if (!leads || !dwarf_formref_die(&attribute, &other))
            break;
        die = other;
    }
    return die;
}

/// "Net::forward" of what has no name for the linker since no other file sees it, "main::<lambda(int)>".
std::string qualifiedName(const Dwarf_Die& die)
{
    Dwarf_Die declaration = declarationOf(die);
    Dwarf_Die* enclosing = nullptr;
    const int count = dwarf_getscopes_die(&declaration, &enclosing);
    const Scopes scopes(enclosing);
    std::string name;
    for (int i = 0; i < count; ++i) {
        Dwarf_Die& scope = scopes.get()[i];
        const int tag = dwarf_tag(&scope);
        const bool names = tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_class_type
            || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
        const char* const part = names ? dwarf_diename(&scope) : nullptr;
        const bool isCall = name.starts_with("operator()");
        const bool isClosure = names && !part && isCall && tag != DW_TAG_namespace;
        const std::string_view text = part ? part : isClosure ? "<lambda>" : "";
        if (text.empty())
            continue;
        if (tag == DW_TAG_subprogram && !name.empty())
            return qualifiedName(scope) + "::" + name;
        const bool isCallOfLambda = isCall && text.starts_with("<lambda");
        name = name.empty() || isCallOfLambda ? std::string(text) : std::string(text) + "::" + name;
    }
    return name;
}

std::string functionName(Dwarf_Die& die)
{
    Dwarf_Attribute attribute;
    for (const unsigned name : { DW_AT_linkage_name, DW_AT_MIPS_linkage_name })
        if (dwarf_attr_integrate(&die, name, &attribute)) {
            // Lambdas with templates of their own are beyond it.
            const std::string text = demangled(dwarf_formstring(&attribute));
            return text.starts_with("_Z") ? qualifiedName(die) : text;
        }
    return qualifiedName(die);
}

std::int64_t number(Dwarf_Die& die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_attr(&die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0
        ? static_cast<std::int64_t>(value)
        : 0;
}

std::string buildIdOf(const unsigned char* bits, std::ptrdiff_t bytes)
{
    std::string id;
    for (std::ptrdiff_t i = 0; i < bytes; ++i)
        id += fmt::format("{:02x}", bits[i]);
    return id;
}

/// Opens `path` if it is of that build; -1 otherwise.
int openOfBuild(const std::string& path, const std::string& buildId)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return -1;
    elf_version(EV_CURRENT);
    Elf* const elf = elf_begin(file, ELF_C_READ_MMAP, nullptr);
    const void* bits = nullptr;
    const std::ptrdiff_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
    const bool isSame = bytes > 0 && buildIdOf(static_cast<const unsigned char*>(bits), bytes) == buildId;
    elf_end(elf);
    if (isSame)
        return file;
    close(file);
    return -1;
}

/// As dwfl_standard_find_debuginfo(), which would ask a server over the network too.
int findDebugInfo(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, const char* path,
    const char* link, GElf_Word sum, char** found)
{
    const int file = dwfl_build_id_find_debuginfo(module, data, name, base, path, link, sum, found);
    const unsigned char* bits = nullptr;
    GElf_Addr where = 0;
    const int bytes = dwfl_module_build_id(module, &bits, &where);
    if (file >= 0 || !link || !path || bytes <= 0)
        return file;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    for (const auto& beside : { folder / link, folder / ".debug" / link }) {
        const int opened = openOfBuild(beside.string(), buildIdOf(bits, bytes));
        if (opened >= 0) {
            *found = strdup(beside.c_str());
            return opened;
        }
    }
    return -1;
}

} // namespace

struct Modules::Module {
    explicit Module(const std::string& path)
    {
        // Whoever wrote a session wrote this name: no pipe, no device.
        std::error_code error;
        dwfl = std::filesystem::is_regular_file(path, error) ? dwfl_begin(&callbacks) : nullptr;
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
            if (!gelf_getphdr(elf, static_cast<int>(i), &header) || header.p_type != PT_LOAD)
                continue;
            constexpr GElf_Addr kPage = 4096;
            if (begin == 0)
                begin = bias + (header.p_vaddr & ~(kPage - 1));
            if ((header.p_flags & PF_X) != 0) {
                code = bias + header.p_vaddr;
                break;
            }
        }
        const unsigned char* bits = nullptr;
        GElf_Addr where = 0;
        const int bytes = dwfl_module_build_id(module, &bits, &where);
        buildId = buildIdOf(bits, bytes);
    }
    ~Module()
    {
        if (dwfl)
            dwfl_end(dwfl);
    }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// Where the part of a function begins that `address` lies in; 0: it does not.
    [[nodiscard]] static Dwarf_Addr beginOf(Dwarf_Die& function, Dwarf_Addr address)
    {
        Dwarf_Addr base = 0, from = 0, to = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&function, at, &base, &from, &to)) > 0;)
            if (from <= address && address < to)
                return from;
        return 0;
    }

    /// A function of a unit and what encloses it there, innermost first. What the linker threw away still has
    /// debug information, at address 0, and may reach to where a small program's code begins.
    struct Found {
        Dwarf_Die unit{}, function{};
        Dwarf_Addr begin = 0;
    };
    [[nodiscard]] bool functionIn(Dwarf_Die* unit, Dwarf_Addr address, Dwarf_Addr bias, Found& found) const
    {
        Dwarf_Die split{}; // -gsplit-dwarf: the rest lies in a file of its own
        std::uint8_t kind = 0;
        if (unit && dwarf_cu_info(unit->cu, nullptr, &kind, nullptr, &split, nullptr, nullptr, nullptr) == 0
            && kind == DW_UT_skeleton && split.addr)
            unit = &split;
        Dwarf_Die* enclosing = nullptr;
        const int count = unit ? dwarf_getscopes(unit, address - bias, &enclosing) : 0;
        const Scopes scopes(enclosing);
        for (int i = 0; i < count; ++i) {
            Dwarf_Die& die = scopes.get()[i];
            const int tag = dwarf_tag(&die);
            if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
                continue;
            const Dwarf_Addr first = beginOf(die, address - bias);
            if (first == 0 || first + bias < code)
                return false;
            found = { *unit, die, first + bias };
            return true;
        }
        return false;
    }
    /// The unit whose code an address is, and what is added to its addresses; nullptr where none is known.
    /// Clang writes no table of that (.debug_aranges), so units are asked.
    [[nodiscard]] Dwarf_Die* unitAt(Dwarf_Addr address, Dwarf_Addr& bias)
    {
        if (Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &bias))
            return unit;
        if (!areUnitsAsked)
            askUnits();
        const auto behind = std::ranges::upper_bound(unitCode, address, {}, &UnitCode::begin);
        if (behind == unitCode.begin() || address >= std::prev(behind)->end)
            return nullptr;
        bias = std::prev(behind)->bias;
        return std::prev(behind)->unit;
    }
    void askUnits()
    {
        areUnitsAsked = true;
        Dwarf_Addr bias = 0, base = 0, from = 0, to = 0;
        for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias));)
            for (std::ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &from, &to)) > 0;)
                if (from != 0 && from < to) // at 0 lies what the linker threw away
                    unitCode.push_back({ from + bias, to + bias, bias, unit });
        std::ranges::sort(unitCode, {}, &UnitCode::begin);
    }

    [[nodiscard]] bool functionAt(Dwarf_Addr address, Found& found)
    {
        Dwarf_Addr bias = 0;
        Dwarf_Die* const nearest = unitAt(address, bias);
        if (functionIn(nearest, address, bias, found))
            return true;
        // The unit of such waste may have hidden the right one.
        constexpr Dwarf_Addr kReachOfWaste = 1 << 20;
        if (address > code + kReachOfWaste)
            return false;
        for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias));)
            if (dwarf_haspc(unit, address - bias) > 0 && functionIn(unit, address, bias, found))
                return true;
        return false;
    }

    /// Of assembly, and of what was compiled for lines alone.
    [[nodiscard]] bool hasOnlyLines(Dwarf_Addr address)
    {
        Dwarf_Addr bias = 0;
        Dwarf_Die* const unit = unitAt(address, bias);
        Dwarf_Die child;
        for (bool more = unit && dwarf_child(unit, &child) == 0; more;
             more = dwarf_siblingof(&child, &child) == 0)
            if (dwarf_tag(&child) == DW_TAG_subprogram && dwarf_haspc(&child, address - bias) >= 0)
                return false;
        return unit != nullptr;
    }

    /// The function and the ones that are inlined there, innermost first, each with the place where it is at.
    /// Assembly has lines alone.
    [[nodiscard]] std::vector<SourcePlace> placesAt(Dwarf_Addr address)
    {
        Found found;
        const bool hasFunction = functionAt(address, found);
        const Symbol* const symbol = hasFunction ? nullptr : symbolAt(address);
        const Dwarf_Addr from = hasFunction ? found.begin
            : hasOnlyLines(address)         ? code
                                            : std::numeric_limits<Dwarf_Addr>::max();
        SourcePlace here;
        int line = 0;
        Dwarf_Addr at = 0, bias = 0;
        Dwarf_Die* const unit = unitAt(address, bias);
        if (Dwarf_Line* const row = unit ? dwarf_getsrc_die(unit, address - bias) : nullptr)
            if (const char* file = dwarf_linesrc(row, nullptr, nullptr);
                file && dwarf_lineaddr(row, &at) == 0 && dwarf_lineno(row, &line) == 0 && at + bias >= from)
                here = { file, {}, line };
        if (!hasFunction) {
            here.function = symbol ? demangled(symbol->name) : "";
            return { here };
        }
        std::vector<SourcePlace> places;
        Dwarf_Die* nested = nullptr;
        const int count = dwarf_getscopes_die(&found.function, &nested);
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
            dwarf_getsrcfiles(&found.unit, &files, &fileCount);
            const auto file = static_cast<std::size_t>(number(die, DW_AT_call_file));
            const char* name = file < fileCount ? dwarf_filesrc(files, file, nullptr, nullptr) : nullptr;
            here = { name ? name : "", {}, number(die, DW_AT_call_line) };
        }
        return places;
    }

    struct Symbol {
        GElf_Addr address;
        GElf_Xword bytes;
        const char* name; // in the file, which stays open; mangled
        bool isExported;
    };

    /// The function by the table of symbols; nullptr where there is none. dwfl_module_addrinfo()
    /// looks at all of them each time: milliseconds with LibTorch's million.
    [[nodiscard]] const Symbol* symbolAt(GElf_Addr address)
    {
        if (!hasSymbols)
            readSymbols();
        auto behind = std::ranges::upper_bound(symbols, address, {}, &Symbol::address);
        // The nearest may be a label within a function.
        for (int tries = 0; behind != symbols.begin() && tries < 8; ++tries) {
            --behind;
            if (address - behind->address < behind->bytes)
                return &*behind;
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

    struct UnitCode {
        Dwarf_Addr begin, end, bias;
        Dwarf_Die* unit; // as long as the module
    };

    std::vector<UnitCode> unitCode; ///< by address
    bool areUnitsAsked = false;
    std::vector<Symbol> symbols; ///< by address
    bool hasSymbols = false;

    char* debugFolders = nullptr; // where distributions keep debug information
    Dwfl_Callbacks callbacks{ .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = findDebugInfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &debugFolders };
    Dwfl* dwfl = nullptr;
    Dwfl_Module* module = nullptr;
    GElf_Addr begin = 0; ///< of the first byte that is loaded
    GElf_Addr code = 0; ///< ... that can be run
    std::string buildId;
};

Modules::Modules() = default;
Modules::~Modules() = default;

std::vector<SourcePlace> Modules::find(
    const std::string& path, const std::string& buildId, std::uint64_t offset)
{
    std::unique_ptr<Module>& module = m_modules[path];
    if (!module)
        module = std::make_unique<Module>(path);
    if (!module->module || module->begin == 0 || module->buildId != buildId)
        return {};
    std::vector<SourcePlace> places = module->placesAt(module->begin + offset);
    std::erase_if(
        places, [](const SourcePlace& place) { return place.file.empty() && place.function.empty(); });
    return places;
}

} // namespace strata::model
