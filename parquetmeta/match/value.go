package match

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// goTypes are the types of values of each kind, for errors.
var goTypes = [...]string{
	text: "a string or []byte", float: "a number, not NaN", boolean: "a bool",
	signed: "an integer or *big.Rat", unsigned: "an integer or *big.Rat", decimal: "an integer or *big.Rat",
	date: "a time.Time", clock: "a time.Duration", timestamp: "a time.Time",
}

// Value returns a value of the column, which is in the encoding PLAIN, as statistics have it: a
// bool, int64, uint64, float64, *big.Rat, time.Time (UTC), time.Duration or []byte, which aliases
// b. ok is false if it has no order, such as NaN, or is no value of the column.
func (o Order) Value(b []byte) (v any, ok bool) {
	p, ok := o.point(b)
	if !ok {
		return nil, false
	}
	switch o.kind {
	case text:
		return b, true
	case float:
		return p.f, true
	case boolean:
		return p.n.Sign() != 0, true
	case signed:
		return p.n.Int64(), true
	case unsigned:
		return p.n.Uint64(), true
	case decimal:
		return new(big.Rat).SetFrac(p.n, power(o.scale)), true
	case date:
		return time.Unix(p.n.Int64()*24*60*60, 0).UTC(), true
	}
	seconds, rest := p.n.DivMod(p.n, power(o.scale), new(big.Int))
	nanoseconds := rest.Mul(rest, power(9-o.scale)).Int64()
	if o.kind == timestamp {
		return time.Unix(seconds.Int64(), nanoseconds).UTC(), true
	}
	n := seconds.Mul(seconds, power(9))
	n.Add(n, big.NewInt(nanoseconds))
	return time.Duration(n.Int64()), n.IsInt64()
}

func power(scale int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
}

// around returns the values of the column that a Go value lies between: from is the least that is
// not below it, to the greatest that is not above it. With floating point numbers of fewer bits
// than v has it is the other way round, so that each of them counts as v.
func (o Order) around(v any) (from, to point, err error) {
	ok := false
	switch o.kind {
	case text:
		switch v := v.(type) {
		case string:
			from.b, ok = []byte(v), true
		case []byte:
			from.b, ok = v, true
		}
		to = from
	case float:
		from.f, to.f, ok = o.floats(v)
	default:
		var r *big.Rat
		if r, ok = o.rational(v); ok {
			r = new(big.Rat).Mul(r, new(big.Rat).SetInt(power(o.scale)))
			rest := new(big.Int)
			to.n, rest = new(big.Int).DivMod(r.Num(), r.Denom(), rest)
			from.n = to.n
			if rest.Sign() != 0 {
				from.n = new(big.Int).Add(to.n, big.NewInt(1))
			}
		}
	}
	if !ok {
		return from, to, fmt.Errorf("%s fits it, not %T", goTypes[o.kind], v)
	}
	return from, to, nil
}

// floats returns the least and the greatest number of the column that can be meant by v.
func (o Order) floats(v any) (from, to float64, ok bool) {
	exact := true
	if x := reflect.ValueOf(v); x.CanFloat() {
		from = x.Float()
	} else if r, ok := rational(v); ok {
		from, exact = r.Float64()
	} else {
		return 0, 0, false
	}
	to = from
	if !exact {
		from, to = math.Nextafter(from, math.Inf(-1)), math.Nextafter(to, math.Inf(1))
	}
	switch {
	case o.typ == format.Type_FLOAT:
		below, above := float32(from), float32(to)
		if float64(below) > from {
			below = math.Nextafter32(below, float32(math.Inf(-1)))
		}
		if float64(above) < to {
			above = math.Nextafter32(above, float32(math.Inf(1)))
		}
		from, to = float64(below), float64(above)
	case o.half() && math.Abs(from) > 65504: // the greatest: more may be infinite there
		from, to = min(from, 65504), max(to, -65504)
		if to > 0 {
			to = math.Inf(1)
		} else {
			from = math.Inf(-1)
		}
	case o.half():
		const tiny = 1.0 / (1 << 24)
		from, to = from-math.Abs(from)/1024-tiny, to+math.Abs(to)/1024+tiny
	}
	return from, to, from == from
}

// rational returns what v is in the unit that a scale of 0 would have.
func (o Order) rational(v any) (*big.Rat, bool) {
	switch o.kind {
	case boolean:
		b, ok := v.(bool)
		if b {
			return big.NewRat(1, 1), ok
		}
		return new(big.Rat), ok
	case date:
		t, ok := v.(time.Time)
		year, month, day := t.Date()
		return big.NewRat(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()/(24*60*60), 1), ok
	case timestamp:
		t, ok := v.(time.Time)
		if o.local {
			_, east := t.Zone()
			t = t.Add(time.Duration(east) * time.Second)
		}
		return new(big.Rat).Add(big.NewRat(t.Unix(), 1), big.NewRat(int64(t.Nanosecond()), 1e9)), ok
	case clock:
		d, ok := v.(time.Duration)
		return big.NewRat(int64(d), 1e9), ok
	case unordered:
		return nil, false
	}
	return rational(v)
}

// rational returns a number.
func rational(v any) (*big.Rat, bool) {
	switch v := v.(type) {
	case *big.Rat:
		return v, true
	case *big.Int:
		return new(big.Rat).SetInt(v), true
	}
	switch x := reflect.ValueOf(v); {
	case x.CanInt():
		return big.NewRat(x.Int(), 1), true
	case x.CanUint():
		return new(big.Rat).SetInt(new(big.Int).SetUint64(x.Uint())), true
	}
	return nil, false
}

// plain returns the encodings PLAIN that a value can have, or nil if they are not known.
func (o Order) plain(p point) [][]byte {
	switch {
	case o.kind == text:
		return [][]byte{p.b}
	case o.typ == format.Type_FLOAT && p.f == 0:
		return [][]byte{make([]byte, 4), {0, 0, 0, 0x80}}
	case o.typ == format.Type_DOUBLE && p.f == 0:
		return [][]byte{make([]byte, 8), {0, 0, 0, 0, 0, 0, 0, 0x80}}
	case o.typ == format.Type_FLOAT:
		return [][]byte{binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(p.f)))}
	case o.typ == format.Type_DOUBLE:
		return [][]byte{binary.LittleEndian.AppendUint64(nil, math.Float64bits(p.f))}
	case o.typ == format.Type_INT32 && o.whole32(p.n):
		return [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(p.n.Int64()))}
	case o.typ == format.Type_INT64 && (p.n.IsInt64() && o.kind != unsigned || p.n.IsUint64() && o.kind == unsigned):
		n := p.n.Uint64()
		if p.n.Sign() < 0 {
			n = uint64(p.n.Int64())
		}
		return [][]byte{binary.LittleEndian.AppendUint64(nil, n)}
	}
	return nil
}

// whole32 reports whether a column of INT32 can have this number.
func (o Order) whole32(n *big.Int) bool {
	if o.kind == unsigned {
		return n.IsUint64() && n.Uint64() <= math.MaxUint32
	}
	return n.IsInt64() && n.Int64() == int64(int32(n.Int64()))
}
