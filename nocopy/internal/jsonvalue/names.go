package jsonvalue

import (
	"errors"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// names are the names of a struct's fields in JSON.
type names struct {
	desc    *schema.Struct
	fields  []member // by number
	err     error    // two fields have the same name, or one has no UTF-8
	byName  func() map[string]int
	secrets func() bool // whether anything in a message of this type is redacted
}

// member is a field and its name in JSON objects.
type member struct {
	schema.JSONName
	*schema.Field
	ref    schema.Ref
	label  string // a comma, the name in quotes and a colon; "" if the field is skipped
	quoted string // the name in quotes, as it usually is in a text; "" if the field is skipped
}

var errSameKeys = errors.New("two keys of a map are the same in JSON")

func namesOf(d *schema.Struct) *names {
	if known := d.JSON.Load(); known != nil {
		return (*known).(*names)
	}
	all, err := d.JSONNames()
	names := &names{desc: d, err: err, fields: make([]member, len(all))}
	for i, n := range all {
		f := &d.Fields()[i]
		names.fields[i] = member{JSONName: n, Field: f, ref: f.Ref()}
		if n.Skip {
			continue
		}
		label, ok := appendText([]byte(`,"`), []byte(n.Name), false)
		if !ok {
			names.err = wire.ErrUTF8
		}
		l := string(append(label, `":`...))
		names.fields[i].label, names.fields[i].quoted = l, l[1:len(l)-1]
	}
	names.byName = sync.OnceValue(names.numbers)
	names.secrets = sync.OnceValue(func() bool { return hasSecrets(d.Type(), map[*schema.Struct]bool{}) })
	value := any(names)
	d.JSON.Store(&value)
	return names
}

// numbers returns the numbers of the fields by their names.
func (n *names) numbers() map[string]int {
	byName := make(map[string]int, len(n.fields))
	for i := range n.fields {
		if f := &n.fields[i]; !f.Skip {
			byName[f.JSONName.Name] = i
		}
	}
	return byName
}

// hasSecrets reports whether a struct or field in a value of type t is redacted. It does not look
// into the structs that were seen before.
func hasSecrets(t *schema.Type, seen map[*schema.Struct]bool) bool {
	if t == nil {
		return false
	}
	d := t.Struct()
	if d == nil {
		return hasSecrets(t.Key(), seen) || hasSecrets(t.Elem(), seen)
	}
	if seen[d] {
		return false
	}
	seen[d] = true
	redacted := d.Info().Redacted()
	for i := 0; i < d.NumFields() && !redacted; i++ {
		f := d.FieldDesc(i)
		redacted = f.Info.Redacted() || hasSecrets(f.Type, seen)
	}
	return redacted
}

// find returns the number of the field that the last token of r names, or −1. It tries field next
// first, which is usually right.
func (n *names) find(r *reader, next int) int {
	if next < len(n.fields) {
		if n.fields[next].quoted == string(r.raw()) {
			return next
		}
	}
	if i, ok := n.byName()[string(r.text())]; ok {
		return i
	}
	return -1
}
