#include <antlr4-runtime.h>

#include "frontend/parse/parse.h"

namespace mtf {

std::string antlr_version() {
  return antlr4::RuntimeMetaData::getRuntimeVersion();
}

}  // namespace mtf
