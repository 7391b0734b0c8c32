namespace go rules.other

enum Level {
  LOW = 1,
  HIGH = 3,
  TOP = 3
}

typedef Level Grade

struct Place {
  1: string city (vt.min_size = "1")
}

struct Free {
  1: i32 a
}
