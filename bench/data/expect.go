package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The results of the operations. Every peer computes them from its own form of the message, and
// the runner refuses to time a peer whose result differs.
//
// Sums are commutative, because a map<string,string> comes out of a Go map in any order.

// Str returns what a string adds to a sum: its memory is read, but no loop over its bytes is
// needed.
func Str[S ~string | ~[]byte](s S) uint64 {
	if len(s) == 0 {
		return 0
	}
	return uint64(len(s)) + uint64(s[0]) + uint64(s[len(s)-1])
}

// F64 returns what a double adds to a sum.
func F64(f float64) uint64 { return math.Float64bits(f) }

// Bool returns what a bool adds to a sum.
func Bool(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// The values that the edit operation sets. The string is not as long as the one that it replaces.
const (
	EditText = "edited: a text of another length than before"
	EditInt  = 1234567890123456789
)

// Sum returns the result of reading all of v, a pointer to one of this package's messages.
func Sum(v any) uint64 {
	switch v := v.(type) {
	case *MyTest:
		s := uint64(v.Num) + uint64(v.Ano)
		for _, n := range v.Nums {
			s += uint64(n)
		}
		return s
	case *Small:
		return Str(v.Service) + Str(v.Method) + Str(v.Caller) + uint64(v.Code) + uint64(v.TraceID) + uint64(v.Timestamp) +
			Bool(v.Sampled) + F64(v.Weight) + Str(v.SubName) + Str(v.SubRegion) + uint64(v.SubID)
	case *Business:
		return sumBusiness(v)
	case *Blob:
		return uint64(v.ID) + Str(v.Name) + Str(v.Data) + uint64(v.Code) + Bool(v.OK)
	case *VStreamRows:
		s := Str(v.Gtid)
		for _, r := range v.Rows {
			for _, n := range r.Lengths {
				s += uint64(n)
			}
			s += Str(r.Values)
		}
		return s
	case *Bulk:
		return Spots(v.Longs) + Spots(v.Ints) + Spots(v.Shorts) + SpotsF64(v.Doubles)
	case *WriteRequest:
		s := uint64(0)
		for _, t := range v.Series {
			for _, l := range t.Labels {
				s += Str(l.Name) + Str(l.Value)
			}
			for _, p := range t.Samples {
				s += F64(p.Value) + uint64(p.Timestamp)
			}
		}
		return s
	case *Wide:
		return v.sum()
	}
	panic(unknown(v))
}

func sumBusiness(v *Business) uint64 {
	s := uint64(v.ID) + Str(v.Title) + uint64(v.Status) + Str(v.Region) + Str(v.Cluster) + sumUser(v.User) + F64(v.Score) + Bool(v.Flag) +
		sumUser(v.Owner) + uint64(v.Ts) + Str(v.Trailer)
	for _, p := range v.Tags {
		s += Str(p.Key) + Str(p.Value)
	}
	for _, it := range v.Items {
		s += uint64(it.ID) + Str(it.Name) + Str(it.Desc) + uint64(it.Count) + F64(it.Price) + Bool(it.OK)
	}
	for _, p := range v.Extra {
		s += Str(p.Key) + Str(p.Value)
	}
	for _, n := range v.Nums {
		s += uint64(n)
	}
	for _, w := range v.Words {
		s += Str(w)
	}
	return s
}

func sumUser(u User) uint64 {
	return uint64(u.UID) + Str(u.Name) + Str(u.Email) + uint64(u.Age) + Bool(u.VIP)
}

// Partial returns the result of reading three fields of v: two scalars and a nested string. All
// three come late in the message. For a Wide, it is the text T50 of each row.
func Partial(v any) uint64 {
	switch v := v.(type) {
	case *Small:
		return uint64(v.Timestamp) + F64(v.Weight) + Str(v.SubName)
	case *Business:
		return F64(v.Score) + uint64(v.Ts) + Str(v.Owner.Name)
	case *WriteRequest:
		t := v.Series[len(v.Series)-1]
		return Str(t.Labels[0].Value) + F64(t.Samples[0].Value) + uint64(t.Samples[0].Timestamp)
	case *Wide:
		return v.partial()
	}
	panic(unknown(v))
}

// Edit changes v as the edit operation does: one nested string and one i64; of a Wide, the text
// T50 of a hundred rows.
func Edit(v any) {
	switch v := v.(type) {
	case *Small:
		v.SubName, v.Timestamp = EditText, EditInt
	case *Business:
		v.Owner.Name, v.Ts = EditText, EditInt
	case *WriteRequest:
		t := v.Series[len(v.Series)-1]
		t.Labels[0].Value, t.Samples[0].Timestamp = EditText, EditInt
	case *Edits:
		v.apply()
	case *Wide:
		v.edit()
	default:
		panic(unknown(v))
	}
}

// SortPairs sorts a map's entries into this package's order: by the number in the key, "k12.abcd".
func SortPairs(p []Pair) {
	number := func(p Pair) int {
		digits, _, _ := strings.Cut(strings.TrimPrefix(p.Key, "k"), ".")
		n, _ := strconv.Atoi(digits)
		return n
	}
	slices.SortStableFunc(p, func(a, b Pair) int { return number(a) - number(b) })
}

func unknown(v any) string { return fmt.Sprintf("data: no such message: %T", v) }
