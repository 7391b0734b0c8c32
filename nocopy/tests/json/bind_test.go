// Descriptors of types that are made at run time.

package nocopyjson_test

import (
	"strconv"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// schema has descriptors of the referee's structs.
type schema struct {
	descs map[*referee.Struct]*thriftimpl.Desc
	types map[*referee.Type]*thriftimpl.Type
}

func newSchema(structs []*referee.Struct) *schema {
	sc := &schema{descs: map[*referee.Struct]*thriftimpl.Desc{}, types: map[*referee.Type]*thriftimpl.Type{}}
	for _, s := range structs {
		switch {
		case s.Union:
			sc.descs[s] = thriftimpl.NewUnionDesc(s.Name)
		case s.Exception:
			sc.descs[s] = thriftimpl.NewExceptionDesc(s.Name)
		default:
			sc.descs[s] = thriftimpl.NewDesc(s.Name)
		}
	}
	for _, s := range structs {
		var fields []thriftimpl.FieldDesc
		for _, f := range s.Fields {
			fd := thriftimpl.FieldDesc{ID: f.ID, Name: f.Name, Type: sc.typ(f.Type), Req: impl.Requiredness(f.Req)}
			if f.Default != nil {
				fd.Default = string(referee.WriteValue(f.Type, f.Default, nil))
			}
			fields = append(fields, fd)
		}
		sc.descs[s].Define(fields...)
	}
	return sc
}

// colors has the enum's values with names.
var colors = map[int32]string{-1: "NONE", 0: "RED", 1: "GREEN", 7: "BLUE"}

var color = func() *thriftimpl.Type {
	var values []thriftimpl.EnumValue
	for v, name := range colors {
		values = append(values, thriftimpl.EnumValue{Name: name, Value: v})
	}
	return thriftimpl.EnumOf(thriftimpl.NewEnum("Color", values))
}()

var leaves = map[*referee.Type]*thriftimpl.Type{
	referee.Bool: thriftimpl.TypeBool, referee.I8: thriftimpl.TypeI8, referee.I16: thriftimpl.TypeI16,
	referee.I32: thriftimpl.TypeI32, referee.I64: thriftimpl.TypeI64, referee.Double: thriftimpl.TypeDouble,
	referee.String: thriftimpl.TypeString, referee.Binary: thriftimpl.TypeBinary, referee.UUID: thriftimpl.TypeUUID,
	referee.Enum: color,
}

func (sc *schema) typ(t *referee.Type) *thriftimpl.Type {
	if leaves[t] != nil {
		return leaves[t]
	}
	if sc.types[t] == nil {
		switch t.Wire {
		case thrift.STRUCT:
			sc.types[t] = thriftimpl.StructOf(sc.descs[t.Struct])
		case thrift.LIST:
			sc.types[t] = thriftimpl.ListOf(sc.typ(t.Elem))
		case thrift.SET:
			sc.types[t] = thriftimpl.SetOf(sc.typ(t.Elem))
		default:
			sc.types[t] = thriftimpl.MapOf(sc.typ(t.Key), sc.typ(t.Elem))
		}
	}
	return sc.types[t]
}

// message is a message whose type is known only by its descriptor.
type message struct {
	thriftimpl.Struct
	desc *thriftimpl.Desc
}

func (m message) ThriftDesc() *thriftimpl.Desc    { return m.desc }
func (m message) ThriftStruct() thriftimpl.Struct { return m.Struct }

var _ nocopy.AnyStruct = message{}

// choices makes choices from bytes. When none are left, it chooses zero.
type choices []byte

func (c *choices) Intn(n int) int {
	if len(*c) == 0 {
		return 0
	}
	x := int((*c)[0])
	*c = (*c)[1:]
	return x % n
}

func itoa(i int64) string { return strconv.FormatInt(i, 10) }
