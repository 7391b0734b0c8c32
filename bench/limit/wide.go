package limit

import (
	"math"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

// Workload W: all fields of a kind are written in the same way.

// sizeWide returns what the message v takes at most: bools are counted as numbers, texts have four
// bytes too many.
func sizeWide(v *data.Wide) int {
	n := 9
	for i := range v.Rows {
		n += 1 + 11*len(v.Rows[i].Fields)
		for j := range v.Rows[i].Fields {
			n += len(v.Rows[i].Fields[j].Text)
		}
	}
	return n
}

func putWide(b []byte, v *data.Wide) ([]byte, int) {
	b = room(b, 0, 9)
	n := putList(b, 0, 1, tStruct, len(v.Rows))
	for i := range v.Rows {
		fields := v.Rows[i].Fields
		for j := range fields {
			f := &fields[j]
			b = room(b, n, 11+len(f.Text))
			id := byte(f.ID)
			switch data.WideFields[id-1].Kind {
			case data.TextField:
				n = putString(b, n, id, f.Text)
			case data.IntField:
				n = putI64(b, n, id, f.Int)
			case data.DoubleField:
				n = putDouble(b, n, id, math.Float64bits(f.Double))
			default:
				n = putBool(b, n, id, f.Bool)
			}
		}
		b = room(b, n, 2)
		b[n] = tStop
		n++
	}
	b[n] = tStop
	return b, n + 1
}

// readWide returns the sum of the message b.
func readWide(b []byte) (sum uint64) {
	p := field(b, 0, kList|1)
	n := count(b, p+1)
	p += 5
	for range n {
		for {
			t := b[p]
			if t == tString {
				s, end := text(b, p+3)
				sum, p = sum+s, end
				continue
			}
			if t == tStop {
				p++
				break
			}
			switch t {
			case tI64, tDouble:
				sum, p = sum+u64(b, p+3), p+11
			case tBool:
				sum, p = sum+bit(b[p+3]), p+4
			default:
				p = skip(b, p+3, t)
			}
		}
	}
	return sum
}

// findText returns the offset of the header of the field data.WideText of the row at p. If there
// is none, it returns where that field belongs, and false.
func findText(b []byte, p int) (at int, ok bool) {
	for {
		if b[p] == tStop {
			return p, false
		}
		switch k := header(b, p); {
		case k == kString|data.WideText:
			return p, true
		case k&0xffff > data.WideText:
			return p, false
		case b[p] == tString:
			p += 7 + count(b, p+3)
		default:
			p = skip(b, p+3, b[p])
		}
	}
}

// partialWide returns the sum of the rows' fields data.WideText.
func partialWide(b []byte) (sum uint64) {
	p := field(b, 0, kList|1)
	n := count(b, p+1)
	p += 5
	for range n {
		at, ok := findText(b, p)
		if ok {
			s, end := text(b, at+3)
			sum, at = sum+s, end
		}
		p = skipStruct(b, at)
	}
	return sum
}

// editWide appends to out the message b with the text of a hundred rows replaced or inserted. out
// may be nil.
func editWide(out, b []byte) []byte {
	p := field(b, 0, kList|1)
	n, step := count(b, p+1), data.WideStep(count(b, p+1))
	p += 5
	copied := 0
	for i := range n {
		if i%step > 0 {
			p = skipStruct(b, p)
			continue
		}
		at, ok := findText(b, p)
		out = append(out, b[copied:at]...)
		out = append(out, tString, 0, data.WideText)
		out = be.AppendUint32(out, uint32(len(data.EditText)))
		out = append(out, data.EditText...)
		copied = at
		if ok {
			copied += 7 + count(b, at+3)
		}
		p = skipStruct(b, copied)
	}
	return append(out, b[copied:]...)
}
