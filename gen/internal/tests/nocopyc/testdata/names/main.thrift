namespace go x.main
struct M { 1: i32 a }
