// Every shape that a message can have, for the tests of generator and runtime.
namespace go shapes

/** Colours; two of them are one. */
enum Color {
  RED = 1,
  GREEN = 2, // like grass
  VERT = 2,
  BLUE = 0x10,
  NONE = -1
}

typedef i64 Timestamp
typedef list<string> Words

struct Point {
  1: required i32 x
  2: i32 y
}

union Shape {
  1: double radius
  2: Point corner
  3: string label
  4: list<Point> outline
  5: map<string,i32> weights
  6: Color color
  7: binary raw
  8: uuid key
  9: list<i64> numbers
  10: bool empty
}

exception Refused {
  1: string reason
  2: i32 code
  3: optional Point where
}

struct Empty {}

/** Each type as a required field. */
struct RequiredFields {
  1: required bool flag
  2: required i8 tiny
  3: required i16 small
  4: required i32 medium
  5: required i64 large
  6: required double real
  7: required string text
  8: required binary blob
  9: required uuid key
  10: required Color color
  11: required Point point
  12: required Shape shape
  13: required list<i64> numbers
  14: required list<string> words
  15: required set<i32> unique
  16: required map<string,i64> counts
  17: required list<Point> points
}

/** Each type as a required field with a default. */
struct RequiredDefaults {
  1: required bool flag = true
  2: required i8 tiny = -8
  3: required i16 small = -1600
  4: required i32 medium = 320000
  5: required i64 large = -6400000000
  6: required double real = 2.5
  7: required string text = "héllo\n"
  8: required binary blob = "bytes"
  9: required uuid key = '00112233-4455-6677-8899-aabbccddeeff'
  10: required Color color = Color.GREEN
  11: required Point point = {'x': 3, 'y': 4}
  12: required Shape shape = {'radius': 1.5}
  13: required list<i64> numbers = [1, 2, 3]
  14: required list<string> words = ['a', 'b']
  15: required set<i32> unique = [7, 8]
  16: required map<string,i64> counts = {'one': 1, 'two': 2}
  17: required list<Point> points = [{'x': 1}, {'x': 2, 'y': 2}]
}

/** Each type as a optional field. */
struct OptionalFields {
  1: optional bool flag
  2: optional i8 tiny
  3: optional i16 small
  4: optional i32 medium
  5: optional i64 large
  6: optional double real
  7: optional string text
  8: optional binary blob
  9: optional uuid key
  10: optional Color color
  11: optional Point point
  12: optional Shape shape
  13: optional list<i64> numbers
  14: optional list<string> words
  15: optional set<i32> unique
  16: optional map<string,i64> counts
  17: optional list<Point> points
}

/** Each type as a optional field with a default. */
struct OptionalDefaults {
  1: optional bool flag = true
  2: optional i8 tiny = -8
  3: optional i16 small = -1600
  4: optional i32 medium = 320000
  5: optional i64 large = -6400000000
  6: optional double real = 2.5
  7: optional string text = "héllo\n"
  8: optional binary blob = "bytes"
  9: optional uuid key = '00112233-4455-6677-8899-aabbccddeeff'
  10: optional Color color = Color.GREEN
  11: optional Point point = {'x': 3, 'y': 4}
  12: optional Shape shape = {'radius': 1.5}
  13: optional list<i64> numbers = [1, 2, 3]
  14: optional list<string> words = ['a', 'b']
  15: optional set<i32> unique = [7, 8]
  16: optional map<string,i64> counts = {'one': 1, 'two': 2}
  17: optional list<Point> points = [{'x': 1}, {'x': 2, 'y': 2}]
}

/** Each type as a plain field. */
struct PlainFields {
  1: bool flag
  2: i8 tiny
  3: i16 small
  4: i32 medium
  5: i64 large
  6: double real
  7: string text
  8: binary blob
  9: uuid key
  10: Color color
  11: Point point
  12: Shape shape
  13: list<i64> numbers
  14: list<string> words
  15: set<i32> unique
  16: map<string,i64> counts
  17: list<Point> points
}

/** Each type as a plain field with a default. */
struct PlainDefaults {
  1: bool flag = true
  2: i8 tiny = -8
  3: i16 small = -1600
  4: i32 medium = 320000
  5: i64 large = -6400000000
  6: double real = 2.5
  7: string text = "héllo\n"
  8: binary blob = "bytes"
  9: uuid key = '00112233-4455-6677-8899-aabbccddeeff'
  10: Color color = Color.GREEN
  11: Point point = {'x': 3, 'y': 4}
  12: Shape shape = {'radius': 1.5}
  13: list<i64> numbers = [1, 2, 3]
  14: list<string> words = ['a', 'b']
  15: set<i32> unique = [7, 8]
  16: map<string,i64> counts = {'one': 1, 'two': 2}
  17: list<Point> points = [{'x': 1}, {'x': 2, 'y': 2}]
}

struct Lists {
  1: list<bool> flags
  2: list<i8> tinies
  3: list<i16> smalls
  4: list<i32> mediums
  5: list<i64> larges
  6: list<double> reals
  7: list<string> texts
  8: list<binary> blobs
  9: list<uuid> keys
  10: list<Color> colors
  11: list<Point> points
  12: list<Shape> shapes
  13: list<list<i64>> matrix
  14: list<list<string>> table
  15: list<map<string,list<Point>>> deep
  16: list<set<i32>> sets
  17: Words words
  18: list<Timestamp> times
  19: list<list<list<i16>>> cube
  20: list<Refused> refusals
}

struct Sets {
  1: set<bool> flags
  2: set<i8> tinies
  3: set<i16> smalls
  4: set<i32> mediums
  5: set<i64> larges
  6: set<double> reals
  7: set<string> texts
  8: set<binary> blobs
  9: set<uuid> keys
  10: set<Color> colors
  11: set<Point> points
  12: set<Shape> shapes
  13: set<list<i32>> rows
  14: set<map<i32,string>> maps
}

struct Maps {
  1: map<bool,string> by_flags
  2: map<i8,string> by_tinies
  3: map<i16,string> by_smalls
  4: map<i32,string> by_mediums
  5: map<i64,string> by_larges
  6: map<double,string> by_reals
  7: map<string,string> by_texts
  8: map<binary,string> by_blobs
  9: map<uuid,string> by_keys
  10: map<Color,string> by_colors
  11: map<Point,string> by_points
  12: map<Shape,string> by_shapes
  21: map<string,bool> to_flags
  22: map<string,i8> to_tinies
  23: map<string,i16> to_smalls
  24: map<string,i32> to_mediums
  25: map<string,i64> to_larges
  26: map<string,double> to_reals
  27: map<string,string> to_texts
  28: map<string,binary> to_blobs
  29: map<string,uuid> to_keys
  30: map<string,Color> to_colors
  31: map<string,Point> to_points
  32: map<string,Shape> to_shapes
  41: map<i32,Point> point_by_number
  42: map<string,map<string,i64>> nested
  43: map<string,list<i64>> series
  44: map<string,set<string>> groups
  45: map<list<i32>,string> by_row
  46: map<binary,binary> raw
  47: map<i64,list<map<string,Point>>> deep
  48: map<map<i32,i32>,Point> by_map
}

/** A tree by way of a list. */
struct Tree {
  1: required string name
  2: list<Tree> children
}

/** A list by way of an optional field. */
struct Chain {
  1: i64 value
  2: optional Chain next
}

/** A tree by way of a map. */
struct Directory {
  1: map<string,Directory> entries
  2: optional binary content
}

/** A union that contains itself. */
union Nest {
  1: i64 leaf
  2: Nest inner
  3: list<Nest> many
  4: map<string,Nest> named
}

/** More fields than the words of an entry. */
struct Wide {
  1: required i32 number1
  2: required string text2
  3: bool flag3
  4: i64 large4
  5: Point point5
  6: list<i64> numbers6
  7: double real7
  8: binary blob8
  9: map<string,i64> counts9
  10: Color color10
  11: i8 tiny11
  12: i16 small12
  13: uuid key13
  14: Shape shape14
  15: set<string> unique15
  16: list<Point> points16
  17: optional i32 number17
  18: optional string text18
  19: optional bool flag19
  20: optional i64 large20
  21: optional Point point21
  22: optional list<i64> numbers22
  23: optional double real23
  24: optional binary blob24
  25: optional map<string,i64> counts25
  26: optional Color color26
  27: optional i8 tiny27
  28: optional i16 small28
  29: optional uuid key29
  30: optional Shape shape30
  31: optional set<string> unique31
  32: optional list<Point> points32
  33: required i32 number33
  34: string text34 = "text"
  35: bool flag35
  36: i64 large36
  37: Point point37
  38: list<i64> numbers38
  39: double real39
  40: binary blob40
  41: map<string,i64> counts41
  42: Color color42
  43: i8 tiny43
  44: i16 small44
  45: uuid key45
  46: Shape shape46
  47: set<string> unique47
  48: list<Point> points48
  49: i32 number49 = -7
  50: string text50
  51: bool flag51
  52: i64 large52
  53: Point point53
  54: list<i64> numbers54
  55: double real55
  56: binary blob56
  57: map<string,i64> counts57
  58: Color color58
  59: i8 tiny59
  60: i16 small60
  61: uuid key61
  62: Shape shape62
  63: set<string> unique63
  64: list<Point> points64
}

/** Ids as they should not be, but are. */
struct OddIDs {
  i32 first
  string second
  32767: i32 top
  -3: i32 bottom
  7: i32 seven
  3: i32 three
}

/** Fields that are named like methods and Go's words. */
struct OddNames {
  1: string message
  2: string Release
  3: i32 type
  4: i32 user_id
  5: i32 userID
  6: string string
  7: bool valid
  8: i32 new_thing
  9: i32 Result
  10: i32 error
}

/** Structs inside structs. */
struct Outer {
  1: required Point origin
  2: optional Shape shape
  3: Lists lists
  4: optional Refused refused
  5: Tree tree
  6: i64 after
}

typedef string Password (nocopy.redact)
typedef list<Password> Passwords

/** All of it is redacted. */
struct Card {
  1: string number
} (nocopy.redact)

/** Values that must not be in logs, by every way of saying so. */
struct Secrets {
  1: string name
  2: string pin (nocopy.redact)
  3: Password password
  4: Passwords passwords
  5: map<string, Password> by_name
  6: list<string> tokens (nocopy.redact = "1")
  7: string (nocopy.redact) typed
  8: Card card
  9: list<Card> cards
  10: Point where (nocopy.redact)
  11: list<Secrets> nested
  12: map<i32, Secrets> nested_by_number
  13: Password public (nocopy.redact = "false")
  14: i64 number (nocopy.redact)
  15: map<string, Secrets> nested_by_name
}

/** A union with a secret. */
union Key {
  1: binary raw (nocopy.redact)
  2: string name
}

/** An exception with a secret. */
exception Rejected {
  1: string reason
  2: string token (nocopy.redact)
}

const bool YES = true
const i32 ANSWER = 42
const i64 BIG = 0x7fffffffffffffff
const double HALF = .5
const string GREETING = "hello"
const binary RAW = "raw"
const uuid ID = "{00112233-4455-6677-8899-AABBCCDDEEFF}"
const Color FAVOURITE = Color.BLUE
const Point ORIGIN = {"x": 0, "y": 0}
const Shape CIRCLE = {"radius": HALF}
const list<i64> PRIMES = [2, 3, 5, 7]
const Words WORDS = ["one", GREETING]
const set<Color> COLORS = [Color.RED, Color.BLUE, Color.RED]
const map<string,list<Point>> PATHS = {"a": [ORIGIN, {"x": 1}], "b": []}

/** What the IDL says besides shapes. */
struct Noted {
  /** A secret,
      in two lines. */
  1: string secret (nocopy.redact, json.name = "hush \"quoted\"")
  2: Color color = Color.VERT (b = "2", a = "1", b = "3")
} (owner = "me")

/** A limit. */
const i32 LIMIT = 7

/** Lists of structs of each requiredness, and other required fields. */
struct Rows {
  1: required list<Point> points
  2: list<Refused> refusals
  3: optional list<Point> more
  4: required i64 id
  5: required list<Rows> nested
  6: required list<Point> path = [{'x': 1}]
  7: required binary blob
  8: required map<i32,string> names
}
