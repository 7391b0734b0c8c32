package main

import (
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// move is a place whose contents are elsewhere: locations in from are shown as locations in to.
type move struct{ from, to string }

// newMove returns the move between two URIs, or an error if they are the same or empty.
func newMove(from, to string) (move, error) {
	m := move{strings.TrimRight(from, "/"), strings.TrimRight(to, "/")}
	if m.from == "" || m.to == "" || m.from == m.to {
		return move{}, fmt.Errorf("locations can't be shown from %q in %q", from, to)
	}
	return m, nil
}

// shown returns where clients see a location that the metastore has.
func (m move) shown(location string) string { return rebase(location, m.from, m.to) }

// stored returns where the metastore has a location that clients see.
func (m move) stored(location string) string { return rebase(location, m.to, m.from) }

// rebase returns a location that is from, or in it, as one in to; others as they are.
func rebase(location, from, to string) string {
	rest, ok := strings.CutPrefix(location, from)
	if !ok || rest != "" && rest[0] != '/' {
		return location
	}
	return to + rest
}

// marks are the fields of one struct type that hold locations, by the annotation (location), or
// that contain such fields. Other parts of a message are not visited.
type marks []mark

type mark struct {
	id     int16
	key    string // of a marked map: the only key whose value is a location; all values if empty
	within marks  // of the struct, or of the structs in a list; nil if the field itself is marked
}

// marksOf returns the marks of a struct, which must not contain itself, by its description.
func marksOf(s descriptor.Struct) (found marks) {
	for f := range s.Fields() {
		of := f.Type()
		if of.WireType() == nocopy.WireList {
			of = of.Elem()
		}
		within := marksOf(of.Struct())
		if key, marked := f.Annotation("location"); within != nil || marked {
			if key == "1" { // what an annotation without a value has
				key = ""
			}
			found = append(found, mark{f.ID(), key, within})
		}
	}
	return found
}

// rewrite replaces the locations of a message by what f returns for them.
func (l marks) rewrite(s reflection.Message, f func(location string) string) error {
	for _, m := range l {
		if v, err := s.GetID(m.id); err == nil && v.IsSet() {
			set := func(to string) error { return s.SetID(m.id, to) }
			if err := m.rewriteValue(v, f, set); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewriteValue replaces the locations in the value of a field by what f returns for them; set
// replaces a value that is a location itself.
func (m mark) rewriteValue(v reflection.Value, f func(string) string, set func(to string) error) error {
	switch v.Type().WireType() {
	case nocopy.WireStruct:
		return m.within.rewrite(v.Message(), f)
	case nocopy.WireList:
		for i, e := range v.List().All() {
			if err := m.rewriteValue(e, f, func(to string) error { return v.List().Set(i, to) }); err != nil {
				return err
			}
		}
	case nocopy.WireMap:
		for k, e := range v.Map().All() {
			if m.key != "" && k.Text() != m.key {
				continue
			}
			if err := m.rewriteValue(e, f, func(to string) error { return v.Map().Put(k, to) }); err != nil {
				return err
			}
		}
	case nocopy.WireString:
		if to := f(v.Text()); to != v.Text() {
			return set(to)
		}
	}
	return nil
}
