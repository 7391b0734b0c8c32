package fields_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestUsedBeforeDefined: functions that make messages refuse a struct that is not yet described,
// as when a variable of the generated package is initialized with a message.
func TestUsedBeforeDefined(t *testing.T) {
	late, lateUnion := newStructDesc("Late"), newUnionDesc("Late")
	around := newStructDesc("Around")
	around.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "v", Type: typeI32}, thriftimpl.FieldDesc{ID: 2, Name: "late", Type: structTypeOf(late)}, thriftimpl.FieldDesc{ID: 3, Name: "list", Type: listTypeOf(structTypeOf(late))},
	)
	wire := []byte{0}
	for name, f := range map[string]func(){
		"New":                 func() { newStruct(late) },
		"New, union":          func() { newStruct(lateUnion) },
		"Parse":               func() { parseStruct(late, wire) },
		"Parse union":         func() { parseStruct(lateUnion, wire) },
		"ParseBlocks":         func() { nocopy.ParseBlocks[thriftimpl.Struct](late, [][]byte{wire}) },
		"Parse what it is in": func() { parseStruct(around, wire) },
		"NewChild":            func() { newStruct(around).NewChild(fieldNamed(around, "late"), around, 0) },
		"an element": func() {
			nocopy.StructList[thriftimpl.Struct](newStruct(around).NewChild(fieldNamed(around, "list"), around, 1)).At(0)
		},
		"a constant": func() { newConst(structTypeOf(late), "\x00") },
	} {
		t.Run(name, func(t *testing.T) {
			func() {
				defer func() {
					if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "nocopy: struct used before") {
						t.Errorf("%s: %s", name, got)
					}
				}()
				f()
			}()
		})
	}
	late.Define(thriftimpl.FieldDesc{ID: 1, Name: "n", Type: typeI32})
	s := mustParse(t, around, []byte("\x0c\x00\x02\x08\x00\x01\x00\x00\x00\x07\x00\x00"))
	defer s.Release()
	if got := render.Text(s, around); got != "{late: {n: 7}}" {
		t.Errorf("described after all: %s", got)
	}
}
