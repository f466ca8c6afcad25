// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/standins/elf_file.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <map>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strata::simgpu {

namespace {

constexpr std::size_t kMaxChain = 1 << 22;

class Mapping {
public:
    explicit Mapping(const std::string& path)
    {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0)
            return;
        struct stat info { };
        if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
            void* at = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
            if (at != MAP_FAILED)
                m_bytes = { static_cast<const char*>(at), static_cast<std::size_t>(info.st_size) };
        }
        close(file);
    }
    ~Mapping()
    {
        if (!m_bytes.empty())
            munmap(const_cast<char*>(m_bytes.data()), m_bytes.size());
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    std::span<const char> bytes() const { return m_bytes; }

private:
    std::span<const char> m_bytes;
};

/// Reads at file offsets and at addresses of the loaded image; anything outside reads as zeros and empty
/// text.
class Image {
public:
    explicit Image(std::span<const char> bytes)
        : m_bytes(bytes)
    {
    }

    template <class T> T at(std::uint64_t offset) const
    {
        T value{};
        if (offset <= m_bytes.size() && m_bytes.size() - offset >= sizeof value)
            std::memcpy(&value, m_bytes.data() + offset, sizeof value);
        return value;
    }

    std::string_view text(std::uint64_t offset) const
    {
        if (offset >= m_bytes.size())
            return {};
        const char* begin = m_bytes.data() + offset;
        const std::size_t room = m_bytes.size() - offset;
        const void* end = std::memchr(begin, 0, room);
        return end ? std::string_view(begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin))
                   : std::string_view{};
    }

    void addSegment(const Elf64_Phdr& segment) { m_segments.push_back(segment); }

    std::uint64_t offsetOf(std::uint64_t address) const
    {
        for (const Elf64_Phdr& segment : m_segments) {
            if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
                return segment.p_offset + (address - segment.p_vaddr);
        }
        return m_bytes.size();
    }

private:
    std::span<const char> m_bytes;
    std::vector<Elf64_Phdr> m_segments;
};

struct Dynamic {
    std::map<std::int64_t, std::uint64_t> values;
    std::vector<std::uint64_t> needed;

    std::uint64_t operator[](std::int64_t tag) const
    {
        const auto found = values.find(tag);
        return found == values.end() ? 0 : found->second;
    }
    bool has(std::int64_t tag) const { return values.contains(tag); }
};

Dynamic readDynamic(const Image& image, const Elf64_Phdr& segment)
{
    Dynamic dynamic;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
        const auto entry = image.at<Elf64_Dyn>(segment.p_offset + at);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_NEEDED)
            dynamic.needed.push_back(entry.d_un.d_val);
        else
            dynamic.values.emplace(entry.d_tag, entry.d_un.d_val);
    }
    return dynamic;
}

/// Symbols are not counted anywhere: the old hash table has one chain entry for each, the GNU one chains that
/// end.
std::size_t countSymbols(const Image& image, const Dynamic& dynamic)
{
    if (dynamic.has(DT_HASH))
        return image.at<std::uint32_t>(image.offsetOf(dynamic[DT_HASH]) + 4);
    if (!dynamic.has(DT_GNU_HASH))
        return 0;
    const std::uint64_t table = image.offsetOf(dynamic[DT_GNU_HASH]);
    const auto buckets = image.at<std::uint32_t>(table);
    const auto firstHashed = image.at<std::uint32_t>(table + 4);
    const auto bloomWords = image.at<std::uint32_t>(table + 8);
    const std::uint64_t bucketTable = table + 16 + std::uint64_t{ bloomWords } * 8;
    const std::uint64_t chains = bucketTable + std::uint64_t{ buckets } * 4;
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(buckets, kMaxChain); ++i)
        last = std::max(last, image.at<std::uint32_t>(bucketTable + std::uint64_t{ i } * 4));
    if (last < firstHashed)
        return firstHashed;
    for (std::size_t steps = 0; steps < kMaxChain; ++steps, ++last) {
        if ((image.at<std::uint32_t>(chains + std::uint64_t{ last - firstHashed } * 4) & 1) != 0)
            break;
    }
    return last + 1;
}

struct Version {
    std::string name;
    std::string library;
};

std::map<std::uint16_t, Version> readVersions(
    const Image& image, const Dynamic& dynamic, std::uint64_t strings)
{
    std::map<std::uint16_t, Version> versions;
    std::uint64_t at = image.offsetOf(dynamic[DT_VERNEED]);
    const std::uint64_t count = std::min<std::uint64_t>(dynamic[DT_VERNEEDNUM], 4096);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto need = image.at<Elf64_Verneed>(at);
        std::uint64_t entry = at + need.vn_aux;
        for (unsigned k = 0; k < need.vn_cnt; ++k) {
            const auto aux = image.at<Elf64_Vernaux>(entry);
            versions[aux.vna_other] = { std::string(image.text(strings + aux.vna_name)),
                std::string(image.text(strings + need.vn_file)) };
            entry += aux.vna_next;
        }
        at += need.vn_next;
    }
    return versions;
}

void readSymbols(const Image& image, const Dynamic& dynamic, std::uint64_t strings, ElfFile& out)
{
    constexpr std::uint16_t kHidden = 0x8000;
    const std::uint64_t symbols = image.offsetOf(dynamic[DT_SYMTAB]);
    const std::uint64_t versionOf = dynamic.has(DT_VERSYM) ? image.offsetOf(dynamic[DT_VERSYM]) : 0;
    const auto versions = readVersions(image, dynamic, strings);
    const std::size_t count = std::min(countSymbols(image, dynamic), kMaxChain);
    for (std::size_t i = 1; i < count; ++i) {
        const auto symbol = image.at<Elf64_Sym>(symbols + i * sizeof(Elf64_Sym));
        const std::string_view name = image.text(strings + symbol.st_name);
        if (name.empty() || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
            continue;
        if (symbol.st_shndx != SHN_UNDEF) {
            out.defined.emplace_back(name);
            continue;
        }
        ElfFile::Symbol undefined{ std::string(name), {}, {} };
        if (versionOf != 0) {
            const auto index
                = static_cast<std::uint16_t>(image.at<std::uint16_t>(versionOf + i * 2) & ~kHidden);
            if (const auto version = versions.find(index); version != versions.end()) {
                undefined.version = version->second.name;
                undefined.library = version->second.library;
            }
        }
        out.undefined.push_back(std::move(undefined));
    }
}

std::string readBuildId(const Image& image, const Elf64_Phdr& segment)
{
    constexpr std::uint32_t kBuildId = 3;
    std::uint64_t at = segment.p_offset;
    const std::uint64_t end = segment.p_offset + segment.p_filesz;
    while (at + sizeof(Elf64_Nhdr) <= end) {
        const auto note = image.at<Elf64_Nhdr>(at);
        const std::uint64_t content = at + sizeof note + (note.n_namesz + 3u) / 4 * 4;
        if (note.n_type == kBuildId && image.text(at + sizeof note) == "GNU" && note.n_descsz <= 64) {
            std::string text;
            for (unsigned i = 0; i < note.n_descsz; ++i) {
                constexpr char kDigits[] = "0123456789abcdef";
                const auto byte = image.at<unsigned char>(content + i);
                text += kDigits[byte >> 4];
                text += kDigits[byte & 15];
            }
            return text;
        }
        at = content + (note.n_descsz + 3u) / 4 * 4;
    }
    return {};
}

std::vector<std::string> splitPath(std::string_view text)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto colon = text.find(':');
        if (colon != 0)
            parts.emplace_back(text.substr(0, colon));
        text = colon == text.npos ? std::string_view{} : text.substr(colon + 1);
    }
    return parts;
}

} // namespace

tl::expected<ElfFile, std::string> readElf(const std::string& path, ElfSymbols symbols)
{
    const Mapping mapping(path);
    if (mapping.bytes().empty())
        return tl::unexpected(path + ": cannot be read");
    Image image(mapping.bytes());
    const auto header = image.at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return tl::unexpected(path + ": not an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
        return tl::unexpected(path + ": not for 64-bit x86");
    ElfFile file;
    Elf64_Phdr dynamicSegment{};
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        const auto segment = image.at<Elf64_Phdr>(header.e_phoff + std::uint64_t{ i } * sizeof(Elf64_Phdr));
        if (segment.p_type == PT_LOAD)
            image.addSegment(segment);
        else if (segment.p_type == PT_DYNAMIC)
            dynamicSegment = segment;
        else if (segment.p_type == PT_INTERP)
            file.interpreter = image.text(segment.p_offset);
        else if (segment.p_type == PT_NOTE && file.buildId.empty())
            file.buildId = readBuildId(image, segment);
    }
    const Dynamic dynamic = readDynamic(image, dynamicSegment);
    const std::uint64_t strings = image.offsetOf(dynamic[DT_STRTAB]);
    for (const std::uint64_t name : dynamic.needed)
        file.needed.emplace_back(image.text(strings + name));
    if (dynamic.has(DT_SONAME))
        file.soname = image.text(strings + dynamic[DT_SONAME]);
    for (const std::int64_t tag : { DT_RPATH, DT_RUNPATH }) {
        if (dynamic.has(tag)) {
            for (std::string& part : splitPath(image.text(strings + dynamic[tag])))
                file.searchPath.push_back(std::move(part));
        }
    }
    if (symbols == ElfSymbols::Read)
        readSymbols(image, dynamic, strings, file);
    return file;
}

} // namespace strata::simgpu
