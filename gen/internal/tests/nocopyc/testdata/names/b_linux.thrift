namespace go bb
include "s.thrift"
include "type.thrift"
include "main.thrift"
include "string.thrift"
/* block */ struct User { 1: i32 id; 2: i32 ID; 3: i32 message; 4: i32 string; 5: i32 Which; 6: i32 get_id; 7: i32 set_id; 8: s.Foo s; 9: list<s.Foo> v; 10: s.Bar n = s.Bar.X; 11: type.T type; 12: main.M main; 13: string.M opts; 14: map<s.Bar,s.Foo> b; 15: double negz = -0.0; 16: i64 min = -9223372036854775808 }
struct UserDesc { 1: i32 a }
struct user { 1: i32 a }
struct ParseUser { 1: i32 a }
struct NewUser { 1: i32 a }
struct UserI { 1: i32 D }
struct UserWhich { }
union U { 1: i32 a, 2: i32 A }
union UWhich { 1: i32 a }
enum U_ { a = 1, A = 2, }
enum Empty {}
const i32 User_ = 3
const i32 user = 3
const list<i32> l = [1]
const list<i32> L = [1]
typedef User USER
typedef i32 user_
exception error { 1: string Error, 2: string error }
exception String { 1: string Error, 2: i32 len }
struct _lead { 1: i32 _a, 2: i32 __, 3: _lead _x (deprecated) } (deprecated = "use User")
struct init { 1: i32 a}
struct int32 { 1: i32 a}
struct _ { 1: i32 a}
struct __ { 1: i32 a}
enum E { A = 1, a = 2, _ = 3 }
const s.Bar BAR = s.Bar.X
const E EE = E.a
const double NZ = -0.0
const double BIG = 1.7976931348623157e308
const string WEIRD = "a`b\"\\ \t é"
struct Sets { 1: set<binary> a, 2: map<binary,binary> b, 3: set<set<set<string>>> c, 4: map<map<i32,i32>,map<i32,map<string,User>>> d, 5: list<error> e }
