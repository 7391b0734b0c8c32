package dynamic

import (
	"fmt"
	"math"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// A builder makes a Schema from a set of files.
type builder struct {
	set     *schema.Set
	keys    *keyer
	structs map[*schema.Struct]*thriftimpl.Desc
	types   map[*schema.Type]*thriftimpl.Type // containers
	ids     int                               // sum of spread over all structs
}

// Limits of the fields of a struct, and of the ids from the lowest to the highest, of all structs
// together. Each id takes eight bytes.
const (
	maxFields = math.MaxUint16 - 8
	maxIDs    = 1 << 21
)

// build makes a Schema.
func build(set *schema.Set) (*Schema, error) {
	b := &builder{
		set: set, keys: newKeyer(), structs: map[*schema.Struct]*thriftimpl.Desc{}, types: map[*schema.Type]*thriftimpl.Type{},
	}
	for s := range b.all {
		if err := b.check(s); err != nil {
			return nil, err
		}
		if b.keys.index[s] == 0 {
			b.keys.visit(s)
		}
	}
	interned.Lock()
	defer interned.Unlock()
	for _, circle := range b.keys.circles {
		if err := b.circle(circle); err != nil {
			return nil, err
		}
	}
	return b.schema()
}

// all calls yield with all structs, including those of arguments and results.
func (b *builder) all(yield func(*schema.Struct) bool) {
	for _, p := range b.set.Programs {
		for _, s := range p.Structs {
			if !yield(s) {
				return
			}
		}
		for _, s := range p.Services {
			for _, f := range s.Functions {
				if !yield(f.Args) || f.Result != nil && !yield(f.Result) {
					return
				}
			}
		}
	}
}

// spread returns the number of ids from the lowest to the highest id of a struct.
func spread(s *schema.Struct) int {
	if len(s.Fields) == 0 {
		return 0
	}
	lowest, highest := s.Fields[0].ID, s.Fields[0].ID
	for _, f := range s.Fields {
		lowest, highest = min(lowest, f.ID), max(highest, f.ID)
	}
	return int(highest) - int(lowest) + 1
}

// check returns an error if the struct is too large for messages.
func (b *builder) check(s *schema.Struct) error {
	if n := len(s.Fields); n > maxFields {
		return mistake(s.Pos, fmt.Sprintf("%s has %d fields, at most %d are possible", s.Name, n, maxFields))
	}
	if b.ids += spread(s); b.ids > maxIDs {
		return mistake(s.Pos, fmt.Sprintf("%s: between the ids of fields there are more than %d others, in all structs together", s.Name, maxIDs))
	}
	return nil
}

func mistake(pos idl.Position, text string) error { return Errors{errorAt(pos, text)} }

func tooMany(pos idl.Position) error {
	return mistake(pos, fmt.Sprintf("the types that the program has loaded are too many: they take %d MiB, or are %d lists, sets and maps",
		interned.most>>20, len(interned.containers)))
}

// circle makes the structs of a circle, unless equal ones exist.
func (b *builder) circle(circle []*schema.Struct) error {
	known, need := true, 0
	for _, s := range circle {
		d := interned.structs[b.keys.structs[s]]
		if known = known && d != nil; known {
			b.structs[s] = d
		}
		need += memoryOf(s)
	}
	if known {
		return nil
	}
	if !take(need) {
		return tooMany(circle[0].Pos)
	}
	for _, s := range circle {
		b.structs[s] = newDesc(s)
	}
	defined := make([][]thriftimpl.FieldDesc, len(circle))
	for i, s := range circle {
		for _, f := range s.Fields {
			t, err := b.typ(f.Type, f.Pos)
			if err != nil {
				return err
			}
			fd := thriftimpl.FieldDesc{ID: f.ID, Name: strings.Clone(f.Name), Type: t, Info: infoOf(f.Doc, f.Annotations)}
			fd.Req = [...]impl.Requiredness{
				schema.DefaultReq: impl.DefaultReq, schema.Required: thriftimpl.Required, schema.Optional: thriftimpl.Optional,
			}[f.Req]
			if f.Default != nil {
				fd.Default = f.Default.Wire
			}
			defined[i] = append(defined[i], fd)
		}
	}
	for i, s := range circle {
		impl.Define(b.structs[s], defined[i])
	}
	for _, s := range circle {
		interned.structs[b.keys.structs[s]] = b.structs[s]
	}
	return nil
}

// memoryOf returns roughly how many bytes the descriptor of s takes.
func memoryOf(s *schema.Struct) int {
	n := structMemory + memoryOfInfo(s.Doc, s.Annotations) + idMemory*spread(s)
	for _, f := range s.Fields {
		n += fieldMemory + len(f.Name) + memoryOfInfo(f.Doc, f.Annotations)
		if f.Default != nil {
			n += len(f.Default.Wire)
		}
	}
	return n
}

func memoryOfInfo(doc string, a schema.Annotations) int {
	n := len(doc)
	for _, x := range a {
		n += 32 + len(x.Key) + len(x.Value)
	}
	return n
}

func newDesc(s *schema.Struct) *thriftimpl.Desc {
	name, info := strings.Clone(s.Name), infoOf(s.Doc, s.Annotations)
	switch s.Shape {
	case schema.IsUnion:
		return thriftimpl.NewUnionDesc(name, info)
	case schema.IsException:
		return thriftimpl.NewExceptionDesc(name, info)
	}
	return thriftimpl.NewDesc(name, info)
}

// infoOf returns copies of a comment and annotations, because the originals refer to the text of
// the file.
func infoOf(doc string, a schema.Annotations) thriftimpl.Info {
	i := thriftimpl.Info{Doc: strings.Clone(doc)}
	for _, x := range a {
		i.Annotations = append(i.Annotations, thriftimpl.Annotation{Name: strings.Clone(x.Key), Value: strings.Clone(x.Value)})
	}
	return i
}

// typ returns the type for t, which is used at pos. The structs in it have been made, or are being
// defined.
func (b *builder) typ(t *schema.Type, pos idl.Position) (*thriftimpl.Type, error) {
	switch {
	case t.Struct != nil:
		return thriftimpl.StructOf(b.structs[t.Struct]), nil
	case t.Enum != nil:
		e, err := b.enum(t.Enum)
		if err != nil {
			return nil, err
		}
		return thriftimpl.EnumOf(e), nil
	case t.Kind == schema.Binary:
		return thriftimpl.TypeBinary, nil
	case t.Elem == nil:
		return impl.BaseType(nocopy.WireType(t.WireType())), nil
	}
	if made := b.types[t]; made != nil {
		return made, nil
	}
	k := containerKey{kind: t.Kind}
	var err error
	if t.Key != nil {
		if k.key, err = b.typ(t.Key, pos); err != nil {
			return nil, err
		}
	}
	if k.elem, err = b.typ(t.Elem, pos); err != nil {
		return nil, err
	}
	made := interned.containers[k]
	if made == nil {
		if len(interned.containers) >= maxContainers || !take(containerMemory) {
			return nil, tooMany(pos)
		}
		switch t.Kind {
		case schema.List:
			made = thriftimpl.ListOf(k.elem)
		case schema.SetKind:
			made = thriftimpl.SetOf(k.elem)
		default:
			made = thriftimpl.MapOf(k.key, k.elem)
		}
		interned.containers[k] = made
	}
	b.types[t] = made
	return made, nil
}

// enum returns the enum for e.
func (b *builder) enum(e *schema.Enum) (*thriftimpl.Enum, error) {
	b.keys.enum(e)
	k := b.keys.enums[e]
	if made := interned.enums[k]; made != nil {
		return made, nil
	}
	need := enumMemory + memoryOfInfo(e.Doc, e.Annotations)
	for _, v := range e.Values {
		need += valueMemory + len(v.Name) + memoryOfInfo(v.Doc, v.Annotations)
	}
	if !take(need) {
		return nil, tooMany(e.Pos)
	}
	var values []thriftimpl.EnumValue
	for _, v := range e.Values {
		values = append(values, thriftimpl.EnumValue{Name: strings.Clone(v.Name), Value: v.Value, Info: infoOf(v.Doc, v.Annotations)})
	}
	made := thriftimpl.NewEnum(strings.Clone(e.Name), values, infoOf(e.Doc, e.Annotations))
	interned.enums[k] = made
	return made, nil
}

// method returns the rpc.Method of a method, as generated code defines it.
func (b *builder) method(s *schema.Service, f *schema.Function) (*rpc.Method, error) {
	k := methodKey{service: strings.Clone(s.Name), name: strings.Clone(f.Name), args: b.structs[f.Args], returns: f.Returns != nil}
	if f.Result != nil {
		k.result = b.structs[f.Result]
	}
	if m := interned.methods[k]; m != nil {
		return m, nil
	}
	if !take(methodMemory) {
		return nil, tooMany(f.Pos)
	}
	m := &rpc.Method{Service: k.service, Name: k.name, Args: k.args, Result: k.result}
	if k.result != nil {
		for i := range k.result.NumFields() {
			if i == 0 && k.returns {
				m.Success = k.result.Field(i)
				continue
			}
			m.Throws = append(m.Throws, throws(k.result, i))
		}
	}
	interned.methods[k] = m
	return m, nil
}

// throws returns the description of the declared exception that is field i of a result.
func throws(result *thriftimpl.Desc, i int) rpc.Exception {
	of := result.FieldDesc(i).Type.Struct()
	return rpc.ThrowsAny(result.Field(i), of, func(s nocopy.Struct) error { return exceptionOf(s, of) })
}
