// The order of structs that are keys of maps, which the generated code leaves to its users.
#include "ThriftTest_types.h"

bool thrift::test::Insanity::operator<(const Insanity& other) const {
  return userMap != other.userMap ? userMap < other.userMap : xtructs.size() < other.xtructs.size();
}
