package dynamic

import (
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Pair is a pair of a map whose keys can't be those of a Go map.
type Pair = reflection.Pair

// A ValueError tells where a Go value does not fit a message, such as "Order.lines[2].price", and
// why, but not the value. The path ends with a field that is redacted (nocopy.redact).
type ValueError = reflection.ValueError

// ToMap returns the fields of a message that are set and that the IDL knows as Go values, by their
// names: structs as map[string]any, lists and sets as []any, enums as int32, others as Get's
// Interface returns them. Maps with keys of type string are map[string]any; those with other
// keys map[any]any, or []Pair if the keys are binaries, structs or containers. All is copied. Of
// an absent struct it returns nil.
func ToMap(m nocopy.AnyStruct) map[string]any {
	r := reflection.Of(m)
	if !r.Valid() {
		return nil
	}
	fields := map[string]any{}
	for f, v := range r.Range() {
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
		return toGoMap(v.Type().Key().Type(), x)
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

// FromMap returns a new message with these fields: what ToMap returns, and all that Message's Set
// takes. Fields that are nil are not set. The error is a *ValueError; then there is no message.
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
