// The command line, as Apache's test/README.md has it, with some more flags: --name=value.
#pragma once
#include <cstdlib>
#include <map>
#include <string>

class Flags {
 public:
  Flags(int argc, char** argv) {
    for (int i = 1; i < argc; i++) {
      std::string arg = argv[i];
      auto equals = arg.find('=');
      given_[arg.substr(0, equals)] = equals == std::string::npos ? "true" : arg.substr(equals + 1);
    }
  }

  std::string text(const std::string& name, const std::string& otherwise) const {
    auto found = given_.find("--" + name);
    return found == given_.end() ? otherwise : found->second;
  }

  int number(const std::string& name, int otherwise) const {
    return std::atoi(text(name, std::to_string(otherwise)).c_str());
  }

  bool framed() const { return text("transport", "buffered") == "framed"; }
  bool http() const { return text("transport", "buffered") == "http"; }
  bool header() const { return text("transport", "buffered") == "header"; }
  bool multiplexed() const { return text("protocol", "binary").rfind("multi", 0) == 0; }
  bool compact() const {
    std::string name = text("protocol", "binary");
    return name == "compact" || name == "multic";
  }
  // Whether messages are sent without the strict header's version.
  bool old() const { return given_.count("--old") > 0; }

 private:
  std::map<std::string, std::string> given_;
};
