package idl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Position is a place in a file: name, line and column, both from 1. Columns
// count bytes, as they do in the Go compiler's messages.
type Position = lexer.Position

// Error is an error in a file, or a warning.
type Error struct {
	Pos   Position
	Msg   string
	About Compiler // which a warning is about, "" for all
}

// Compiler is a compiler of .thrift files, besides nocopyc.
type Compiler string

// The compilers that warnings are about: Apache Thrift's, and CloudWeGo's, which is Kitex's.
const (
	Apache   Compiler = "apache"
	Thriftgo Compiler = "thriftgo"
)

// Error returns "file:line:col: message".
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Pos.Filename, e.Pos.Line, e.Pos.Column, e.Msg)
}

// ErrorList is a list of errors.
type ErrorList []*Error

// Add appends an error.
func (l *ErrorList) Add(pos Position, format string, args ...any) {
	*l = append(*l, &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// AddAbout appends a warning about a compiler.
func (l *ErrorList) AddAbout(c Compiler, pos Position, format string, args ...any) {
	*l = append(*l, &Error{pos, fmt.Sprintf(format, args...), c})
}

// For returns the warnings without those that are about other compilers than these.
func (l ErrorList) For(compilers []Compiler) ErrorList {
	return slices.DeleteFunc(slices.Clone(l), func(e *Error) bool {
		return e.About != "" && !slices.Contains(compilers, e.About)
	})
}

// CompilerNames returns the names in list, separated by commas: the inverse of Compilers.
func CompilerNames(list []Compiler) string {
	var names []string
	for _, c := range list {
		names = append(names, string(c))
	}
	return strings.Join(names, ",")
}

// Compilers returns the compilers that a text names, with commas between them.
func Compilers(text string) ([]Compiler, error) {
	list := []Compiler{}
	for name := range strings.SplitSeq(text, ",") {
		switch c := Compiler(name); c {
		case Apache, Thriftgo:
			list = append(list, c)
		case "":
		default:
			return nil, fmt.Errorf("unknown compiler %q: they are %s and %s", name, Apache, Thriftgo)
		}
	}
	return list, nil
}

// Error returns all messages, one per line.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Sort sorts the list by file and position and removes repeated errors. The given files come
// first, in the given order; others follow in the order of their first errors.
func (l *ErrorList) Sort(files ...string) {
	rank := map[string]int{}
	for i, name := range files {
		rank[name] = i
	}
	for _, e := range *l {
		if _, ok := rank[e.Pos.Filename]; !ok {
			rank[e.Pos.Filename] = len(rank)
		}
	}
	slices.SortStableFunc(*l, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(rank[a.Pos.Filename], rank[b.Pos.Filename]),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
		)
	})
	*l = slices.CompactFunc(*l, func(a, b *Error) bool { return *a == *b })
}

// In reports whether there is an error in a file.
func (l ErrorList) In(file string) bool {
	return slices.ContainsFunc(l, func(e *Error) bool { return e.Pos.Filename == file })
}

// Err returns the list as an error, or nil if it is empty.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
