// Package validate has the errors of generated Validate methods, and functions that these call.
//
// nocopyc generates Validate methods for types whose fields have vt annotations in the IDL, such
// as (vt.gt = "0"). docs/idl.md lists the annotations. Validate returns nil, without allocating,
// or an *Error for the first value that violates them:
//
//	var invalid *validate.Error
//	if err := order.Validate(); errors.As(err, &invalid) {
//		log.Print(invalid.Path) // lines[3].count
//	}
//
// Except for the methods of Error, all functions are for generated code.
package validate

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Error reports a value that violates the vt annotations of the IDL.
type Error struct {
	// Path is the place of the value in the message whose Validate was called, in the IDL's names:
	// lines[3].count, or labels["a"] for the value of a map's key. It is empty for the message
	// itself. Long keys are shortened; keys that are structs or containers are omitted.
	Path string
	Want string // the expected value, such as "a value > 0"
	// Got is the value, if it is a number, bool or enum, or the size. An Error never contains texts,
	// except keys in its Path. It contains nothing of a redacted field (nocopy.redact); the path
	// stops at it.
	Got string

	// room is the memory of a long Path, with space before it.
	room *room
}

// Error returns a text such as "lines[3].count: expected a value > 0, got -1".
func (e *Error) Error() string {
	text := "expected " + e.Want
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Got != "" {
		text += ", got " + e.Got
	}
	return text
}

// Value returns the error for got, a number, bool or enum that violates want.
func Value[T any](path, want string, got T) error {
	return &Error{Path: path, Want: want, Got: fmt.Sprint(got)}
}

// Size returns the error for a size that violates want.
func Size(path, want string, got int) error {
	return &Error{Path: path, Want: want, Got: strconv.Itoa(got)}
}

// Text returns the error for a text that violates want.
func Text(path, want string) error { return &Error{Path: path, Want: want} }

// In adds a field to the beginning of the path of err, an error in the field's value.
func In(path string, err error) error { return within(path, err) }

// At adds index i to the beginning of the path of err, an error in element i of a list or set.
func At(path string, i int, err error) error {
	return within(path+"["+strconv.Itoa(i)+"]", err)
}

// Key adds a key to the beginning of the path of err, an error in that pair of a map.
func Key[K any](path string, key K, err error) error {
	return within(path+"["+keyText(key)+"]", err)
}

// Hidden removes from err, an error in a redacted field, everything about the value. The path
// stops at the field.
func Hidden(field string, err error) error {
	if e, ok := err.(*Error); ok {
		e.Path, e.Got = field, ""
	}
	return err
}

// within adds path before the path of err.
func within(path string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	if e.Path != "" && e.Path[0] != '[' {
		path += "."
	}
	e.prepend(path)
	return e
}

// maxKey bounds the bytes of a key that a path shows.
const maxKey = 64

// keyText returns a map's key in the form for paths.
func keyText(key any) string {
	switch k := key.(type) {
	case string:
		return quoteKey(k)
	case []byte:
		return quoteKey(string(k[:min(len(k), maxKey+1)]))
	}
	if reflect.ValueOf(key).Kind() == reflect.Struct { // a handle of a struct or container
		return "…"
	}
	return fmt.Sprint(key)
}

func quoteKey(key string) string {
	if len(key) > maxKey {
		return strconv.Quote(key[:maxKey]) + "…"
	}
	return strconv.Quote(key)
}

// Pattern is a regular expression. It is compiled on first use. Several goroutines may use it at
// the same time.
type Pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// NewPattern returns a Pattern in the syntax of package regexp. Using it panics if expr is
// invalid.
func NewPattern(expr string) *Pattern { return &Pattern{expr: expr} }

func (p *Pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// Match reports whether a part of text matches.
func (p *Pattern) Match(text string) bool { return p.compiled().MatchString(text) }

// MatchBytes reports whether a part of text matches.
func (p *Pattern) MatchBytes(text []byte) bool { return p.compiled().Match(text) }

// HasPrefix reports whether text begins with prefix.
func HasPrefix[T string | []byte](text T, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

// HasSuffix reports whether text ends with suffix.
func HasSuffix[T string | []byte](text T, suffix string) bool {
	return len(text) >= len(suffix) && string(text[len(text)-len(suffix):]) == suffix
}

// Contains reports whether text contains part.
func Contains(text, part string) bool { return strings.Contains(text, part) }

// ContainsBytes reports whether text contains part. It allocates if part is longer than 128 bytes.
func ContainsBytes(text []byte, part string) bool {
	var room [128]byte
	return bytes.Contains(text, append(room[:0], part...))
}

// Runes returns the number of characters of text. A byte that is not UTF-8 counts as one.
func Runes(text string) int { return utf8.RuneCountInString(text) }

// RunesOfBytes returns the number of characters of text; a byte that is not UTF-8 is one.
func RunesOfBytes(text []byte) int { return utf8.RuneCount(text) }

// Mod returns the remainder of a / b, or a if b is 0.
func Mod(a, b int64) int64 {
	if b == 0 {
		return a
	}
	return a % b
}

// Compare reports whether i op f holds for their exact values. op is ==, !=, <, <=, > or >=. With
// NaN only != holds.
func Compare(i int64, op string, f float64) bool {
	x := float64(i)
	if x == f {
		// Either x is i, or it was rounded to f. The difference is exact: both are near 2⁶³ or less.
		switch d := exactDifference(i, f); {
		case d < 0:
			x = math.Inf(-1)
		case d > 0:
			x = math.Inf(1)
		}
	}
	switch op {
	case "==":
		return x == f
	case "!=":
		return x != f
	case "<":
		return x < f
	case "<=":
		return x <= f
	case ">":
		return x > f
	}
	return x >= f
}

// exactDifference returns a number with the sign of i - f, where f is float64(i).
func exactDifference(i int64, f float64) int64 {
	if f == 1<<63 { // exceeds every int64
		return -1
	}
	return i - int64(f)
}

// Sum returns a + b.
func Sum[T int64 | float64 | string](a, b T) T { return a + b }

// UnixNano returns the nanoseconds since 1970.
func UnixNano() int64 { return time.Now().UnixNano() }

// Sprintf is fmt.Sprintf.
func Sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
