// Package valuerules checks messages of any type against the rules (vt) in their descriptions. It
// is for tools. Programs call the Validate methods that nocopyc generates; a test compares both.
//
// Neither the rules nor the messages are trusted: the rules are bounded in size, and the time of a
// check by a number of steps.
package valuerules

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// A Violation is a value that breaks a rule.
type Violation struct {
	Path string // of the value in the message; [*] stands for any index or key
	Rule string // as the IDL has it, such as `vt.elem.le = "9"`
	Got  string // the value, if it is a number, bool or enum, or its size; else ""
}

// Rules are the rules of types. Any number of goroutines may use them.
type Rules struct {
	structs map[*nocopy.Desc]*structRules
	any     bool // there are rules
}

// structRules are the rules of a struct.
type structRules struct {
	fields  []*valueRules // in the order of the fields; nil if there is nothing to check
	asserts []*rule
}

// valueRules are the rules for a value.
type valueRules struct {
	rules     []*rule
	notNil    *rule // the field must be set
	skip      bool  // the rules of structs in the value are not checked
	hidden    bool  // nothing of the value may be shown
	key, elem *valueRules
}

// rule is a rule.
type rule struct {
	text  string // as the IDL has it
	holds func(c *check, v reflection.Value) bool
	cost  func(v reflection.Value) int    // in steps; nil: none but the first
	got   func(v reflection.Value) string // what a Violation shows; nil: nothing
}

// New reads the rules of these types, and of all types in them. Rules that can't be checked are
// left out; each has an error that says where it is and why.
func New(types ...descriptor.Struct) (*Rules, []error) {
	r := &Rules{structs: map[*nocopy.Desc]*structRules{}}
	reader := &reader{rules: r}
	for len(types) > 0 {
		s := types[len(types)-1]
		types = types[:len(types)-1]
		if !s.Valid() || r.structs[s.Desc()] != nil {
			continue
		}
		r.structs[s.Desc()] = reader.structure(s)
		for f := range s.Fields() {
			types = structsIn(types, f.Type())
		}
	}
	return r, reader.errs
}

// structsIn appends the types of structs in a type.
func structsIn(list []descriptor.Struct, t descriptor.Type) []descriptor.Struct {
	if t.Struct().Valid() {
		return append(list, t.Struct())
	}
	switch t.WireType() {
	case nocopy.WireMap:
		list = structsIn(structsIn(list, t.Key()), t.Elem())
	case nocopy.WireList, nocopy.WireSet:
		list = structsIn(list, t.Elem())
	}
	return list
}

// maxSteps bounds the time of a check. Comparing a number is a step, and so is comparing a few
// characters of a text. A step takes up to a microsecond.
const maxSteps = 1 << 23

// Check calls report for each value of a message that breaks a rule, in the order of the fields.
// The message is of a type that New has read. complete is false if the check would take too long,
// and some values were not compared with all of their rules.
func (r *Rules) Check(m reflection.Message, report func(Violation)) (complete bool) {
	if !r.any {
		return true
	}
	c := &check{rules: r, report: report, left: maxSteps}
	c.structure(m, false)
	return c.left >= 0
}
