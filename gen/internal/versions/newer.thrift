// The second state of older.thrift.
namespace go versions.newer

enum Color { RED = 1, GREEN = 2, BLUE = 3 }
typedef i64 Moment
const i32 LIMIT = 8

// These are the same in both, apart from names of typedefs and values of enums and constants.
struct Point { 1: required i32 x, 2: i32 y = 4 }
struct Paint { 1: Color color, 2: Moment at, 3: list<Color> colors }
union Shape { 1: Point corner, 2: string label, 3: Shape inner, 4: list<Shape> parts }
struct Tree { 1: required string name, 2: list<Tree> children, 3: optional Tree first, 4: map<Point, Tree> by_point }
exception Denied { 1: string why, 2: Point where }

// These differ.
struct Grown { 1: i32 a, 2: string b }
struct Shrunk { 1: i32 a }
struct Retyped { 1: i64 a }
struct Renamed { 1: i32 b }
struct Needed { 1: required i32 a }
struct Defaulted { 1: i32 a = 2 }
struct Reordered { 2: i32 b, 1: i32 a }
union Chosen { 1: i32 a, 2: i32 b }
union Armed { 1: i32 a, 2: string b }
struct Latest { 1: i32 a }
enum Hue { RED = 1, GREEN = 2 }
struct Recolored { 1: Hue color }
exception Refused { 1: string why, 2: i32 code }
exception Shuffled { 2: i32 code, 1: string why }
struct Deep { 1: list<map<string, Grown>> grown }

struct All {
  1: Point point, 2: Paint paint, 3: Shape shape, 4: Tree tree, 5: Denied denied
  6: Grown grown, 7: Shrunk shrunk, 8: Retyped retyped, 9: Renamed renamed, 10: Needed needed
  11: Defaulted defaulted, 12: Reordered reordered, 13: Chosen chosen, 14: Armed armed
  15: Latest old, 16: Recolored recolored, 17: Deep deep
  21: list<Point> points, 22: list<Grown> many_grown, 23: set<Point> unique, 24: map<string, Point> by_name
  25: map<Point, Grown> by_point, 26: list<list<Point>> rows, 27: map<string, Grown> grown_by_name
}

service Gate {
  Point send(1: Point point, 2: string how) throws (1: Denied denied, 2: Refused refused, 3: Shuffled shuffled)
}
