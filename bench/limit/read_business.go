package limit

func readBusiness(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kI64 | 1, kDouble | 9, kI64 | 12:
			sum, p = sum+u64(b, p+3), p+11
		case kString | 2, kString | 13:
			s, p = text(b, p+3)
			sum += s
		case kI32 | 3:
			sum, p = sum+uint64(int32(count(b, p+3))), p+7
		case kStruct | 4:
			s, p = readMeta(b, p+3)
			sum += s
		case kList | 5:
			n := count(b, p+4)
			p += 8
			for range n {
				s, p = readItem(b, p)
				sum += s
			}
		case kMap | 6:
			s, p = readPairs(b, p+3)
			sum += s
		case kList | 7:
			s, p = readI64s(b, p+3)
			sum += s
		case kList | 8:
			n := count(b, p+4)
			p += 8
			for range n {
				s, p = text(b, p)
				sum += s
			}
		case kBool | 10:
			sum, p = sum+bit(b[p+3]), p+4
		case kStruct | 11:
			s, p = readUser(b, p+3)
			sum += s
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readMeta(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kString | 1, kString | 2:
			s, p = text(b, p+3)
			sum += s
		case kStruct | 3:
			s, p = readUser(b, p+3)
			sum += s
		case kMap | 4:
			s, p = readPairs(b, p+3)
			sum += s
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}

func readPairs(b []byte, p int) (sum uint64, end int) {
	var s uint64
	n := count(b, p+2)
	p += 6
	for range 2 * n {
		s, p = text(b, p)
		sum += s
	}
	return sum, p
}

func readUser(b []byte, p int) (sum uint64, end int) {
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

func readItem(b []byte, p int) (sum uint64, end int) {
	var s uint64
	for b[p] != tStop {
		switch header(b, p) {
		case kI64 | 1, kDouble | 5:
			sum, p = sum+u64(b, p+3), p+11
		case kString | 2, kString | 3:
			s, p = text(b, p+3)
			sum += s
		case kI32 | 4:
			sum, p = sum+uint64(int32(count(b, p+3))), p+7
		case kBool | 6:
			sum, p = sum+bit(b[p+3]), p+4
		default:
			p = skip(b, p+3, b[p])
		}
	}
	return sum, p + 1
}
