package reflection

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// A PathError reports an invalid path, or one that leads nowhere.
type PathError struct {
	Path   string
	Offset int // of the wrong part of the path, in bytes
	Err    error
}

// Error quotes the path and names the wrong part.
func (e *PathError) Error() string {
	return fmt.Sprintf("path %q, offset %d: %v", e.Path, e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *PathError) Unwrap() error { return e.Err }

// ErrSyntax is wrapped by the PathError of an invalid path.
var ErrSyntax = errors.New("syntax error")

// Lookup returns the value at a path, such as
//
//	user.history[3].city
//	scores["a"]
//
// Fields have their IDL names. Brackets hold the index of an element in a list or set, from 0, or
// a map's key: a string or uuid in Go's quotes, or a number, an enum's name, true or false without
// quotes. If a field on the path is not set, the value is the IDL's default or zero, and its IsSet
// is false. The error is a *PathError that wraps ErrSyntax, or descriptor.ErrNotFound if there is
// no such field, element or key.
func (m Message) Lookup(path string) (Value, error) {
	v := Value{impl.ValueOfStruct(thriftimpl.StructOf(m.desc()), m.s), true}
	for at := 0; ; {
		next, x, err := v.step(path, at)
		if err != nil {
			return Value{}, &PathError{path, at, err}
		}
		if v = x; next == len(path) {
			return v, nil
		}
		at = next
	}
}

// step follows the part of the path that begins at at. It returns the offset of the next part, and
// the value.
func (v Value) step(path string, at int) (int, Value, error) {
	if at < len(path) && path[at] == '[' {
		return v.element(path, at+1)
	}
	if at > 0 {
		if path[at] != '.' {
			return 0, v, fmt.Errorf("%w: %q instead of a dot or bracket", ErrSyntax, path[at])
		}
		at++
	}
	end := at
	for end < len(path) && path[end] != '.' && path[end] != '[' {
		end++
	}
	name := path[at:end]
	if name == "" {
		return 0, v, fmt.Errorf("%w: no name", ErrSyntax)
	}
	if !v.is(nocopy.WireStruct) {
		return 0, v, fmt.Errorf("%w: a field %q of a %v", descriptor.ErrNotFound, name, v.Type())
	}
	x, err := v.Message().Get(name)
	return end, x, err
}

// element looks up the element or pair of v that the brackets at path[at:] name. It returns the
// offset after the brackets, and the value.
func (v Value) element(path string, at int) (int, Value, error) {
	key, quoted := path[at:], false
	if key != "" && (key[0] == '"' || key[0] == '`') {
		text, err := strconv.QuotedPrefix(key)
		if err != nil {
			return 0, v, fmt.Errorf("%w: a string without an end", ErrSyntax)
		}
		at += len(text)
		quoted = true
		if key, err = strconv.Unquote(text); err != nil {
			return 0, v, fmt.Errorf("%w: %s", ErrSyntax, text)
		}
	} else {
		key, _, _ = strings.Cut(key, "]")
		at += len(key)
	}
	if at == len(path) || path[at] != ']' {
		return 0, v, fmt.Errorf("%w: no closing bracket", ErrSyntax)
	}
	at++
	switch {
	case v.is(nocopy.WireList, nocopy.WireSet):
		i, err := strconv.Atoi(key)
		if err != nil || quoted {
			return 0, v, fmt.Errorf("%w: %q is not the number of an element", ErrSyntax, key)
		}
		if n := v.List().Len(); i < 0 || i >= n {
			return 0, v, fmt.Errorf("%w: element %d of %d", descriptor.ErrNotFound, i, n)
		}
		return at, v.List().At(i), nil
	case v.is(nocopy.WireMap):
		x, err := v.pair(key, quoted)
		return at, x, err
	}
	return 0, v, fmt.Errorf("%w: an element of a %v", descriptor.ErrNotFound, v.Type())
}

// pair returns the value of a key in a map. The key is as in a path.
func (v Value) pair(key string, quoted bool) (Value, error) {
	t := v.v.Type().Key()
	wrong := fmt.Errorf("%w: %q instead of a key of type %v", ErrSyntax, key, t)
	if quoted != impl.IsQuoted(t) {
		return Value{}, wrong
	}
	x, ok, err := v.Map().Get(key)
	switch {
	case err != nil:
		return Value{}, wrong
	case !ok:
		return Value{}, fmt.Errorf("%w: key %q", descriptor.ErrNotFound, key)
	}
	return x, nil
}
