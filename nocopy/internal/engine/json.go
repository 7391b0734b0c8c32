package engine

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// For package nocopyjson. JSON holds options for writing a struct as JSON.
type JSON struct {
	Int64Strings       bool // write i64 as strings
	ZeroValues         bool // also write unset fields
	ReplaceInvalidUTF8 bool // write bytes that are not UTF-8 as U+FFFD
	MaxBytes           int  // of the text; 0 is the default
}

// What bounds the text with ZeroValues if there is no MaxBytes: a list of empty structs of many
// fields would make thousands of bytes of each byte of a message.
const (
	zeroValuesText    = 16 << 20
	zeroValuesPerByte = 64
)

// most returns how many bytes the text of m, or of a part of it, may have, and the error of a text
// that has more.
func (o JSON) most(m *Message) (int, error) {
	switch {
	case o.MaxBytes > 0:
		return o.MaxBytes, wire.LimitError("JSON of more than Limits.MaxBytes = " + itoa(o.MaxBytes) + " bytes")
	case o.ZeroValues:
		most := zeroValuesText + min(zeroValuesPerByte*int64(m.Len()), math.MaxInt-zeroValuesText)
		return int(most), wire.LimitError("JSON with ZeroValues of more than " + itoa(int(most)) +
			" bytes, 16 MiB and 64 for each byte of the message: Limits.MaxBytes allows more")
	}
	return math.MaxInt, nil
}

// AppendJSON finishes the message of s and appends the struct to dst as JSON. An absent struct is
// null. d describes s. The error is an *Error; its offset counts in the appended text.
func AppendJSON(dst []byte, s Struct, d *schema.Struct, o JSON) ([]byte, error) {
	s.CheckDesc(d)
	if !s.Valid() {
		return append(dst, "null"...), nil
	}
	if err := s.m.Check(); err != nil {
		return dst, err
	}
	start := len(dst)
	most, tooLong := o.most(s.m)
	w := jsonWriter{m: s.m, JSON: o, end: math.MaxInt, tooLong: tooLong}
	if most < math.MaxInt-start {
		w.end = start + most
	}
	dst = w.structure(dst, d, s.entry())
	if w.stopped(dst) {
		return dst[:start], w.failure(d.Name(), len(dst)-start)
	}
	return dst, nil
}

// jsonWriter writes values of a message as JSON. Its methods append to dst and return it. When one
// has set err, what it returns ends where the fault is, and those that called it add to path.
type jsonWriter struct {
	m *Message
	JSON
	err      error
	path     []string // from the inside out
	end      int      // how long dst may become
	tooLong  error    // what it is if dst becomes longer
	replaced bool     // the last text had bytes that were replaced
}

// stopped reports whether there is an error, which it is if dst has become too long.
func (w *jsonWriter) stopped(dst []byte) bool {
	if len(dst) > w.end && w.err == nil {
		w.err = w.tooLong
	}
	return w.err != nil
}

func (w *jsonWriter) failure(root string, offset int) error {
	w.path = append(w.path, root)
	slices.Reverse(w.path)
	return &Error{Offset: offset, Path: strings.Join(w.path, ""), Err: w.err}
}

// structure appends the struct of entry e.
func (w *jsonWriter) structure(dst []byte, d *schema.Struct, e uint32) []byte {
	names := jsonNamesOf(d)
	if names.err != nil {
		w.err = names.err
		return dst
	}
	start, arm := len(dst), uint32(0)
	if d.IsUnion() {
		arm = w.m.idx[w.m.armWord(e)]
	}
	for i := 0; i < len(names.writes); i++ {
		f := &names.writes[i]
		if d.IsWide() && !w.ZeroValues {
			if k := names.from[w.m.next(d, e, int(f.number))]; k != i { // the first that may be set
				i = k - 1
				continue
			}
		}
		word := w.m.at(e, f.c)
		if word == 0 && (!w.ZeroValues || d.IsUnion()) || d.IsUnion() && f.c.Word() != arm {
			continue
		}
		dst = append(dst, f.label...)
		if word == 0 {
			dst = w.unset(dst, &d.Fields()[f.number], f.quoted)
		} else {
			if f.kind >= schema.Record && word&notIndexed != 0 {
				word = w.m.indexLazily(&d.Fields()[f.number], e)
			}
			dst = w.field(dst, f, word)
		}
		if w.stopped(dst) {
			w.path = append(w.path, "."+d.Fields()[f.number].Name)
			return dst
		}
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{' // in the place of the first comma
	return append(dst, '}')
}

// field appends the value of field f, for which word stands.
func (w *jsonWriter) field(dst []byte, f *jsonField, word uint32) []byte {
	switch f.kind {
	case schema.Fixed:
		return w.fixed(dst, f.typ, w.m.fixedValue(word), f.quoted)
	case schema.Text:
		return w.text(dst, f.typ, w.bytes(word))
	}
	return w.container(dst, f.typ, word)
}

// unset appends what a field that is not set reads as.
func (w *jsonWriter) unset(dst []byte, f *schema.Field, quoted bool) []byte {
	switch {
	case f.Kind() == schema.Fixed:
		value := [16]byte{}
		copy(value[:], f.Default)
		return w.fixed(dst, f.Type, value[:], quoted)
	case f.Kind() == schema.Text:
		value := []byte(f.Default)
		return w.text(dst, f.Type, value[min(wire.TextHeader, len(value)):])
	case f.Default != "":
		// What it does not set stays away: its own defaults might have it in them again.
		v := absentOf(f)
		m := w.m
		w.m, w.ZeroValues = v.m, false
		dst = w.container(dst, f.Type, v.entry())
		w.m, w.ZeroValues = m, true
		return dst
	case f.Kind() == schema.Record:
		return append(dst, "null"...)
	}
	return w.container(dst, f.Type, 0)
}

// value appends a value of type t whose word in the index is word.
func (w *jsonWriter) value(dst []byte, t *schema.Type, word uint32) []byte {
	switch t.Kind() {
	case schema.Fixed:
		return w.fixed(dst, t, w.m.fixedValue(word), false)
	case schema.Text:
		if word == 0 { // not on the wire yet
			return append(dst, `""`...)
		}
		return w.text(dst, t, w.bytes(word))
	}
	return w.container(dst, t, word)
}

// bytes returns the bytes of a text whose word in the index is word.
func (w *jsonWriter) bytes(word uint32) []byte {
	if s, ok := w.m.buf.FlatText(word); ok {
		return chain.StringBytes(s)
	}
	return w.m.textBytes(word)
}

// container appends a struct, list, set or map.
func (w *jsonWriter) container(dst []byte, t *schema.Type, e uint32) []byte {
	switch {
	case t.Kind() == schema.Record:
		return w.structure(dst, t.Struct(), e)
	case t.Kind() == schema.List:
		return w.list(dst, t, e)
	case t.Key().Kind() < schema.Record:
		return w.object(dst, t, e)
	}
	return w.pairs(dst, t, e)
}

func (w *jsonWriter) list(dst []byte, t *schema.Type, e uint32) []byte {
	if e == 0 || w.m.idx[e+listCount] == 0 {
		return append(dst, "[]"...)
	}
	m, c := w.m, byte('[')
	for i := range m.idx[e+listCount] {
		dst = append(dst, c)
		c = ','
		switch t.Elem().Kind() {
		case schema.Fixed:
			dst = w.fixed(dst, t.Elem(), m.buf.At(m.idx[e+listStart]+i*uint32(t.Elem().Size())), false)
		case schema.Text:
			dst = w.value(dst, t.Elem(), m.idx[m.idx[e+listElems]+i])
		default:
			dst = w.container(dst, t.Elem(), m.elementEntry(e, t.Elem(), i))
		}
		if w.stopped(dst) {
			w.path = append(w.path, "["+itoa(int(i))+"]")
			return dst
		}
	}
	return append(dst, ']')
}

// object appends a map whose keys are scalars or texts.
func (w *jsonWriter) object(dst []byte, t *schema.Type, e uint32) []byte {
	start, nan, replaced := len(dst), false, false
	if e != 0 {
		m := w.m
		repeated := m.repeated(e, t) > 0
		for i := range m.idx[e+listCount] {
			slot := m.idx[e+listElems] + i*pairWords
			word := m.idx[slot]
			if word == 0 || repeated && m.isRepeated(e, t, i) {
				continue
			}
			dst = append(dst, ',')
			if t.Key().Kind() == schema.Text {
				dst = w.text(dst, t.Key(), w.bytes(word))
				replaced = replaced || w.replaced
			} else {
				b := m.fixedValue(word)
				if t.Key().Wire() == WireDouble && isNaN(b) {
					if nan {
						w.err = errSameKeys
					}
					nan = true
				}
				dst = w.fixed(dst, t.Key(), b, true)
			}
			if w.err == nil {
				dst = w.value(append(dst, ':'), t.Elem(), m.idx[slot+pairValue])
			}
			if w.stopped(dst) {
				w.path = append(w.path, "["+itoa(int(i))+"]")
				return dst
			}
		}
	}
	if replaced && w.sameKeys(t, e) {
		w.err = errSameKeys
		return dst
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{' // in the place of the first comma
	return append(dst, '}')
}

// sameKeys reports whether bytes that were replaced make two keys of a map the same text.
func (w *jsonWriter) sameKeys(t *schema.Type, e uint32) bool {
	m, repeated := w.m, w.m.repeated(e, t) > 0
	seen := map[string]bool{}
	for i := range m.idx[e+listCount] {
		word := m.idx[m.idx[e+listElems]+i*pairWords]
		if word == 0 || repeated && m.isRepeated(e, t, i) {
			continue
		}
		key := string(w.text(nil, t.Key(), w.bytes(word)))
		key = strings.ReplaceAll(key, "\ufffd", `\ufffd`) // it may also stand in the key itself
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// pairs appends a map whose keys are structs or containers, as an array of arrays of a key and a
// value.
func (w *jsonWriter) pairs(dst []byte, t *schema.Type, e uint32) []byte {
	start := len(dst)
	if e != 0 {
		m := w.m
		last := w.lastPairs(t, e)
		written := map[string]bool{}
		for i := range m.idx[e+listCount] {
			slot := m.idx[e+listElems] + i*pairWords
			key := m.idx[slot]
			if key == 0 || last[string(m.wire(key, t.Key()))] != i {
				continue
			}
			dst = append(dst, ",["...)
			from, zeros := len(dst), w.ZeroValues
			w.ZeroValues = false // with them, different keys might be the same
			dst = w.container(dst, t.Key(), key)
			w.ZeroValues = zeros
			if w.err == nil && written[string(dst[from:])] {
				w.err = errSameKeys
			}
			if w.err == nil {
				written[string(dst[from:])] = true
				dst = w.value(append(dst, ','), t.Elem(), m.idx[slot+pairValue])
			}
			if w.stopped(dst) {
				w.path = append(w.path, "["+itoa(int(i))+"]")
				return dst
			}
			dst = append(dst, ']')
		}
	}
	if len(dst) == start {
		return append(dst, "[]"...)
	}
	dst[start] = '[' // in the place of the first comma
	return append(dst, ']')
}

// lastPairs returns the number of the last pair with a key, by the keys' wire bytes.
func (w *jsonWriter) lastPairs(t *schema.Type, e uint32) map[string]uint32 {
	last := map[string]uint32{}
	for i := range w.m.idx[e+listCount] {
		if key := w.m.idx[w.m.idx[e+listElems]+i*pairWords]; key != 0 {
			last[string(w.m.wire(key, t.Key()))] = i
		}
	}
	return last
}

func isNaN(b []byte) bool { return math.IsNaN(math.Float64frombits(wire.BE64(b))) }

// fixed appends the value of type t in b; with quoted as a string also if it is a number or bool.
func (w *jsonWriter) fixed(dst []byte, t *schema.Type, b []byte, quoted bool) []byte {
	v := int64(0)
	switch t.Wire() {
	case WireBool:
		name := "false"
		if b[0] != 0 {
			name = "true"
		}
		if quoted {
			return append(append(append(dst, '"'), name...), '"')
		}
		return append(dst, name...)
	case WireI8:
		v = int64(int8(b[0]))
	case WireI16:
		v = int64(int16(uint16(b[0])<<8 | uint16(b[1])))
	case WireI32:
		v = int64(int32(wire.BE32(b)))
		if t.Enum() != nil {
			if name := t.Enum().Name(int32(v)); name != "" {
				dst = append(append(dst, '"'), name...)
				return append(dst, '"')
			}
		}
	case WireI64:
		v = int64(wire.BE64(b))
		quoted = quoted || w.Int64Strings
	case WireDouble:
		return appendJSONFloat(dst, math.Float64frombits(wire.BE64(b)), quoted)
	default:
		dst = AppendUUID(append(dst, '"'), [16]byte(b[:16]))
		return append(dst, '"')
	}
	if !quoted {
		return appendJSONInt(dst, v)
	}
	return append(appendJSONInt(append(dst, '"'), v), '"')
}

// exactInts is a bound of whole numbers whose shortest form as a float is that of an integer.
const exactInts = 1 << 53

// appendJSONFloat appends a number as encoding/json does, or the string that stands for one that
// JSON has not.
func appendJSONFloat(dst []byte, f float64, quoted bool) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	if quoted {
		dst = append(dst, '"')
	}
	if i := int64(f); float64(i) == f && i != 0 && i < exactInts && i > -exactInts {
		dst = appendJSONInt(dst, i)
	} else if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
	} else {
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	if quoted {
		dst = append(dst, '"')
	}
	return dst
}

// text appends a string, or a binary in base64.
func (w *jsonWriter) text(dst []byte, t *schema.Type, b []byte) []byte {
	dst = append(dst, '"')
	if t.Binary() {
		return append(base64.StdEncoding.AppendEncode(dst, b), '"')
	}
	dst, ok := appendJSONText(dst, b, w.ReplaceInvalidUTF8)
	if !ok && !w.ReplaceInvalidUTF8 {
		w.err = ErrUTF8
		return dst
	}
	w.replaced = !ok
	return append(dst, '"')
}
