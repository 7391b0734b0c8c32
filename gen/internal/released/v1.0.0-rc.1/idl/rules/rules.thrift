include "other.thrift"

namespace go rules

struct Numbers {
  1: i8 a (vt.const = "3")
  2: i16 b (vt.lt = "10", vt.gt = "-10")
  3: i32 c (vt.le = "0x10", vt.ge = "-1")
  4: i64 d (vt.in = "1", vt.in = "2", vt.in = "2")
  5: i64 e (vt.not_in = "0", vt.not_in = "7")
  6: double f (vt.gt = "0.25", vt.le = "1e3")
  7: double g (vt.in = "0", vt.in = "1.5")
  8: bool h (vt.const = "true")
  9: optional i32 i (vt.gt = "0")
  10: optional i32 j (vt.not_nil, vt.lt = "5")
  11: i32 free
}

struct Texts {
  1: string a (vt.const = "x\"y")
  2: string b (vt.min_size = "2", vt.max_size = "4")
  3: string c (vt.min_rune_size = "2", vt.max_rune_size = "3")
  4: string d (vt.pattern = "^[a-z]+\\d?$")
  5: string e (vt.prefix = "ab", vt.suffix = "yz", vt.contains = "mm", vt.not_contains = "!")
  6: string f (vt.in = "a", vt.in = "b")
  7: string g (vt.not_in = "a", vt.not_in = "b")
  8: string h (vt.prefix = "@")
  11: binary k (vt.const = "k")
  12: binary l (vt.min_size = "1", vt.max_size = "2", vt.max_rune_size = "1")
  13: binary m (vt.pattern = "^m")
  14: binary n (vt.prefix = "ab", vt.suffix = "yz", vt.contains = "0123456789012345678901234567890123456789", vt.not_contains = "!")
  15: binary o (vt.in = "a", vt.in = "b", vt.not_in = "c")
  16: optional uuid p (vt.not_nil = "true")
}

enum Kind {
  NONE = 0,
  A = 1,
  B = 2
}

struct Enums {
  1: Kind a (vt.const = "Kind.A")
  2: Kind b (vt.defined_only = "true")
  3: Kind c (vt.in = "A", vt.in = "Kind.B")
  4: Kind d (vt.not_in = "NONE")
  5: other.Level e (vt.defined_only = "true", vt.const = "other.Level.HIGH")
  6: other.Grade f (vt.not_in = "other.Grade.LOW", vt.not_in = "7")
  7: Kind g (vt.defined_only = "false")
}

struct Item {
  1: required string article (vt.min_size = "1")
  2: i32 count (vt.gt = "0")
}

struct Containers {
  1: list<Item> items (vt.min_size = "1", vt.max_size = "2")
  2: list<string> tags (vt.elem.min_size = "1", vt.elem.pattern = "^t")
  3: set<i32> ids (vt.elem.gt = "0")
  4: map<string, Item> byName (vt.max_size = "2", vt.key.min_size = "1", vt.no_sparse = "true")
  5: map<Kind, list<i32>> grid (vt.key.defined_only = "true", vt.value.min_size = "1", vt.value.elem.ge = "0")
  6: list<list<Item>> nested
  7: map<i32, i32> numbers (vt.key.gt = "0")
  8: map<Item, bool> keys
  9: list<Item> skipped (vt.skip = "true", vt.max_size = "1")
  10: list<Item> inner (vt.elem.skip = "true")
  11: map<binary, map<i64, double>> deep (vt.value.value.lt = "1")
  12: optional list<i32> maybe (vt.min_size = "1")
  13: list<Kind> kinds (vt.elem.defined_only = "true")
}

struct Order {
  1: Item first
  2: Item needed (vt.not_nil = "true")
  3: Item skipped (vt.skip = "true")
  4: other.Place place
  5: other.Free free
  6: Order next
  7: optional Choice choice
}

union Choice {
  1: i32 number (vt.gt = "0")
  2: Item item
  3: string text
}

exception Failed {
  1: i32 code (vt.ge = "400")
}

struct References {
  1: i32 low
  2: i16 high (vt.ge = "$low", vt.lt = "@add($low, 100)")
  3: string name (vt.max_size = "$low", vt.prefix = "$start")
  4: string start
  5: list<string> parts (vt.elem.max_size = "@len($name)")
  6: i64 time (vt.le = "@add(@now_unix_nano(), 1000000000)")
  7: double ratio (vt.le = "$low")
  8: i32 whole (vt.le = "$ratio")
  9: string text (vt.const = "@sprintf('%d-%s!%%', $low, $start)")
  10: bool flag (vt.const = "$other")
  11: bool other
  12: binary raw (vt.prefix = "$start", vt.const = "$raw")
}

struct Asserted {
  1: i32 a
  2: i32 b
  3: string s
  4: list<i32> l
  5: double d
} (vt.assert = "@equal(@mod($a, $b), 0)", vt.assert = '@equal(@len($l); @len($s))', vt.assert = "@equal($d, @add($a, 0.5))",
  vt.assert = '@equal(@add("x", $s), @sprintf("x%s", $s))')

struct Exact {
  1: i64 less (vt.lt = "$real")
  2: i64 same (vt.const = "$real")
  3: i64 other (vt.not_in = "$real")
  4: double real (vt.gt = "$bound")
  5: i64 bound
  8: i64 a
  9: double b
  10: double d (vt.le = "@len($text)")
  11: string text
} (vt.assert = "@equal($a, $b)", vt.assert = "@equal($b, $a)")

struct Twice {
  1: string in (vt.in = "x || y", vt.in = "x || y", vt.in = "z")
  2: binary out (vt.not_in = "x && y", vt.not_in = "z", vt.not_in = "x && y")
  3: i32 number (vt.in = "1", vt.in = "0x1", vt.in = "2", vt.in = "2")
}

struct Pin {
  1: i32 number (vt.ge = "1000")
} (nocopy.redact)

struct Secrets {
  1: i32 pin (vt.ge = "1000", nocopy.redact)
  2: map<string, i32> by_name (vt.value.ge = "1000", nocopy.redact)
  3: string text (vt.min_size = "4", nocopy.redact)
  4: list<Pin> pins
}

struct Free {
  1: i32 a (go.tag = "x")
  2: Numbers none (vt.skip)
  3: list<list<Free>> more
}

service Shop {
  Item order(1: Order order, 2: i32 count (vt.gt = "0")) throws (1: Failed failed)
  void free(1: i32 a)
  oneway void note(1: string text (vt.max_size = "3"))
}
