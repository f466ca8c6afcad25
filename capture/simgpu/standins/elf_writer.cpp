// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/standins/elf_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <map>
#include <type_traits>
#include <utility>

namespace strata::simgpu {

namespace {

// The file, every part at its own address:
//
//   R   headers | GNU hash | symbols | versions | version definitions | relocations | strings
//   RX  code
//   RW  dynamic section | three addresses of the core (a small GOT)
constexpr std::uint64_t kPage = 4096;
constexpr unsigned kSegments = 5;
constexpr const char* kImported[]
    = { "strata_simgpu_unserved", "strata_simgpu_object", "strata_simgpu_work" };
constexpr unsigned kImports = sizeof kImported / sizeof *kImported;

std::uint64_t align(std::uint64_t value, std::uint64_t to)
{
    return (value + to - 1) / to * to;
}

std::uint32_t gnuHash(const std::string& name)
{
    std::uint32_t hash = 5381;
    for (const char c : name)
        hash = hash * 33 + static_cast<unsigned char>(c);
    return hash;
}

std::uint32_t systemVHash(const std::string& name)
{
    std::uint32_t hash = 0;
    for (const char c : name) {
        hash = (hash << 4) + static_cast<unsigned char>(c);
        const std::uint32_t top = hash & 0xf0000000;
        hash ^= top >> 24;
        hash &= ~top;
    }
    return hash;
}

class Strings {
public:
    std::uint32_t add(const std::string& text)
    {
        const auto [entry, isNew] = m_offsets.emplace(text, static_cast<std::uint32_t>(m_bytes.size()));
        if (isNew) {
            m_bytes += text;
            m_bytes += '\0';
        }
        return entry->second;
    }
    const std::string& bytes() const { return m_bytes; }

private:
    std::string m_bytes = std::string(1, '\0');
    std::map<std::string, std::uint32_t> m_offsets;
};

class Code {
public:
    std::uint64_t size() const { return m_bytes.size(); }
    const std::vector<unsigned char>& bytes() const { return m_bytes; }

    void put(std::initializer_list<unsigned char> bytes) { m_bytes.insert(m_bytes.end(), bytes); }
    void put32(std::uint32_t value)
    {
        for (int shift = 0; shift < 32; shift += 8)
            m_bytes.push_back(static_cast<unsigned char>(value >> shift));
    }
    /// An operand relative to the end of itself.
    void putRelative(std::uint64_t codeAddress, std::uint64_t target)
    {
        put32(static_cast<std::uint32_t>(target - (codeAddress + size() + 4)));
    }
    void alignTo(std::size_t boundary)
    {
        while (m_bytes.size() % boundary != 0)
            m_bytes.push_back(0xcc);
    }

private:
    std::vector<unsigned char> m_bytes;
};

void loadArgument(Code& code, unsigned argument)
{
    static constexpr unsigned char kMoves[6][3] = { { 0x48, 0x89, 0xf8 }, { 0x48, 0x89, 0xf0 },
        { 0x48, 0x89, 0xd0 }, { 0x48, 0x89, 0xc8 }, { 0x4c, 0x89, 0xc0 }, { 0x4c, 0x89, 0xc8 } };
    if (argument < 6) {
        code.put({ kMoves[argument][0], kMoves[argument][1], kMoves[argument][2] }); // mov rax, register
        return;
    }
    code.put({ 0x48, 0x8b, 0x84, 0x24 }); // mov rax, [rsp + ...]
    code.put32(8 * (argument - 6) + 8);
}

/// `slots` is where the addresses of kImported are.
void emit(Code& code, const Behaviour& behaviour, std::uint64_t codeAddress, std::uint64_t nameAddress,
    std::uint64_t slots)
{
    const std::uint64_t unservedSlot = slots;
    const std::uint64_t objectSlot = slots + 8;
    const std::uint64_t workSlot = slots + 16;
    switch (behaviour.kind) {
    case Behaviour::Kind::Return:
        code.put({ 0xb8 }); // mov eax, value; ret
        code.put32(static_cast<std::uint32_t>(behaviour.value));
        code.put({ 0xc3 });
        break;
    case Behaviour::Kind::Zero:
        for (const Behaviour::Output& output : behaviour.outputs) {
            loadArgument(code, output.argument);
            code.put({ 0x48, 0x85, 0xc0 }); // test rax, rax; jz over the write
            if (output.bytes == 8)
                code.put({ 0x74, 0x07, 0x48, 0xc7, 0x00 });
            else
                code.put({ 0x74, 0x06, 0xc7, 0x00 });
            code.put32(0);
        }
        code.put({ 0x31, 0xc0, 0xc3 }); // xor eax, eax; ret
        break;
    case Behaviour::Kind::Object:
        code.put({ 0xff, 0x25 }); // jmp [slot]
        code.putRelative(codeAddress, objectSlot);
        break;
    case Behaviour::Kind::Work:
        code.put({ 0x48, 0x89, 0xfe }); // mov rsi, rdi; lea rdi, name; jmp [slot]
        code.put({ 0x48, 0x8d, 0x3d });
        code.putRelative(codeAddress, nameAddress);
        code.put({ 0xff, 0x25 });
        code.putRelative(codeAddress, workSlot);
        break;
    case Behaviour::Kind::Unserved:
        code.put({ 0x48, 0x8d, 0x3d }); // lea rdi, name; jmp [slot]
        code.putRelative(codeAddress, nameAddress);
        code.put({ 0xff, 0x25 });
        code.putRelative(codeAddress, unservedSlot);
        break;
    }
    code.alignTo(16);
}

class File {
public:
    explicit File(std::uint64_t bytes)
        : m_bytes(bytes)
    {
    }
    template <class T> void put(std::uint64_t offset, const T& value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(m_bytes.data() + offset, &value, sizeof value);
    }
    void putBytes(std::uint64_t offset, const void* bytes, std::size_t count)
    {
        if (count > 0)
            std::memcpy(m_bytes.data() + offset, bytes, count);
    }
    std::vector<char> take() { return std::move(m_bytes); }

private:
    std::vector<char> m_bytes;
};

} // namespace

std::vector<char> assembleStandIn(const StandIn& standIn)
{
    // Symbols: none, the imports, then the functions in the order of their hash buckets.
    std::vector<const StandInFunction*> functions;
    for (const StandInFunction& function : standIn.functions)
        functions.push_back(&function);
    const auto buckets = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(functions.size() / 2));
    std::stable_sort(functions.begin(), functions.end(), [&](const auto* a, const auto* b) {
        return gnuHash(a->name) % buckets < gnuHash(b->name) % buckets;
    });
    const std::uint64_t firstFunction = 1 + kImports;
    const std::uint64_t symbolCount = firstFunction + functions.size();
    const auto bloomWords
        = std::bit_ceil(std::max<std::uint32_t>(1, static_cast<std::uint32_t>(functions.size() / 4)));
    constexpr std::uint32_t kBloomShift = 6;

    Strings strings;
    const std::uint32_t sonameAt = strings.add(standIn.soname);
    const std::uint32_t versionAt = standIn.version.empty() ? 0 : strings.add(standIn.version);
    std::vector<std::uint32_t> neededAt;
    for (const std::string& needed : standIn.needed)
        neededAt.push_back(strings.add(needed));
    std::vector<std::uint32_t> importsAt;
    for (const char* name : kImported)
        importsAt.push_back(strings.add(name));
    std::vector<std::uint32_t> namesAt;
    for (const auto* function : functions)
        namesAt.push_back(strings.add(function->name));
    const bool versioned = versionAt != 0;

    const std::uint64_t hashAt = align(sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr), 8);
    const std::uint64_t hashBytes
        = 16 + std::uint64_t{ bloomWords } * 8 + std::uint64_t{ buckets } * 4 + functions.size() * 4;
    const std::uint64_t symbolsAt = align(hashAt + hashBytes, 8);
    const std::uint64_t versionOfAt = symbolsAt + symbolCount * sizeof(Elf64_Sym);
    const std::uint64_t definitionsAt = align(versionOfAt + (versioned ? symbolCount * 2 : 0), 8);
    constexpr std::uint64_t kDefinition = sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux);
    const std::uint64_t relocationsAt = align(definitionsAt + (versioned ? 2 * kDefinition : 0), 8);
    const std::uint64_t stringsAt = relocationsAt + kImports * sizeof(Elf64_Rela);
    const std::uint64_t readOnlyEnd = stringsAt + strings.bytes().size();
    const std::uint64_t codeAt = align(readOnlyEnd, kPage);

    // Code refers to the GOT behind it, whose place depends on the code's size, which does not depend on the
    // place.
    Code code;
    std::vector<std::uint64_t> startOf;
    std::uint64_t gotAt = 0;
    std::uint64_t dynamicAt = 0;
    const std::uint64_t dynamicCount = 10 + neededAt.size() + (versioned ? 3 : 0);
    for (int pass = 0; pass < 2; ++pass) {
        code = {};
        startOf.clear();
        for (std::size_t i = 0; i < functions.size(); ++i) {
            startOf.push_back(code.size());
            emit(code, functions[i]->behaviour, codeAt, stringsAt + namesAt[i], gotAt);
        }
        dynamicAt = align(codeAt + std::max<std::uint64_t>(code.size(), 1), kPage);
        gotAt = dynamicAt + dynamicCount * sizeof(Elf64_Dyn);
    }
    const std::uint64_t end = gotAt + kImports * 8;

    File file(end);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = kSegments;
    header.e_shentsize = sizeof(Elf64_Shdr);
    file.put(0, header);
    const auto segment = [](std::uint32_t type, std::uint32_t flags, std::uint64_t at, std::uint64_t bytes,
                             std::uint64_t alignment) {
        return Elf64_Phdr{ type, flags, at, at, at, bytes, bytes, alignment };
    };
    const Elf64_Phdr segments[kSegments] = {
        segment(PT_LOAD, PF_R, 0, readOnlyEnd, kPage),
        segment(PT_LOAD, PF_R | PF_X, codeAt, code.size(), kPage),
        segment(PT_LOAD, PF_R | PF_W, dynamicAt, end - dynamicAt, kPage),
        segment(PT_DYNAMIC, PF_R | PF_W, dynamicAt, dynamicCount * sizeof(Elf64_Dyn), 8),
        segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 16),
    };
    file.put(sizeof header, segments);

    const std::uint32_t hashHead[4]
        = { buckets, static_cast<std::uint32_t>(firstFunction), bloomWords, kBloomShift };
    file.put(hashAt, hashHead);
    std::vector<std::uint64_t> bloom(bloomWords);
    std::vector<std::uint32_t> firstOfBucket(buckets);
    std::vector<std::uint32_t> chain(functions.size());
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const std::uint32_t hash = gnuHash(functions[i]->name);
        const std::uint32_t bucket = hash % buckets;
        bloom[hash / 64 % bloomWords] |= std::uint64_t{ 1 } << (hash % 64);
        bloom[hash / 64 % bloomWords] |= std::uint64_t{ 1 } << ((hash >> kBloomShift) % 64);
        if (firstOfBucket[bucket] == 0)
            firstOfBucket[bucket] = static_cast<std::uint32_t>(firstFunction + i);
        const bool last = i + 1 == functions.size() || gnuHash(functions[i + 1]->name) % buckets != bucket;
        chain[i] = (hash & ~std::uint32_t{ 1 }) | (last ? 1 : 0);
    }
    std::uint64_t at = hashAt + sizeof hashHead;
    for (const std::uint64_t word : bloom)
        file.put(std::exchange(at, at + 8), word);
    for (const std::uint32_t first : firstOfBucket)
        file.put(std::exchange(at, at + 4), first);
    for (const std::uint32_t entry : chain)
        file.put(std::exchange(at, at + 4), entry);

    constexpr unsigned char kFunction = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    for (unsigned i = 0; i < kImports; ++i)
        file.put(symbolsAt + (1 + i) * sizeof(Elf64_Sym),
            Elf64_Sym{ importsAt[i], kFunction, 0, SHN_UNDEF, 0, 0 });
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const std::uint64_t next = i + 1 < functions.size() ? startOf[i + 1] : code.size();
        file.put(symbolsAt + (firstFunction + i) * sizeof(Elf64_Sym),
            Elf64_Sym{ namesAt[i], kFunction, 0, 1, codeAt + startOf[i], next - startOf[i] });
    }
    if (versioned) {
        for (std::uint64_t i = 1; i < symbolCount; ++i)
            file.put(versionOfAt + i * 2, static_cast<std::uint16_t>(i < firstFunction ? VER_NDX_GLOBAL : 2));
        const auto define = [&](std::uint64_t where, std::uint16_t flags, std::uint16_t index,
                                const std::string& name, std::uint32_t nameAt, bool last) {
            file.put(where,
                Elf64_Verdef{ VER_DEF_CURRENT, flags, index, 1, systemVHash(name), sizeof(Elf64_Verdef),
                    last ? 0 : static_cast<std::uint32_t>(kDefinition) });
            file.put(where + sizeof(Elf64_Verdef), Elf64_Verdaux{ nameAt, 0 });
        };
        define(definitionsAt, VER_FLG_BASE, 1, standIn.soname, sonameAt, false);
        define(definitionsAt + kDefinition, 0, 2, standIn.version, versionAt, true);
    }
    for (unsigned i = 0; i < kImports; ++i)
        file.put(relocationsAt + i * sizeof(Elf64_Rela),
            Elf64_Rela{ gotAt + i * 8, ELF64_R_INFO(std::uint64_t{ 1 + i }, R_X86_64_GLOB_DAT), 0 });
    file.putBytes(stringsAt, strings.bytes().data(), strings.bytes().size());
    file.putBytes(codeAt, code.bytes().data(), code.bytes().size());

    std::uint64_t entryAt = dynamicAt;
    const auto dynamic = [&](std::int64_t tag, std::uint64_t value) {
        Elf64_Dyn entry{};
        entry.d_tag = tag;
        entry.d_un.d_val = value;
        file.put(std::exchange(entryAt, entryAt + sizeof entry), entry);
    };
    for (const std::uint32_t needed : neededAt)
        dynamic(DT_NEEDED, needed);
    dynamic(DT_SONAME, sonameAt);
    dynamic(DT_GNU_HASH, hashAt);
    dynamic(DT_STRTAB, stringsAt);
    dynamic(DT_STRSZ, strings.bytes().size());
    dynamic(DT_SYMTAB, symbolsAt);
    dynamic(DT_SYMENT, sizeof(Elf64_Sym));
    dynamic(DT_RELA, relocationsAt);
    dynamic(DT_RELASZ, kImports * sizeof(Elf64_Rela));
    dynamic(DT_RELAENT, sizeof(Elf64_Rela));
    if (versioned) {
        dynamic(DT_VERSYM, versionOfAt);
        dynamic(DT_VERDEF, definitionsAt);
        dynamic(DT_VERDEFNUM, 2);
    }
    dynamic(DT_NULL, 0);
    return file.take();
}

tl::expected<void, std::string> writeStandIn(const std::string& path, const StandIn& standIn)
{
    const std::vector<char> bytes = assembleStandIn(standIn);
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out)
        return tl::unexpected(path + ": cannot be written");
    return {};
}

} // namespace strata::simgpu
