package jsonvalue

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// writing is how a text is written.
type writing struct {
	int64Strings   bool
	zeroValues     bool
	replaceInvalid bool
	maxBytes       int // of the text; 0 is the default
}

// The bounds of a text with ZeroValues if there is no MaxBytes: a list of empty structs of many
// fields would make thousands of bytes of each byte of a message.
const (
	zeroValuesText    = 16 << 20
	zeroValuesPerByte = 64
)

// most returns how many bytes the text of m, or of a part of it, may have, and the error of a text
// that has more.
func (o writing) most(m *engine.Message) (int, error) {
	switch {
	case o.maxBytes > 0:
		return o.maxBytes, wire.LimitError("JSON of more than Limits.MaxBytes = " + strconv.Itoa(o.maxBytes) + " bytes")
	case o.zeroValues:
		most := zeroValuesText + min(zeroValuesPerByte*int64(m.Len()), math.MaxInt-zeroValuesText)
		return int(most), wire.LimitError("JSON with ZeroValues of more than " + strconv.Itoa(int(most)) +
			" bytes, 16 MiB and 64 for each byte of the message: Limits.MaxBytes allows more")
	}
	return math.MaxInt, nil
}

// appendStruct finishes the message of s and appends the struct to dst as JSON. An absent struct
// is null. d describes s. The error is an *Error; its offset counts in the appended text.
func appendStruct(dst []byte, s engine.Struct, d *schema.Struct, o writing) ([]byte, error) {
	s.CheckDesc(d)
	if !s.Valid() {
		return append(dst, "null"...), nil
	}
	walker, e := engine.WalkerOf(s)
	if err := walker.Message().Check(); err != nil {
		return dst, err
	}
	start := len(dst)
	most, tooLong := o.most(walker.Message())
	w := writer{Walker: walker, writing: o, end: math.MaxInt, tooLong: tooLong}
	if most < math.MaxInt-start {
		w.end = start + most
	}
	dst = w.structure(dst, d, e)
	if w.stopped(dst) {
		return dst[:start], w.failure(d.Name(), len(dst)-start)
	}
	return dst, nil
}

// writer writes values of a message as JSON. Its methods append to dst and return it. If one
// has set err, the returned text ends at the fault, and its callers add to path.
type writer struct {
	*engine.Walker
	writing
	err     error
	path    []string // from the inside out
	end     int      // how long dst may become
	tooLong error    // what it is if dst becomes longer
}

// stopped reports whether there is an error, which it is if dst has become too long.
func (w *writer) stopped(dst []byte) bool {
	if len(dst) > w.end && w.err == nil {
		w.err = w.tooLong
	}
	return w.err != nil
}

func (w *writer) failure(root string, offset int) error {
	w.path = append(w.path, root)
	slices.Reverse(w.path)
	return &wire.Error{Offset: offset, Path: strings.Join(w.path, ""), Err: w.err}
}

// structure appends the struct of entry e.
func (w *writer) structure(dst []byte, d *schema.Struct, e uint32) []byte {
	names := namesOf(d)
	if names.err != nil {
		w.err = names.err
		return dst
	}
	start, arm := len(dst), uint32(0)
	if d.IsUnion() {
		arm = w.Arm(e)
	}
	for i := 0; i < len(names.fields); i++ {
		if d.IsWide() && !w.zeroValues {
			if i = w.Next(d, e, i); i == len(names.fields) {
				break
			}
		}
		f := &names.fields[i]
		if f.label == "" {
			continue
		}
		word := w.Word(e, f.ref)
		if word == 0 && (!w.zeroValues || d.IsUnion()) || d.IsUnion() && f.ref.Number() != arm {
			continue
		}
		dst = append(dst, f.label...)
		if word == 0 {
			dst = w.unset(dst, f.Field, f.Quoted)
		} else {
			if word.IsLazy() { // or a text in a node, which Field leaves as it is
				word = w.Field(e, f.Field)
			}
			dst = w.value(dst, f.Type, word, f.Quoted)
		}
		if w.stopped(dst) {
			w.path = append(w.path, "."+f.Field.Name)
			return dst
		}
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{' // replaces the first comma
	return append(dst, '}')
}

// unset appends what a field that is not set reads as.
func (w *writer) unset(dst []byte, f *schema.Field, quoted bool) []byte {
	switch {
	case f.Kind() == schema.Fixed:
		value := [16]byte{}
		copy(value[:], f.Default)
		return w.fixed(dst, f.Type, value[:], quoted)
	case f.Kind() == schema.Text:
		value := []byte(f.Default)
		return w.text(dst, f.Type, value[min(wire.TextHeader, len(value)):])
	case f.Default != "":
		// Fields that it does not set stay away: its own defaults might contain it again.
		here, e := w.Walker, uint32(0)
		w.Walker, e = engine.WalkerOf(engine.Struct{}.Child(f.Ref(), f.Of()))
		w.zeroValues = false
		dst = w.container(dst, f.Type, e)
		w.Walker, w.zeroValues = here, true
		return dst
	case f.Kind() == schema.Record:
		return append(dst, "null"...)
	}
	return w.container(dst, f.Type, 0)
}

// value appends a value of type t, for which word stands; with quoted as a string also if it is a
// number or bool.
func (w *writer) value(dst []byte, t *schema.Type, word engine.Word, quoted bool) []byte {
	switch t.Kind() {
	case schema.Fixed:
		return w.fixed(dst, t, w.Fixed(word), quoted)
	case schema.Text:
		return w.text(dst, t, w.Text(word))
	}
	return w.container(dst, t, word.Entry())
}

// container appends a struct, list, set or map.
func (w *writer) container(dst []byte, t *schema.Type, e uint32) []byte {
	switch t.Kind() {
	case schema.Record:
		return w.structure(dst, t.Struct(), e)
	case schema.List:
		return w.list(dst, t, e)
	}
	return w.dict(dst, t, e)
}

func (w *writer) list(dst []byte, t *schema.Type, e uint32) []byte {
	n, c := w.Len(e), byte('[')
	if n == 0 {
		return append(dst, "[]"...)
	}
	for i := range n {
		dst = append(dst, c)
		c = ','
		switch t.Elem().Kind() {
		case schema.Fixed:
			dst = w.fixed(dst, t.Elem(), w.FixedElement(e, i, uint32(t.Elem().Size())), false)
		case schema.Text:
			dst = w.text(dst, t.Elem(), w.Text(w.TextElement(e, i)))
		default:
			dst = w.container(dst, t.Elem(), w.Element(t, e, i).Entry())
		}
		if w.stopped(dst) {
			w.path = append(w.path, "["+strconv.Itoa(int(i))+"]")
			return dst
		}
	}
	return append(dst, ']')
}

// dict appends a map: as an object or, if its keys are structs or containers, as an array of
// arrays of a key and a value.
func (w *writer) dict(dst []byte, t *schema.Type, e uint32) []byte {
	start, key, marks := len(dst), t.Key(), "{:}"
	var last map[string]engine.Word
	if key.Kind() >= schema.Record {
		last, marks = w.lastPairs(t, e), "[,]"
	}
	var written map[string]bool
	i := -1
	for k, value := range w.Pairs(e) {
		if i++; last != nil && last[string(w.Wire(k.Entry(), key))] != k {
			continue
		}
		dst = append(dst, ',')
		if last != nil {
			dst = append(dst, '[')
		}
		from, zeros := len(dst), w.zeroValues
		w.zeroValues = false // with them, different keys might be the same
		dst = w.value(dst, key, k, true)
		w.zeroValues = zeros
		// Of the others, different ones have different names: a map may have very many.
		if w.err == nil && (last != nil || string(dst[from:]) == `"NaN"` || w.replaceInvalid && hasReplacement(dst[from:])) {
			if written == nil {
				written = map[string]bool{}
			}
			name := strings.ReplaceAll(string(dst[from:]), "\ufffd", `\ufffd`)
			if written[name] {
				w.err = errSameKeys
			}
			written[name] = true
		}
		if w.err == nil {
			dst = w.value(append(dst, marks[1]), t.Elem(), value, false)
		}
		if w.stopped(dst) {
			w.path = append(w.path, "["+strconv.Itoa(i)+"]")
			return dst
		}
		if last != nil {
			dst = append(dst, ']')
		}
	}
	if len(dst) == start {
		return append(dst, marks[0], marks[2])
	}
	dst[start] = marks[0] // replaces the first comma
	return append(dst, marks[2])
}

// hasReplacement reports whether a key in JSON contains U+FFFD. It may stand for different bytes,
// or for itself.
func hasReplacement(key []byte) bool {
	return bytes.Contains(key, []byte("\ufffd")) || bytes.Contains(key, []byte(`\ufffd`))
}

// lastPairs returns the word of the last pair's key, by the keys' wire bytes.
func (w *writer) lastPairs(t *schema.Type, e uint32) map[string]engine.Word {
	last := map[string]engine.Word{}
	for key := range w.Pairs(e) {
		last[string(w.Wire(key.Entry(), t.Key()))] = key
	}
	return last
}

// text appends a string, or a binary in base64.
func (w *writer) text(dst []byte, t *schema.Type, b []byte) []byte {
	dst = append(dst, '"')
	if t.Binary() {
		return append(base64.StdEncoding.AppendEncode(dst, b), '"')
	}
	dst, ok := appendText(dst, b, w.replaceInvalid)
	if !ok && !w.replaceInvalid {
		w.err = wire.ErrUTF8
		return dst
	}
	return append(dst, '"')
}
