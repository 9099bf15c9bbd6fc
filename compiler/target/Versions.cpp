#include "compiler/target/Versions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"

namespace heed {

using namespace llvm;

namespace {

class VersionLinker {
public:
  explicit VersionLinker(Module &module) : module(module) {
    for (Function &function : module)
      if (isEntry(function.getName()))
        entries.push_back(&function);
  }

  Error add(std::unique_ptr<Module> other) {
    hide(*other, ++last);
    return Linker::linkModules(module, std::move(other))
               ? createStringError("expected versions that can be linked")
               : Error::success();
  }

  void finish() {
    for (Function *entry : entries)
      choose(*entry);
    for (const std::string &name : visible)
      module.getFunction(name)->setLinkage(GlobalValue::InternalLinkage);
  }

private:
  static constexpr StringLiteral checkSuffix = ".has_cpu";
  /// Of an entry the uniform call, and what asks for its workspace.
  static bool isEntry(StringRef name) { return name.ends_with(".call") || name.ends_with(".bytes"); }
  static std::string nameOf(StringRef name, size_t version) { return (name + "." + Twine(version)).str(); }

  /// Leaves in sight only the functions through which a version is reached, under names of its own.
  void hide(Module &other, size_t version) {
    for (GlobalValue &value : other.global_values())
      if (!value.isDeclaration())
        value.setLinkage(GlobalValue::InternalLinkage);
    for (Function &function : other) {
      bool isCheck = function.getName().ends_with(checkSuffix);
      if (!isCheck && !isEntry(function.getName()))
        continue;
      if (isCheck)
        check = function.getName().str();
      visible.push_back(nameOf(function.getName(), version));
      function.setName(visible.back());
      function.setLinkage(GlobalValue::ExternalLinkage);
    }
  }

  /// Puts a choice in front of an entry, under its name.
  void choose(Function &own) {
    std::string name = own.getName().str();
    own.setName(nameOf(name, 0));
    auto *choice = Function::Create(own.getFunctionType(), GlobalValue::InternalLinkage, name, module);
    choice->copyAttributesFrom(&own);
    own.replaceAllUsesWith(choice);
    IRBuilder<> b(BasicBlock::Create(module.getContext(), "", choice));
    SmallVector<Value *> arguments(make_pointer_range(choice->args()));
    for (size_t version = last; version > 0; --version) {
      auto *taken = BasicBlock::Create(module.getContext(), "", choice),
           *next = BasicBlock::Create(module.getContext(), "", choice);
      // A target that every CPU has comes without a check.
      Function *has = module.getFunction(nameOf(check, version));
      b.CreateCondBr(has ? cast<Value>(b.CreateCall(has)) : b.getTrue(), taken, next);
      b.SetInsertPoint(taken);
      b.CreateRet(b.CreateCall(module.getFunction(nameOf(name, version)), arguments));
      b.SetInsertPoint(next);
    }
    b.CreateRet(b.CreateCall(&own, arguments));
  }

  Module &module;
  SmallVector<Function *> entries;
  size_t last = 0; ///< number of the newest version; `module` itself is 0
  std::string check;
  std::vector<std::string> visible;
};

} // namespace

Error addVersions(Module &module, std::vector<std::unique_ptr<Module>> others) {
  VersionLinker linker(module);
  for (std::unique_ptr<Module> &other : others)
    if (Error error = linker.add(std::move(other)))
      return error;
  linker.finish();
  return Error::success();
}

} // namespace heed
