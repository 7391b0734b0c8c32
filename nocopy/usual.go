package nocopy

// What Lazy leaves for later is only skipped, and mostly it is as its type says, fields in the IDL's order. Then its end
// is found without asking for any field's type. Where something is not as usual, skip finds out what.

const unusual = -1

// usualEnd returns the index behind the value of type t at b[i:], or unusual. depth is how many structs may be in one another.
func usualEnd(b []byte, t *Type, i, depth int) int {
	switch t.kind {
	case record:
		return usualElements(b, t, i, 1, depth)
	case list:
		if len(b)-i < listHeader || WireType(b[i]) != t.elem.wire {
			return unusual
		}
		n := be32(b[i+1:])
		return usualElements(b, t.elem, i+listHeader, n, depth)
	case dict:
		if len(b)-i < mapHeader || WireType(b[i]) != t.key.wire || WireType(b[i+1]) != t.elem.wire {
			return unusual
		}
		n := be32(b[i+2:])
		i += mapHeader
		if t.key.kind == text && t.elem.kind == text {
			if n > maxCount {
				return unusual
			}
			return textsEnd(b, i, 2*n)
		}
		for ; n > 0 && i >= 0; n-- {
			if i = usualEnd(b, t.key, i, depth); i >= 0 {
				i = usualEnd(b, t.elem, i, depth)
			}
		}
		return i
	case text:
		if len(b)-i < textHeader {
			return unusual
		}
		return within(b, uint64(i)+textHeader+uint64(be32(b[i:])))
	}
	return within(b, uint64(i)+uint64(t.size))
}

func within(b []byte, end uint64) int {
	if end > uint64(len(b)) {
		return unusual
	}
	return int(end)
}

// usualElements is usualEnd of n elements.
func usualElements(b []byte, t *Type, i int, n uint32, depth int) int {
	switch t.kind {
	case fixed:
		return within(b, uint64(i)+uint64(n)*uint64(t.size))
	case text:
		return textsEnd(b, i, n)
	case record:
		if depth <= 0 {
			return unusual
		}
		for i >= 0 {
			if t.desc.flat {
				if i, n = passStructs(b, t.desc.steps, i, n); n > 0 {
					if other := planOf(t.desc).other; other != nil {
						i, n = passStructs(b, other.steps[:len(t.desc.steps)], i, n)
					}
				}
			}
			if n == 0 {
				break
			}
			i = usualStruct(b, t.desc, i, depth-1)
			n--
		}
		return i
	}
	for ; n > 0 && i >= 0; n-- {
		i = usualEnd(b, t, i, depth)
	}
	return i
}

// usualStruct is usualEnd of a struct, which may lack fields.
func usualStruct(b []byte, d *Desc, i, depth int) int {
	steps := d.steps
	for q := 0; ; q++ {
		var x uint64
		if len(b)-i >= 8 {
			x = load64(b, i)
		} else if i < len(b) {
			x = head(b, i)
		} else {
			return unusual
		}
		if q >= len(steps) || !steps[q].is(uint32(x)) {
			if WireType(x) == WireStop {
				return i + 1
			}
			if q = d.step(keyIn(x)); q < 0 { // not one of ours
				return unusual
			}
		}
		s := steps[q]
		if s&stepOther != 0 {
			if i = usualEnd(b, d.fields[q].typ, i+fieldHeader, depth); i < 0 {
				return unusual
			}
			continue
		}
		end := uint64(i) + s.reach()
		if s&stepText != 0 {
			end += uint64(lengthIn(x))
		}
		if end > uint64(len(b)) {
			return unusual
		}
		i = int(end)
	}
}
