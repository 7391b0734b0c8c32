// What somebody would declare who wants nothing but the three fields of the partial operation: a peer that decodes into structs skips the rest then.
namespace go subset

struct SmallSub {
  1: string Name
}
struct Small {
  6: i64 Timestamp
  8: double Weight
  9: SmallSub Sub
}

struct User {
  2: string Name
}
struct Business {
  9: double Score
  11: User Owner
  12: i64 Ts
}

struct WideRow {
  50: optional string T50
}
struct Wide {
  1: list<WideRow> Rows
}
