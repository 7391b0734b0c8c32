package header

import (
	"bytes"
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// FieldID is the id of the field that has headers on wires without a place for them, a
// map<string,string>. OpenTelemetry's and SkyWalking's agents for Java use the same.
const FieldID = 8888

const (
	mapHeader  = 6
	textHeader = 4
)

// OfField returns the headers in the value of a field, none unless it is a map of strings within
// the limits.
func OfField(v nocopy.Value) List {
	if v.Type != nocopy.WireMap {
		return nil
	}
	return ofMap(v.Raw())
}

// ofMap returns the headers in the map that b begins with. The peer may change b meanwhile, if it
// is in shared memory.
func ofMap(b []byte) List {
	const most = mapHeader + MaxPairs*2*textHeader + MaxBytes
	b = b[:min(len(b), most)]
	end, ok := eachPair(b, nil)
	if !ok {
		return nil
	}
	whole := string(b[:end]) // all strings are parts of it
	var list List
	if _, ok = eachPair(whole, func(n, key, from, to int) {
		if list == nil {
			list = make(List, 0, n)
		}
		list = append(list, Pair{whole[key : from-textHeader], whole[from:to]})
	}); !ok {
		return nil
	}
	return list
}

// eachPair calls f for each pair of the map that b begins with. n is the number of pairs; the key
// is in b[key:from-textHeader], and the value in b[from:to]. It returns where the map ends, and
// whether it is a map of strings within the limits.
func eachPair[B string | []byte](b B, f func(n, key, from, to int)) (end int, ok bool) {
	if len(b) < mapHeader {
		return 0, false
	}
	word := func(at int) uint32 {
		return uint32(b[at])<<24 | uint32(b[at+1])<<16 | uint32(b[at+2])<<8 | uint32(b[at+3])
	}
	n := word(2)
	if n > MaxPairs || n > 0 && (nocopy.WireType(b[0]) != nocopy.WireString || nocopy.WireType(b[1]) != nocopy.WireString) {
		return 0, false
	}
	at, left := mapHeader, MaxBytes
	text := func() (from int, ok bool) {
		if len(b)-at < textHeader {
			return 0, false
		}
		size := word(at)
		if from = at + textHeader; size > uint32(min(left, len(b)-from)) {
			return 0, false
		}
		at, left = from+int(size), left-int(size)
		return from, true
	}
	for range n {
		key, ok1 := text()
		from, ok2 := text()
		if !ok1 || !ok2 {
			return 0, false
		}
		if f != nil {
			f(int(n), key, from, at)
		}
	}
	return at, true
}

// AppendMap appends the wire bytes of a map with the list's headers.
func (l List) AppendMap(b []byte) []byte {
	b = append(b, byte(nocopy.WireString), byte(nocopy.WireString))
	b = binary.BigEndian.AppendUint32(b, uint32(len(l)))
	for _, p := range l {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.Key))), p.Key...)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.Value))), p.Value...)
	}
	return b
}

// In returns the headers in the struct that c begins with. If they can't be found at small cost,
// it reports whether there may be some: then OfField of the first such field has them.
func In(c memory.Chunk) (l List, maybe bool) {
	if c.Next() == nil {
		s := search{mem: c.Mem, steps: 16 + len(c.Mem)/stepBytes}
		switch t, known := s.fields(0); {
		case known && t == nocopy.WireMap:
			return ofMap(c.Mem[s.at:]), false
		case known:
			return nil, false
		}
	}
	return nil, hasHeader(c)
}

// hasHeader reports whether the bytes of a field's header with headers are anywhere in c.
func hasHeader(c memory.Chunk) bool {
	const last = byte(FieldID & 0xff)
	var before [2]byte // the last bytes of the pieces before
	for p := &c; p != nil; p = p.Next() {
		for at := 0; at < len(p.Mem); at++ {
			n := bytes.IndexByte(p.Mem[at:], last)
			if n < 0 {
				break
			}
			at += n
			t, high := before[0], before[1]
			if at > 0 {
				high, t = p.Mem[at-1], before[1]
			}
			if at > 1 {
				t = p.Mem[at-2]
			}
			if t == byte(nocopy.WireMap) && high == FieldID>>8 {
				return true
			}
		}
		if n := len(p.Mem); n > 1 {
			before = [2]byte(p.Mem[n-2:])
		} else if n == 1 {
			before = [2]byte{before[1], p.Mem[0]}
		}
	}
	return false
}

// A search takes at most one step per stepBytes bytes. Scanning so many bytes costs about as much
// as a step.
const stepBytes = 256

// search looks for a field with headers in a struct, in a limited number of steps.
type search struct {
	mem   []byte
	at    int
	steps int
}

// maxDepth is how deeply search looks.
const maxDepth = 16

// fixedSize has the sizes of types whose values all have the same; 0 for others.
var fixedSize = [256]uint8{
	nocopy.WireBool: 1, nocopy.WireI8: 1, nocopy.WireI16: 2, nocopy.WireI32: 4,
	nocopy.WireI64: 8, nocopy.WireDouble: 8, nocopy.WireUUID: 16,
}

// fields passes over a struct. In the outermost one it stops at the value of the first field for
// headers, whose type it returns: WireStop if there is none. It reports whether that is known.
func (s *search) fields(depth int) (t nocopy.WireType, known bool) {
	for {
		if s.steps--; s.steps < 0 || depth > maxDepth || s.at >= len(s.mem) {
			return 0, false
		}
		if t = nocopy.WireType(s.mem[s.at]); t == nocopy.WireStop {
			s.at++
			return t, true
		}
		if len(s.mem)-s.at < 3 {
			return 0, false
		}
		id := binary.BigEndian.Uint16(s.mem[s.at+1:])
		s.at += 3
		if depth == 0 && id == FieldID {
			return t, true
		}
		if n := int(fixedSize[t]); n > 0 {
			s.at += n
		} else if !s.value(t, depth) {
			return 0, false
		}
	}
}

// value passes over a value and reports whether it could.
func (s *search) value(t nocopy.WireType, depth int) bool {
	if n := int(fixedSize[t]); n > 0 {
		return s.pass(uint64(n))
	}
	if s.at > len(s.mem) {
		return false
	}
	switch left := s.mem[s.at:]; t {
	case nocopy.WireString:
		return len(left) >= textHeader && s.pass(textHeader+uint64(binary.BigEndian.Uint32(left)))
	case nocopy.WireStruct:
		_, known := s.fields(depth + 1)
		return known
	case nocopy.WireList, nocopy.WireSet:
		const header = 5
		return len(left) >= header && s.elements(header, binary.BigEndian.Uint32(left[1:]), depth+1, left[:1])
	case nocopy.WireMap:
		return len(left) >= mapHeader && s.elements(mapHeader, binary.BigEndian.Uint32(left[2:]), depth+1, left[:2])
	}
	return false
}

// pass passes over n bytes and reports whether there are as many.
func (s *search) pass(n uint64) bool {
	if s.at > len(s.mem) || n > uint64(len(s.mem)-s.at) {
		return false
	}
	s.at += int(n)
	return true
}

// elements passes over a container's header and its n elements, which are of these types in turn.
func (s *search) elements(header uint64, n uint32, depth int, types []byte) bool {
	s.pass(header)
	size, fixed := uint64(0), true
	for _, t := range types {
		size += uint64(fixedSize[t])
		fixed = fixed && fixedSize[t] > 0
	}
	if fixed {
		return s.pass(uint64(n) * size)
	}
	for ; n > 0; n-- {
		for _, t := range types {
			if s.steps--; s.steps < 0 || depth > maxDepth || !s.value(nocopy.WireType(t), depth) {
				return false
			}
		}
	}
	return true
}
