package invoke

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
)

// argsError returns an error of arguments in the user's words: the key=value that is wrong, or the
// path and the place in the JSON text. It says what there is instead of a name that there is not.
func (m *Method) argsError(err error, text []byte, written []pair) error {
	var bad *nocopy.Error
	if !errors.As(err, &bad) {
		return fmt.Errorf("arguments of %s: %w", m, target.WithFlags(err))
	}
	path := strings.TrimPrefix(strings.TrimPrefix(bad.Path, m.desc.Args().Name()), ".")
	parts, t, in := m.walk(text, path)
	ofKey := in.Desc() != nil && in.WireType() == nocopy.WireMap && !errors.Is(bad.Err, nocopyjson.ErrUnknownField) && isKey(text, bad.Offset)
	if ofKey {
		t = in.Key()
	}
	if strings.Join(parts, ".") != strings.Join(split(path), ".") { // keys of maps, not their places
		path = strings.Join(parts, ".")
	}
	why := target.WithFlags(bad.Err).Error()
	why = strings.TrimPrefix(why, nocopyjson.ErrValue.Error()+": ")
	why = instead(t, bad, text, why)
	for i := len(written) - 1; i >= 0; i-- {
		p := written[i]
		both := min(len(p.key), len(parts))
		if both < len(p.key) && !ofKey || !slices.Equal(p.key[:both], parts[:both]) {
			continue
		}
		if len(p.key) != len(parts) {
			why = path + ": " + why
		}
		return &argError{fmt.Sprintf("argument %.100s: %s", p.text, why), err}
	}
	if written == nil { // else the text is not the user's
		why = fmt.Sprintf("offset %d: %s", bad.Offset, why)
	}
	if path != "" {
		why = path + ": " + why
	} else {
		why += fmt.Sprintf(" (it takes %s)", m.Signature())
	}
	return &argError{fmt.Sprintf("arguments of %s: %s", m, why), err}
}

// argError is an error with the text for users.
type argError struct {
	text string
	err  error
}

func (e *argError) Error() string { return e.text }
func (e *argError) Unwrap() error { return e.err }

// split returns the parts of a path, such as lines[0].article.
func split(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
}

// walk returns the parts of a path in arguments that are a JSON text, with the keys of maps
// instead of their places, the type of the value, and of what it is part of.
func (m *Method) walk(text []byte, path string) (parts []string, t, in descriptor.Type) {
	d, at := m.desc.Args(), json.RawMessage(text)
	parts = split(path)
	for i, part := range parts {
		in = t
		switch {
		case d.Valid():
			f, name, err := fieldOf(d, part)
			if err != nil {
				return parts, descriptor.Type{}, descriptor.Type{}
			}
			var fields map[string]json.RawMessage
			json.Unmarshal(at, &fields)
			t, at = f.Type(), fields[name]
		case t.WireType() == nocopy.WireMap:
			if key, value, ok := entry(at, part); ok {
				parts[i], at = key, value
			}
			t = t.Elem()
		case t.WireType() == nocopy.WireList, t.WireType() == nocopy.WireSet:
			var elems []json.RawMessage
			json.Unmarshal(at, &elems)
			at = nil
			if n, err := strconv.Atoi(part); err == nil && n < len(elems) {
				at = elems[n]
			}
			t = t.Elem()
		default:
			return parts, descriptor.Type{}, descriptor.Type{}
		}
		d = descriptor.Struct{}
		if t.WireType() == nocopy.WireStruct {
			d = t.Struct()
		}
	}
	return parts, t, in
}

// isKey reports whether a key begins at an offset of a JSON text.
func isKey(text []byte, offset int) bool {
	if offset >= len(text) {
		return false
	}
	var key string
	d := json.NewDecoder(bytes.NewReader(text[offset:]))
	return d.Decode(&key) == nil && bytes.HasPrefix(bytes.TrimSpace(text[offset+int(d.InputOffset()):]), []byte(":"))
}

// entry returns the key and the value in an object that come at a place, a number from 0.
func entry(object json.RawMessage, place string) (key string, value json.RawMessage, ok bool) {
	n, err := strconv.Atoi(place)
	d := json.NewDecoder(bytes.NewReader(object))
	if first, _ := d.Token(); err != nil || first != json.Delim('{') {
		return "", nil, false
	}
	for ; n >= 0 && d.More(); n-- {
		name, err := d.Token()
		if key, ok = name.(string); err != nil || !ok || d.Decode(&value) != nil {
			return key, nil, ok && n == 0
		}
	}
	return key, value, n < 0
}

// instead adds to why a value of a type is wrong which names of fields or of values there are.
func instead(t descriptor.Type, bad *nocopy.Error, text []byte, why string) string {
	if errors.Is(bad.Err, nocopyjson.ErrUnknownField) && t.Desc() != nil && t.WireType() == nocopy.WireStruct {
		what, rest, _ := strings.Cut(why, ": ")
		quoted, err := strconv.QuotedPrefix(rest) // hints for Go programs may follow
		name, _ := strconv.Unquote(quoted)
		if err != nil {
			return why
		}
		return what + ": " + quoted + fieldsInstead(t.Struct(), name)
	}
	if t.Desc() == nil || !strings.Contains(why, "not a name of the enum") || bad.Offset >= len(text) {
		return why
	}
	var name string
	if json.NewDecoder(bytes.NewReader(text[bad.Offset:])).Decode(&name) != nil || !t.Enum().Valid() {
		return why
	}
	return notInEnum(t.Enum(), name)
}
