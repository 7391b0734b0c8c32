package elements_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

func TestMain(m *testing.M) { os.Exit(testmode.Main(m, nocopy.Leaked)) }

// A batch has its items in the middle, and others in a struct.
type (
	batch nocopy.Struct
	item  nocopy.Struct
)

var (
	batchDesc = schema.NewStruct("Batch")
	innerDesc = schema.NewStruct("Inner")
	itemDesc  = schema.NewStruct("Item")
)

func (batch) ThriftDesc() *nocopy.Desc { return batchDesc }
func (item) ThriftDesc() *nocopy.Desc  { return itemDesc }

func init() {
	itemDesc.Define(
		schema.FieldDesc{ID: 1, Name: "number", Type: schema.TypeI32, Req: schema.Required},
		schema.FieldDesc{ID: 2, Name: "text", Type: schema.TypeString, Req: schema.Optional},
		schema.FieldDesc{ID: 3, Name: "flags", Type: schema.ListOf(schema.TypeBool), Req: schema.Optional},
		schema.FieldDesc{ID: 4, Name: "items", Type: schema.ListOf(itemDesc.Type()), Req: schema.Optional},
		schema.FieldDesc{ID: 5, Name: "yes", Type: schema.TypeBool, Req: schema.Optional},
	)
	innerDesc.Define(
		schema.FieldDesc{ID: 1, Name: "before", Type: schema.TypeI32},
		schema.FieldDesc{ID: 2, Name: "items", Type: schema.SetOf(itemDesc.Type()), Req: schema.Required},
		schema.FieldDesc{ID: 3, Name: "after", Type: schema.TypeString},
	)
	batchDesc.Define(
		schema.FieldDesc{ID: 1, Name: "sender", Type: schema.TypeString, Req: schema.Required},
		schema.FieldDesc{ID: 2, Name: "inner", Type: innerDesc.Type(), Req: schema.Optional},
		schema.FieldDesc{ID: 3, Name: "items", Type: schema.ListOf(itemDesc.Type()), Req: schema.Required},
		schema.FieldDesc{ID: 4, Name: "named", Type: schema.MapOf(schema.TypeString, itemDesc.Type()), Req: schema.Optional},
		schema.FieldDesc{ID: 5, Name: "words", Type: schema.ListOf(schema.TypeString), Req: schema.Optional},
		schema.FieldDesc{ID: 6, Name: "sum", Type: schema.TypeI64, Req: schema.Required},
	)
}

// newItem returns item i. Every fifth has items of its own.
func newItem(i int) item {
	s := engine.New(itemDesc)
	fillItem(s, i)
	return item(s)
}

func fillItem(s engine.Struct, i int) {
	s.SetInt32(itemDesc.Field(0), int32(i))
	s.SetText(itemDesc.Field(1), text(i))
	s.SetBools(itemDesc.Field(2), itemDesc, []bool{true, false, i%2 == 0})
	if i%5 == 1 {
		list := s.NewChild(itemDesc.Field(3), itemDesc, 2)
		for k := range 2 {
			list.StructAt(k).SetInt32(itemDesc.Field(0), int32(k))
		}
	}
	s.SetBool(itemDesc.Field(4), i%3 == 0)
}

// text returns a text of item i. Some are long.
func text(i int) string {
	b := make([]byte, 10+i%7)
	if i%11 == 10 {
		b = make([]byte, 5000)
	}
	for k := range b {
		b[k] = 'a' + byte(i+k)%26
	}
	return string(b)
}

// newBatch returns a batch with n items, and as many in its inner struct.
func newBatch(n int, opts ...nocopy.Option) engine.Struct {
	s := engine.New(batchDesc, opts...)
	s.SetText(batchDesc.Field(0), "sender")
	inner := s.NewChild(batchDesc.Field(1), batchDesc, 0)
	inner.SetInt32(innerDesc.Field(0), 3)
	fillItems(inner.NewChild(innerDesc.Field(1), innerDesc, n), n)
	inner.SetText(innerDesc.Field(2), "after")
	fillItems(s.NewChild(batchDesc.Field(2), batchDesc, n), n)
	s.SetInt64(batchDesc.Field(5), 7)
	s.Message().Finish()
	return s
}

func fillItems(list engine.Struct, n int) {
	for i := range n {
		fillItem(list.StructAt(i), i)
	}
}

// number returns the number of an item.
func number(s item) int { return int(engine.Struct(s).Int32(itemDesc.Field(0))) }

// textOf returns the text of an item.
func textOf(s item) string { return engine.Struct(s).Text(itemDesc.Field(1)) }

// panics calls f, which must panic with a text that contains this one.
func panics(t *testing.T, what, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "nocopy: ") || !strings.Contains(got, text) {
			t.Errorf("%s: panic with %s, want %s", what, got, text)
		}
	}()
	f()
}
