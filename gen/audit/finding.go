package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Severity says how severe a Finding is, by the rules of Apache's audit if it has one.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // a breaking change
	Warning Severity = "warning" // a change that may break something
)

// Breaks is the set of things that a change breaks between programs with the old and the new
// files.
type Breaks uint8

// The elements of Breaks.
const (
	// Wire: one side refuses bytes of the other, or reads different values from them.
	Wire Breaks = 1 << iota
	// JSON: the same for JSON, which contains the names of fields and enum values.
	JSON
	// Source: code that uses the generated code must change.
	Source
	// File: files that include the definition must include another file.
	File
)

// Finding is one difference between two Versions.
type Finding struct {
	Severity Severity
	// Kind names the kind of difference, such as "field-removed".
	Kind string
	// Symbol names the changed definition by its old name, such as "User.name".
	Symbol  string
	Message string
	Breaks  Breaks
	// Path is what an Ignore of the Finding can have as its Path: the symbol, with the service of a
	// method's arguments.
	Path string
	// Old and New are its positions. If it is missing in one of the Versions, the position there
	// is that of the enclosing struct, service or file.
	Old, New idl.Position
}

// comparer collects the findings of one Compare.
type comparer struct {
	opt      Options
	old, new *Version
	pairs    pairs
	findings []Finding
	own      map[*schema.Service]map[string]*schema.Function // see methods

	verdicts map[[2]any]*verdict // about two structs or enums
	pending  []func()            // comparisons that will find verdicts
	judging  *verdict            // the verdict that is being found; nil while findings are collected

	real map[string]string // absolute paths of files, for Options.Ignores
}

// A change has the positions of a difference and the definition around it.
type change struct {
	symbol   string
	old, new idl.Position
	path     string // see Finding; "" if it is the symbol
}

// add adds a finding. While a verdict is being found, it adds only breaks, to the verdict.
func (c *comparer) add(s Severity, kind string, breaks Breaks, at change, format string, args ...any) {
	if c.judging != nil {
		c.judging.gain(breaks & (Wire | JSON))
		return
	}
	if c.ignored(kind, at) {
		return
	}
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = short(text)
		}
	}
	at.old.Filename, at.new.Filename = c.old.show(at.old.Filename), c.new.show(at.new.Filename)
	c.findings = append(c.findings, Finding{s, kind, short(at.symbol), fmt.Sprintf(format, args...), breaks, short(cmp.Or(at.path, at.symbol)), at.old, at.new})
}

// sortFindings sorts findings by position, in the new files first, and drops repeated ones.
func sortFindings(list []Finding) []Finding {
	place := func(a, b idl.Position) int {
		return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(place(a.New, b.New), place(a.Old, b.Old), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Symbol, b.Symbol))
	})
	return slices.CompactFunc(list, func(a, b Finding) bool { return a == b })
}

// maxText bounds the bytes of a name, type or value that a message shows.
const maxText = 120

// short returns text, cut if it is long.
func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
