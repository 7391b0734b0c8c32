// Every kind of method that a service can have, for the tests of the generator and of the runtime.
namespace go services

include "../shapes/shapes.thrift"
include "parent.thrift"

typedef i64 Stamp
typedef list<shapes.Point> Path

// Extends a service of another file, which extends one itself.
service All extends parent.Middle {
  bool aBool(1: bool v)
  i8 anI8(1: i8 v)
  i16 anI16(1: i16 v)
  i32 anI32(1: i32 v)
  i64 anI64(1: i64 v)
  double aDouble(1: double v)
  string aString(1: string v)
  binary aBinary(1: binary v)
  uuid aUuid(1: uuid v)
  shapes.Color anEnum(1: shapes.Color v)
  shapes.Point aStruct(1: shapes.Point v)
  shapes.Shape aUnion(1: shapes.Shape v)
  shapes.Refused anException(1: shapes.Refused v)
  Stamp aTypedef(1: Stamp v)
  Path aPath(1: Path v)
  list<i32> aList(1: list<i32> v)
  set<string> aSet(1: set<string> v)
  map<string, shapes.Point> aMap(1: map<string, shapes.Point> v)
  map<shapes.Point, list<set<i64>>> aDeepMap(1: map<shapes.Point, list<set<i64>>> v)

  /** Has defaults, requirednesses and odd names and ids. */
  string many(1: required string type, 2: i32 func = 7, 3: optional list<string> range = ["a", "b"], -4: bool err, 5: i32 ctx,
    6: i32 c, 7: i64 success, i32 args) throws (1: shapes.Refused refused, 3: parent.Denied denied, 4: shapes.Refused again)
  oneway void tell(1: string v)
  void nothing()
  void maybe(1: i32 v) throws (2: parent.Denied denied)
  i32 new_thing() (deprecated = "use old_thing")
  i32 newThing()
  i32 getAllClient()
}

// Has no method of its own.
service Same extends All {}

service Empty {}

// Structs of other files as keys and elements.
struct Ledger {
  1: map<shapes.Point, string> names
  2: map<shapes.Shape, shapes.Point> points
  3: map<parent.Denied, list<shapes.Point>> refusals
  4: set<shapes.Point> unique
  5: map<shapes.Color, parent.Denied> colors
}

// Everything that could be mistaken for something else.
struct AllGetArgs { 1: i32 v }
struct AllClient {}
service get { void get_args(), void get_result(), void a(), void r(), void err(), void rpc(), void context() }
