package dynamic

import (
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Pair is a pair of a map whose keys can't be keys of a Go map.
type Pair = reflection.Pair

// A ValueError reports a Go value that does not fit a message: its place, such as
// "Order.lines[2].price", and the reason, but not the value. The path stops at a redacted field
// (nocopy.redact).
type ValueError = reflection.ValueError

// ToMap returns the known fields of a message that are set, as Go values by name. Structs are
// map[string]any, lists and sets []any, enums int32. Other values are as Value's Interface returns
// them. Maps with string keys are map[string]any. Maps with other keys are map[any]any, or []Pair
// if the keys are binaries, structs or containers. All values are copies. For an absent struct
// ToMap returns nil.
func ToMap(m nocopy.AnyStruct) map[string]any {
	r := reflection.Of(m)
	if !r.Valid() {
		return nil
	}
	fields := map[string]any{}
	for f, v := range r.All() {
		fields[f.Name()] = toGo(v)
	}
	return fields
}

// toGo returns a value as ToMap does.
func toGo(v reflection.Value) any {
	switch x := v.Interface().(type) {
	case string:
		return strings.Clone(x)
	case []byte:
		return slices.Clone(x)
	case reflection.Message:
		return ToMap(x)
	case reflection.List:
		list := make([]any, 0, x.Len())
		for _, e := range x.All() {
			list = append(list, toGo(e))
		}
		return list
	case reflection.Map:
		return toGoMap(v.Type().Key().Desc(), x)
	default:
		return x
	}
}

func toGoMap(key *thriftimpl.Type, m reflection.Map) any {
	switch {
	case isHandle(key) || key.Binary():
		pairs := make([]Pair, 0, m.Len())
		for k, v := range m.All() {
			pairs = append(pairs, Pair{Key: toGo(k), Value: toGo(v)})
		}
		return pairs
	case key.Wire() == nocopy.WireString:
		all := make(map[string]any, m.Len())
		for k, v := range m.All() {
			all[strings.Clone(k.Text())] = toGo(v)
		}
		return all
	}
	all := make(map[any]any, m.Len())
	for k, v := range m.All() {
		all[toGo(k)] = toGo(v)
	}
	return all
}

// FromMap returns a new message with these fields. It accepts the values that ToMap returns, and
// all others that Message.Set accepts. Nil values are not set. The error is a *ValueError; there
// is no message then.
func (t Type) FromMap(fields map[string]any, opts ...nocopy.Option) (Message, error) {
	m := t.New(opts...)
	err := reflection.Fill(m, fields)
	if err == nil {
		if err = m.Message().Check(); err != nil {
			err = &ValueError{Path: t.Name(), Err: err}
		}
	}
	if err != nil {
		m.Release()
		return Message{}, err
	}
	return m, nil
}
