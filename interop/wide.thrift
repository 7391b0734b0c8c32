// What the programs in java, node, rust and cpp call, and the tests with them, that a server of
// ThriftTest does not have: methods, arguments and fields.

namespace java wide
namespace cpp wide

struct Tree {
  1: i32 number
  2: list<Tree> children
}

// An Xtruct with more fields.
struct WideXtruct {
  1: string string_thing
  2: bool bool_thing
  3: list<list<string>> lists
  4: i8 byte_thing
  5: i16 short_thing
  9: i32 i32_thing
  10: double double_thing
  11: i64 i64_thing
  12: map<string, set<i32>> sets
  13: Tree tree
  14: binary bytes
  300: string last
}

exception Trouble {
  1: string why
}

service Wide {
  WideXtruct testStruct(1: WideXtruct thing, 7: Tree tree, 8: string text)
  WideXtruct notThere(1: WideXtruct thing) throws (1: Trouble trouble)
  oneway void tellNobody(1: string thing)
  i32 testI32(1: i32 thing)
}
