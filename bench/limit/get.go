package limit

import "github.com/nocopythrift/nocopythrift/bench/data"

// header returns a field's wire type and id as one number. Ids are from 0 to 255 in the benchmark.
func header(b []byte, p int) uint32 {
	h := b[p : p+3]
	return uint32(h[0])<<16 | uint32(h[1])<<8 | uint32(h[2])
}

func count(b []byte, p int) int { return int(be.Uint32(b[p : p+4])) }

func u64(b []byte, p int) uint64 { return be.Uint64(b[p : p+8]) }

// text returns what the string at p adds to a sum, and the offset after it.
func text(b []byte, p int) (uint64, int) {
	n := count(b, p)
	s := b[p+4 : p+4+n]
	return data.Str(s), p + 4 + n
}

func bit(c byte) uint64 {
	if c != 0 {
		return 1
	}
	return 0
}

// fixed holds the sizes of values by wire type, 0 for types whose values differ in size.
var fixed = [256]uint8{2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8, 16: 16}

// skip returns the offset after the value of type t at p.
func skip(b []byte, p int, t byte) int {
	switch t {
	case tString:
		return p + 4 + count(b, p)
	case tStruct:
		return skipStruct(b, p)
	case 14, tList:
		return skipList(b, p)
	case tMap:
		kt, vt, n := b[p], b[p+1], count(b, p+2)
		p += 6
		for range n {
			p = skip(b, p, kt)
			p = skip(b, p, vt)
		}
		return p
	}
	if fixed[t] == 0 {
		panic("limit: unknown wire type")
	}
	return p + int(fixed[t])
}

// skipStruct skips a struct. It tells types apart by branches, not by the table: if a branch is
// predicted, the next field can begin before this one's type has been loaded.
func skipStruct(b []byte, p int) int {
	for {
		t := b[p]
		if t == tString {
			p += 7 + count(b, p+3)
			continue
		}
		if t == tStop {
			return p + 1
		}
		switch t {
		case tI64, tDouble:
			p += 11
		case tI32:
			p += 7
		case tBool:
			p += 4
		default:
			p = skip(b, p+3, t)
		}
	}
}

func skipList(b []byte, p int) int {
	t, n := b[p], count(b, p+1)
	p += 5
	if f := fixed[t]; f != 0 {
		return p + n*int(f)
	}
	switch t {
	case tStruct:
		for range n {
			p = skipStruct(b, p)
		}
	case tString:
		for range n {
			p += 4 + count(b, p)
		}
	default:
		for range n {
			p = skip(b, p, t)
		}
	}
	return p
}
