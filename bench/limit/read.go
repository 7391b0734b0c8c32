package limit

import "github.com/nocopythrift/nocopythrift/bench/data"

// The headers of fields as header returns them.
const (
	kBool   = tBool << 16
	kDouble = tDouble << 16
	kI32    = tI32 << 16
	kI64    = tI64 << 16
	kString = tString << 16
	kStruct = tStruct << 16
	kMap    = tMap << 16
	kList   = tList << 16
)

// sum reads all of the message b, which is of the type of v.
func sum(b []byte, v any) uint64 {
	var s uint64
	switch v.(type) {
	case *data.MyTest:
		s, _ = readMyTest(b, 0)
	case *data.Small:
		s, _ = readSmall(b, 0)
	case *data.Business:
		s, _ = readBusiness(b, 0)
	case *data.Blob:
		s, _ = readBlob(b, 0)
	case *data.VStreamRows:
		s, _ = readVStreamRows(b, 0)
	case *data.WriteRequest:
		s, _ = readWriteRequest(b, 0)
	case *data.Wide:
		s = readWide(b)
	default:
		panic("limit: no such message")
	}
	return s
}

// Each read function reads the value at p, fields in any order, and returns its sum and where it
// ends.

func readMyTest(b []byte, p int) (sum uint64, end int) {
	for b[p] != tStop {
		switch header(b, p) {
		case kI64 | 1:
			sum, p = sum+u64(b, p+3), p+11
		case kStruct | 2:
			p += 3
			sum += u64(b, field(b, p, kI64|1))
			p = skipStruct(b, p)
		case kList | 3:
			s, n := readI64s(b, p+3)
			sum, p = sum+s, n
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readI64s(b []byte, p int) (sum uint64, end int) {
	n := count(b, p+1)
	in := b[p+5 : p+5+8*n]
	for len(in) >= 32 {
		sum += be.Uint64(in) + be.Uint64(in[8:]) + be.Uint64(in[16:]) + be.Uint64(in[24:])
		in = in[32:]
	}
	for len(in) >= 8 {
		sum += be.Uint64(in)
		in = in[8:]
	}
	return sum, p + 5 + 8*n
}

func readSmall(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kString | 1, kString | 2, kString | 3:
			s, p = text(b, p+3)
			sum += s
		case kI32 | 4:
			sum, p = sum+uint64(int32(count(b, p+3))), p+7
		case kI64 | 5, kI64 | 6, kDouble | 8:
			sum, p = sum+u64(b, p+3), p+11
		case kBool | 7:
			sum, p = sum+bit(b[p+3]), p+4
		case kStruct | 9:
			s, p = readSmallSub(b, p+3)
			sum += s
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readSmallSub(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kString | 1, kString | 2:
			s, p = text(b, p+3)
			sum += s
		case kI64 | 3:
			sum, p = sum+u64(b, p+3), p+11
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readBlob(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kI64 | 1:
			sum, p = sum+u64(b, p+3), p+11
		case kString | 2, kString | 3:
			s, p = text(b, p+3)
			sum += s
		case kI32 | 4:
			sum, p = sum+uint64(int32(count(b, p+3))), p+7
		case kBool | 5:
			sum, p = sum+bit(b[p+3]), p+4
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readVStreamRows(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kString | 1:
			s, p = text(b, p+3)
			sum += s
		case kList | 2:
			n := count(b, p+4)
			p += 8
			for range n {
				s, p = readRow(b, p)
				sum += s
			}
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readRow(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kList | 1:
			s, p = readI64s(b, p+3)
			sum += s
		case kString | 2:
			s, p = text(b, p+3)
			sum += s
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readWriteRequest(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		if header(b, p) != kList|1 {
			p = skip(b, p+3, b[p])
			continue
		}
		n := count(b, p+4)
		p += 8
		for range n {
			s, p = readSeries(b, p)
			sum += s
		}
	}
	return sum, p + 1
}

func readSeries(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kList | 1:
			n := count(b, p+4)
			p += 8
			for range n {
				s, p = readLabel(b, p)
				sum += s
			}
		case kList | 2:
			n := count(b, p+4)
			p += 8
			for range n {
				s, p = readSample(b, p)
				sum += s
			}
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readLabel(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kString | 1, kString | 2:
			s, p = text(b, p+3)
			sum += s
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readSample(b []byte, p int) (sum uint64, end int) {
	for b[p] != tStop {
		switch header(b, p) {
		case kDouble | 1, kI64 | 2:
			sum, p = sum+u64(b, p+3), p+11
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}
