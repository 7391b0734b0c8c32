// Names of all kinds that begin with an underscore.
namespace go underscores

include "other.thrift"

enum _level { _low, HIGH }

struct _under {
  1: i32 _count = 1
  2: _level _of = _level._low
  3: list<other._part> _parts
  4: _choice __url
  5: _text _name
}

struct X_Taken {}
struct _Taken {} // X_Taken_: the name is taken

union _choice { 1: i32 _number, 2: other._part _part }
exception _failed { 1: string _why }

typedef string _text
const i32 _LIMIT = 10
const list<i32> __ids = [1]

service _shop extends other._base {
  _under _get(1: i32 _id) throws (1: _failed _bad)
  oneway void _log(1: _under __1)
}
