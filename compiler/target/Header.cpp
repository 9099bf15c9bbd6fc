// The C header beside an object; see Header.h.
#include "compiler/target/Header.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace heed {

/// What runtime/heed_kernel.h says of contexts and statuses.
static constexpr char contextSource[] =
#include "compiler/target/Context.inc"
    ;

namespace {

/// C names of the parameters of one entry, each its own.
class Names {
public:
  explicit Names(const EntryInterface &entry) {
    for (StringRef word : {"params",    "workspace", "workspace_bytes",
                           "context",   "threads",   "alignas",
                           "asm",       "auto",      "bool",
                           "break",     "case",      "catch",
                           "char",      "class",     "const",
                           "continue",  "decltype",  "default",
                           "delete",    "do",        "double",
                           "else",      "enum",      "explicit",
                           "export",    "extern",    "false",
                           "float",     "for",       "friend",
                           "goto",      "if",        "inline",
                           "int",       "long",      "mutable",
                           "namespace", "new",       "noexcept",
                           "nullptr",   "operator",  "private",
                           "protected", "public",    "register",
                           "restrict",  "return",    "short",
                           "signed",    "sizeof",    "static",
                           "struct",    "switch",    "template",
                           "this",      "throw",     "true",
                           "try",       "typedef",   "typeid",
                           "typename",  "union",     "unsigned",
                           "using",     "virtual",   "void",
                           "volatile",  "while"})
      taken.insert(word);
    for (const std::string &size : entry.sizes)
      sizes.push_back(add(size));
    for (const ArgumentInterface &argument : entry.arguments) {
      arguments.push_back(add(argument.name));
      for (unsigned i = 0; i < argument.numStrides(); ++i)
        strides.push_back(add(argument.name + "_stride" + std::to_string(i)));
    }
  }

  std::vector<std::string> arguments, sizes, strides;

private:
  std::string add(std::string name) {
    for (char &c : name)
      c = llvm::isAlnum(c) ? c : '_';
    if (name.empty() || llvm::isDigit(name[0]))
      name.insert(0, "_");
    while (!taken.insert(name).second)
      name += "_";
    return name;
  }

  llvm::StringSet<> taken;
};

class HeaderWriter {
public:
  HeaderWriter(const ModuleInterface &interface, StringRef targets, const HeaderOptions &options)
      : interface(interface), targets(targets), options(options), os(text) {}

  std::string write() {
    std::string guard = "HEED_MODULE_" + llvm::StringRef(interface.name).upper() + "_H";
    writeIntroduction();
    os << "#ifndef " << guard << "\n#define " << guard << "\n\n"
       << "#include <stddef.h>\n#include <stdint.h>\n\n"
       << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
       << contextSource << "\n";
    for (const EntryInterface &entry : interface.entries)
      writeEntry(entry);
    os << "/* All of the above as data, for programs that call any module: see heed_kernel.h. */\n"
       << "struct heed_module;\n"
       << "const struct heed_module *" << interface.name << "_module_query(uint32_t abi_version);\n\n"
       << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    return std::move(text);
  }

private:
  void writeIntroduction() {
    os << "/* " << interface.name << ", compiled by heed for " << targets << ".\n *\n"
       << " * Every entry is a function that may be called by any number of threads at once. It allocates "
          "nothing,\n"
       << " * keeps no pointer, and returns 0 or a status: its low byte says what is wrong (enum "
          "heed_status_kind), the\n"
       << " * rest with which argument or size, counted from 0 in the order of its kind.";
    if (options.contracts)
      os << " Everything passed is checked\n * before anything is read or written through it: on a status "
            "the outputs are untouched.\n";
    else
      os << " Only the CPU is\n * checked: everything else is the caller's duty, and what is wrong is "
            "undefined behaviour.\n";
    os << " *\n"
       << " * - A tensor is dense and row-major unless strides are listed (in elements, >= 0; the last is "
          "1), and aligned\n"
       << " *   to its element. f16 and bf16 travel as uint16_t, i1 as uint8_t holding 0 or 1.\n"
       << " * - An output may overlap no other tensor, a state none but itself; neither may overlap params. "
          "Inputs "
          "may\n"
       << " *   overlap one another. Nothing may overlap workspace. Between the rows of a strided tensor "
          "another may "
          "lie;\n"
       << " *   that two such do not share an element elsewhere than where one begins is the caller's duty.\n"
       << " * - Sizes are >= 0; a tensor with a size of 0 may be null.\n"
       << " * - workspace is scratch memory aligned to 64 bytes, of at least ..._workspace_bytes(sizes, "
          "threads) bytes,\n"
       << " *   where threads is that of the context; what it holds before and after means nothing.\n"
       << " * - context says what may be used; null is the calling thread alone. Results do not depend on "
          "it.\n";
    if (!interface.parameters.empty()) {
      os << " * - params is the tensor data of the parameter image, " << interface.parameterBytes
         << " bytes aligned to 64: the file\n *   without its header, which takes the first 8 + (its first 8 "
            "bytes, little-endian) bytes.\n"
         << " *   Layout " << interface.layoutId() << ".\n";
      if (options.embedsParams)
        os << " *   It is part of the object, and heed_parameters.embedded points to it.\n";
    }
    os << " * - Scores, softmax and sums are f32 in meaning whatever the tensors' type, results are rounded "
          "to nearest\n"
       << " *   even, and the floating-point control is left as found. `heed verify` prints the error bound "
          "of each\n"
       << " *   output beside the error it measures.\n"
       << " * - ";
    if (options.stackBytes)
      os << "A thread needs at most " << *options.stackBytes
         << " bytes of stack, besides what its context's functions use.\n";
    else
      os << "How much stack a thread needs has not been measured.\n";
    os << " */\n";
  }

  void writeEntry(const EntryInterface &entry) {
    Names names(entry);
    os << "/* " << entry.name << "\n";
    for (auto [role, title] : {std::pair(Role::Input, "Inputs"),
                               {Role::State, "States, updated in place"},
                               {Role::Output, "Outputs"}})
      writeArguments(entry, names, role, title);
    if (!entry.sizes.empty()) {
      os << " *\n * Sizes: " << llvm::join(names.sizes, ", ") << "\n";
      for (const RelationInterface &relation : entry.relations)
        os << " *   " << relation.text << "\n";
    }
    os << " */\n";

    std::vector<std::string> parameters;
    for (auto [argument, name] : llvm::zip_equal(entry.arguments, names.arguments))
      parameters.push_back((argument.role == Role::Input ? "const " : "") +
                           cTypeName(argument.elementType).str() + " *" + name);
    if (entry.hasParams)
      parameters.push_back("const void *params");
    std::vector<std::string> sizes;
    for (const std::string &size : names.sizes)
      sizes.push_back("int64_t " + size);
    llvm::append_range(parameters, sizes);
    for (const std::string &stride : names.strides)
      parameters.push_back("int64_t " + stride);
    llvm::append_range(parameters, std::vector<std::string>{"void *workspace", "size_t workspace_bytes",
                                                            "const heed_context *context"});
    writeFunction("int32_t " + entry.symbol, parameters);

    os << "\n/* Bytes of workspace on at most `threads` threads, >= 1. SIZE_MAX: a size is out of range, or "
          "the sum\n"
       << " * overflows. */\n";
    sizes.push_back("int32_t threads");
    writeFunction("size_t " + entry.symbol + "_workspace_bytes", sizes);
    os << "\n";
  }

  void writeArguments(const EntryInterface &entry, const Names &names, Role role, StringRef title) {
    bool isFirst = true;
    for (auto [i, argument] : llvm::enumerate(entry.arguments)) {
      if (argument.role != role)
        continue;
      if (isFirst)
        os << " *\n * " << title << "\n";
      isFirst = false;
      std::string type;
      llvm::raw_string_ostream(type) << argument.elementType;
      os << " *   " << i << "  " << names.arguments[i] << ": " << type << " [";
      llvm::interleaveComma(argument.shape, os, [&](const SizeExpr &dim) { os << dim.str(entry.sizes); });
      os << "]";
      if (argument.strided)
        os << ", strided";
      if (argument.packed)
        os << ", a matrix that " << entry.symbol << "_pack_" << argument.name << "() packed";
      if (argument.range)
        os << ", indices in [" << argument.range->first.str(entry.sizes) << ", "
           << argument.range->second.str(entry.sizes) << "]";
      if (argument.defaultValue)
        os << "; null stands for " << *argument.defaultValue;
      os << "\n";
    }
  }

  /// A declaration, broken into lines like the code around it.
  void writeFunction(const std::string &head, const std::vector<std::string> &parameters) {
    constexpr size_t limit = 110;
    std::string line = head + "(";
    size_t indent = line.size();
    for (auto [i, parameter] : llvm::enumerate(parameters)) {
      std::string word = parameter + (i + 1 == parameters.size() ? ");" : ",");
      bool isStart = line.size() == indent;
      if (!isStart && line.size() + 1 + word.size() > limit) {
        os << line << "\n";
        line = std::string(indent, ' ');
        isStart = true;
      }
      line += (isStart ? "" : " ") + word;
    }
    os << line << "\n";
  }

  const ModuleInterface &interface;
  StringRef targets;
  const HeaderOptions &options;
  std::string text;
  llvm::raw_string_ostream os;
};

} // namespace

std::string generateHeader(const ModuleInterface &interface, StringRef targets,
                           const HeaderOptions &options) {
  return HeaderWriter(interface, targets, options).write();
}

} // namespace heed
