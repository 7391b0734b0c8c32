namespace go x.string
struct M { 1: i32 a }
