package limit

import "github.com/nocopythrift/nocopythrift/bench/data"

// spots holds the offsets of the values that the partial and edit operations use: of the string's
// length, the i64 and the double.
type spots struct{ text, num, double int }

// locate returns the spots of the message b, which is of the type of v. It skips other fields.
func locate(b []byte, v any) spots {
	switch v.(type) {
	case *data.Small:
		return locateSmall(b)
	case *data.Business:
		return locateBusiness(b)
	case *data.WriteRequest:
		return locateSample(b)
	}
	panic("limit: no such message")
}

func locateSmall(b []byte) (s spots) {
	for p := 0; ; {
		switch header(b, p) {
		case kString | 1, kString | 2, kString | 3:
			p += 7 + count(b, p+3)
		case kI32 | 4:
			p += 7
		case kI64 | 5:
			p += 11
		case kI64 | 6:
			s.num, p = p+3, p+11
		case kBool | 7:
			p += 4
		case kDouble | 8:
			s.double, p = p+3, p+11
		case kStruct | 9:
			s.text = field(b, p+3, kString|1)
			return s
		default:
			p = skip(b, p+3, b[p])
		}
	}
}

func locateBusiness(b []byte) (s spots) {
	for p := 0; b[p] != tStop; p = skip(b, p+3, b[p]) {
		switch header(b, p) {
		case kDouble | 9:
			s.double = p + 3
		case kStruct | 11:
			s.text = field(b, p+3, kString|2)
		case kI64 | 12:
			s.num = p + 3
		}
		if s.num != 0 && s.double != 0 && s.text != 0 {
			break // no later field is needed
		}
	}
	return s
}

// locateSample is locate for the first label and the first sample of the last series.
func locateSample(b []byte) (s spots) {
	p := field(b, 0, kList|1)
	n := count(b, p+1)
	p += 5
	for range n - 1 {
		p = skipStruct(b, p)
	}
	s.text = field(b, field(b, p, kList|1)+5, kString|2)
	sample := field(b, p, kList|2) + 5
	s.double = field(b, sample, kDouble|1)
	s.num = field(b, sample, kI64|2)
	return s
}

// field returns the offset of the value of the field with header k in the struct at p.
func field(b []byte, p int, k uint32) int {
	for header(b, p) != k {
		p = skip(b, p+3, b[p])
	}
	return p + 3
}

func partial(b []byte, v any) uint64 {
	if _, ok := v.(*data.Wide); ok {
		return partialWide(b)
	}
	s := locate(b, v)
	t, _ := text(b, s.text)
	return t + u64(b, s.num) + u64(b, s.double)
}

// edit appends to out the message b, edited.
func edit(out, b []byte, v any) []byte {
	if _, ok := v.(*data.Wide); ok {
		return editWide(out, b)
	}
	s := locate(b, v)
	end := s.text + 4 + count(b, s.text)
	at := len(out) + s.num
	if s.num > s.text {
		at += len(data.EditText) - (end - s.text - 4)
	}
	out = append(out, b[:s.text]...)
	out = be.AppendUint32(out, uint32(len(data.EditText)))
	out = append(out, data.EditText...)
	out = append(out, b[end:]...)
	be.PutUint64(out[at:], data.EditInt)
	return out
}
