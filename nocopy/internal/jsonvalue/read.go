package jsonvalue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/jsontext"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/nearest"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// A reader converts JSON to the wire bytes of a message. It appends to out token by token. It
// leaves room for values that are known only later, such as a list's count.
type reader struct {
	dec  jsontext.Decoder // for values of unknown fields, and for errors
	buf  bytes.Buffer     // of in[from:]; the decoder reads it in place
	in   []byte
	from int
	reading

	plain      bool // the last string has no escapes, and is UTF-8
	start, end int  // of the last token in in
	out        []byte
	most       int             // bytes of out
	scratch    []byte          // the value of the last string, unless it is plain
	seen       []uint64        // for each struct that is being read, a bit per field that has come
	spans      []span          // of the keys of the maps that are being read
	table      map[string]bool // for the keys of the next large map, or nil
	err        error
	at         int      // offset of the error
	path       []string // of the error, from the inside out
}

// mostAlive is the largest text that an unused reader may keep alive.
const mostAlive = 64 << 10

// readers has the unused readers.
var readers = sync.Pool{New: func() any { return new(reader) }}

// MostKept bounds the memory that an unused reader keeps.
const MostKept = 1 << 20

// read returns the root of a message with the contents of the JSON text. The error is an
// *nocopy.Error.
func read(d *schema.Struct, text []byte, o reading) (engine.Struct, error) {
	r := readers.Get().(*reader)
	defer r.free()
	r.in, r.reading = text, o
	if len(text) > o.limits.MaxBytes {
		r.fail(0, tooLong(o.limits.MaxBytes))
		return engine.Struct{}, r.failure(d)
	}
	if !r.root(d, o.limits.MaxBytes) {
		return engine.Struct{}, r.failure(d)
	}
	var s engine.Struct
	var err error
	if out := r.out; cap(out) > MostKept { // too large to be kept: the message may have it
		r.out = nil
		s, err = engine.Parse(d, out, nocopy.Own, o.limits)
	} else {
		c := memory.NewChunk(len(out), o.flags != 0)
		copy(c.Mem, out)
		s, err = engine.ParseChunk(d, c, o.limits, o.flags)
	}
	var bad *nocopy.Error
	if errors.As(err, &bad) {
		// The only error that Parse can find here is that the index becomes too large. Reading
		// again up to that point finds its place in the text.
		if r.root(d, bad.Offset) {
			r.fail(len(text), nil)
		}
		r.err = bad.Err
		return s, r.failure(d)
	}
	return s, err
}

// free puts the reader back for reuse, without references to the caller's memory. One that has
// grown large is dropped.
func (r *reader) free() {
	if cap(r.out)+8*cap(r.seen) > MostKept || cap(r.spans) > MostKept/16 {
		return
	}
	if len(r.in) > mostAlive {
		r.dec.Reset(new(bytes.Buffer)) // the Decoder would keep the text alive
	}
	r.in, r.err, r.path = nil, nil, nil
	readers.Put(r)
}

// root reads the whole text. most is how many bytes the message may have.
func (r *reader) root(d *schema.Struct, most int) bool {
	r.out, r.seen, r.most, r.end = r.out[:0], r.seen[:0], most, 0
	r.err, r.path = nil, r.path[:0]
	r.spans = r.spans[:0]
	c := r.token(r.afterSpace(0))
	if c == 0 {
		return false
	}
	if c != '{' {
		return r.wrong(c, "an object")
	}
	if !r.structure(d, r.limits.MaxDepth) {
		return false
	}
	if len(r.out) > r.most {
		return r.fail(r.end, r.tooLarge())
	}
	if end, _ := r.afterSpace(r.end); end < len(r.in) {
		return r.fail(end, nocopy.ErrTrailing)
	}
	return true
}

// tokenize lets the Decoder take over at an offset of the text: next then returns its tokens. With
// repeats names may come twice in an object.
func (r *reader) tokenize(from int, repeats bool) {
	r.from, r.end = from, from
	r.buf = *bytes.NewBuffer(r.in[from:])
	r.dec.Reset(&r.buf, jsontext.AllowDuplicateNames(repeats), jsontext.AllowInvalidUTF8(r.replaceInvalid))
}

// fail notes an error at an offset of the text. It returns false.
func (r *reader) fail(at int, err error) bool {
	r.at, r.err = at, err
	return false
}

// inside adds a part of a value to the path of the error. It returns false.
func (r *reader) inside(part string) bool {
	r.path = append(r.path, part)
	return false
}

func (r *reader) atElement(i int) bool { return r.inside("[" + strconv.Itoa(i) + "]") }

// failure returns the error with its path.
func (r *reader) failure(d *schema.Struct) error {
	if r.err == nil { // the text is not JSON: the Decoder says why
		r.tokenize(0, true)
		for r.next() != 0 {
		}
	}
	path := []byte(d.Name())
	for _, part := range slices.Backward(r.path) {
		path = append(path, part...)
	}
	if namesOf(d).secrets() {
		// Errors that quote the text might quote secrets, which may be anywhere in a broken text.
		for _, short := range []error{ErrSyntax, ErrUnknownField} {
			if errors.Is(r.err, short) && r.err != errNotUTF8 {
				r.err = short
			}
		}
		if r.err == ErrUnknownField && !r.repeatUnknown {
			r.err = hinted{r.err}
		}
	}
	return &nocopy.Error{Offset: r.at, Path: string(path), Err: r.err}
}

// wrong fails because a token that begins with c comes where want is expected.
func (r *reader) wrong(c byte, want string) bool {
	kind := "a number"
	switch c {
	case '{':
		kind = "an object"
	case '[':
		kind = "an array"
	case '"':
		kind = "a string"
	case 't', 'f':
		kind = "a bool"
	case 'n':
		kind = "null"
	}
	return r.fail(r.start, fmt.Errorf("%w: %s, want %s", ErrValue, kind, want))
}

// next reads the next token by the Decoder. It returns the token's first byte, or 0 if it fails.
func (r *reader) next() byte {
	if _, err := r.dec.ReadToken(); err != nil {
		r.syntax(err)
		return 0
	}
	r.start, r.end = r.skipSpace(r.end), r.from+int(r.dec.InputOffset())
	return r.in[r.start]
}

// makeRoom makes room in out for a value of fixed size and its header, or fails if the message is
// too large.
func (r *reader) makeRoom() bool {
	if len(r.out) > r.most {
		return r.fail(r.end, r.tooLarge())
	}
	if cap(r.out)-len(r.out) < 64 {
		r.out = slices.Grow(r.out, cap(r.out)+64) // append would grow by less than twice
	}
	return true
}

func (r *reader) tooDeep() error {
	return limitError("nested more than Limits.MaxDepth = " + strconv.Itoa(r.limits.MaxDepth) + " deep")
}

func (r *reader) tooLarge() error {
	return limitError("message of more than Limits.MaxBytes = " + strconv.Itoa(r.limits.MaxBytes) + " bytes")
}

// skipSpace returns the offset of the next token after i. There must be one.
func (r *reader) skipSpace(i int) int {
	for ; ; i++ {
		if c := r.in[i]; c > ' ' && c != ',' && c != ':' {
			return i
		}
	}
}

// syntax fails with an error of the tokenizer.
func (r *reader) syntax(err error) {
	at := len(r.in)
	var bad *jsontext.SyntacticError
	if errors.As(err, &bad) {
		at, err = r.from+int(bad.ByteOffset), bad.Err
	}
	switch {
	case len(r.in) == 0:
		err = wire.ErrNoBytes
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		err = io.ErrUnexpectedEOF
	case jsontext.IsDuplicateName(err):
		err = ErrDuplicate
	case isInvalid(r.in, at):
		err = errNotUTF8
	default:
		err = fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	r.fail(at, err)
}

// errNotUTF8 is the error of a text that is not JSON because it is not UTF-8. It quotes nothing.
var errNotUTF8 = fmt.Errorf("%w: %w", ErrSyntax, nocopy.ErrUTF8)

// isInvalid reports whether there is a byte at b[at:] that is not UTF-8.
func isInvalid(b []byte, at int) bool {
	if at >= len(b) {
		return false
	}
	c, n := utf8.DecodeRune(b[at:])
	return c == utf8.RuneError && n == 1
}

// structure reads a struct after its opening brace. depth is how deep structs may be nested, this
// one included.
func (r *reader) structure(d *schema.Struct, depth int) bool {
	if depth <= 0 {
		return r.fail(r.start, r.tooDeep())
	}
	p := namesOf(d)
	if p.err != nil {
		return r.fail(r.start, p.err)
	}
	base, set := r.beginSeen(p), 0
	var unknown map[string]bool // names
	for next, first := 0, true; ; first = false {
		i, ok := r.nextField(p, next, first)
		if !ok {
			return false
		}
		if i == noField {
			break
		}
		if i < 0 {
			if unknown == nil {
				unknown = map[string]bool{}
			}
			if !r.unknown(p, unknown) {
				return false
			}
			continue
		}
		f, nameAt := &p.fields[i], r.start
		if r.note(base, i) {
			r.fail(nameAt, ErrDuplicate)
			return r.inside("." + f.Field.Name)
		}
		next = i + 1
		c := r.nextValue()
		if c == 'n' && f.Req != schema.Required {
			continue
		}
		if set++; set > 1 && d.IsUnion() && c != 0 {
			r.fail(nameAt, fmt.Errorf("%w: a union with two fields", ErrValue))
			return r.inside("." + f.Field.Name)
		}
		h := f.Header()
		r.out = append(r.out, byte(h>>16), byte(h>>8), byte(h))
		if c == 0 || !r.value(f.Type, c, depth) {
			return r.inside("." + f.Field.Name)
		}
	}
	if !r.hasRequired(d, base) {
		return false
	}
	r.seen = r.seen[:base]
	r.out = append(r.out, 0)
	return true
}

// noField is what nextField returns at the end of a struct.
const noField = -2

// nextField reads the name of the next field. It returns the field's number in p, −1 if p does not
// have it, or noField after the last one. next is the number of the field that probably comes. It
// reports whether it could.
func (r *reader) nextField(p *names, next int, first bool) (i int, ok bool) {
	if next < len(p.fields) && r.expects(p.fields[next].quoted, first) {
		return next, true
	}
	switch r.nextName(first) {
	case 0:
		return 0, false
	case '}':
		return noField, true
	}
	return p.find(r, next), true
}

// beginSeen makes a set of fields for a struct, and returns where in seen it begins. It goes up to
// the end of seen, after the sets of the structs around.
func (r *reader) beginSeen(p *names) (base int) {
	base = len(r.seen)
	words := (len(p.fields) + 63) / 64
	r.seen = slices.Grow(r.seen, words)[:base+words]
	clear(r.seen[base:])
	return base
}

// note adds field i to the set that begins at base, and reports whether it was there.
func (r *reader) note(base, i int) (again bool) {
	word, bit := &r.seen[base+i>>6], uint64(1)<<(i&63)
	again = *word&bit != 0
	*word |= bit
	return again
}

// hasRequired fails if a required field has not come.
func (r *reader) hasRequired(d *schema.Struct, base int) bool {
	for _, f := range d.Required() {
		if i := int(f.Word() - d.First()); r.seen[base+i>>6]&(1<<(i&63)) == 0 {
			r.fail(r.start, nocopy.ErrMissingRequired)
			return r.inside("." + f.Name)
		}
	}
	return true
}

// value reads a value of type t that begins with the last token, c.
func (r *reader) value(t *schema.Type, c byte, depth int) bool {
	switch t.Kind() {
	case schema.Text:
		if c != '"' {
			return r.wrong(c, "a string")
		}
		return r.string(t)
	case schema.Record:
		if c != '{' {
			return r.wrong(c, "an object")
		}
		return r.structure(t.Struct(), depth-1)
	case schema.List:
		if c != '[' {
			return r.wrong(c, "an array")
		}
		return r.list(t, depth)
	case schema.Dict:
		if t.Key().Kind() < schema.Record {
			if c != '{' {
				return r.wrong(c, "an object")
			}
			return r.object(t, depth)
		}
		if c != '[' {
			return r.wrong(c, "an array of pairs")
		}
		return r.pairs(t, depth)
	}
	return r.scalar(t, c)
}

// mostGuesses bounds the fields of a struct with which an unknown name is compared.
const mostGuesses = 1000

// notKnown returns the error of a name that no field of the struct has.
func (r *reader) notKnown(p *names, name string) error {
	err := fmt.Errorf("%w: %.64q", ErrUnknownField, name)
	if len(p.fields) <= mostGuesses {
		if near := nearest.Word(name, slices.Sorted(maps.Keys(p.byName()))); near != "" {
			err = fmt.Errorf("%w (did you mean %q?)", err, near)
		}
	}
	if r.repeatUnknown { // a method reads, which has no options
		return err
	}
	return hinted{err}
}

// hinted is an error about an unknown field, with the option that allows it. Unwrap returns the
// error without the option, for texts that others than Go programmers read.
type hinted struct{ error }

func (e hinted) Error() string {
	return e.error.Error() + "; nocopyjson.AllowUnknown skips unknown fields"
}
func (e hinted) Unwrap() error { return e.error }

// unknown reads the value of a field that the struct does not have, whose names are p. others are
// the names of such fields that have come.
func (r *reader) unknown(p *names, others map[string]bool) bool {
	if !r.allowUnknown {
		return r.fail(r.start, r.notKnown(p, string(r.text())))
	}
	if !r.repeatUnknown {
		name := string(r.text())
		if others[name] {
			return r.fail(r.start, ErrDuplicate)
		}
		others[name] = true
	}
	if c := r.nextValue(); c != '{' && c != '[' {
		return c != 0
	}
	r.tokenize(r.start, r.repeatUnknown)
	for open := 0; ; {
		switch r.next() {
		case 0:
			return false
		case '{', '[':
			if open++; open > r.limits.MaxDepth {
				return r.fail(r.start, r.tooDeep())
			}
		case '}', ']':
			open--
		}
		if open == 0 {
			return true
		}
	}
}
