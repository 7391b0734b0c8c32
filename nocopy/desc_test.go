package nocopy

import (
	"fmt"
	"strings"
	"testing"
)

// TestUsedBeforeDefined: a struct that is not described yet, as when a variable of the generated package is initialized with a
// message, is refused by all that would make one.
func TestUsedBeforeDefined(t *testing.T) {
	late, lateUnion := NewDesc("Late"), NewUnionDesc("Late")
	around := NewDesc("Around")
	around.Define(
		FieldDesc{ID: 1, Name: "v", Type: TypeI32}, FieldDesc{ID: 2, Name: "late", Type: StructOf(late)}, FieldDesc{ID: 3, Name: "list", Type: ListOf(StructOf(late))},
	)
	wire := []byte{0}
	for name, f := range map[string]func(){
		"New":                 func() { New(late) },
		"New, union":          func() { New(lateUnion) },
		"Parse":               func() { Parse(late, wire) },
		"Parse union":         func() { Parse(lateUnion, wire) },
		"ParseBlocks":         func() { ParseBlocks[Struct](late, [][]byte{wire}) },
		"Parse what it is in": func() { Parse(around, wire) },
		"NewChild":            func() { New(around).NewChild(around.named("late"), around, 0) },
		"an element":          func() { StructList[Struct](New(around).NewChild(around.named("list"), around, 1)).At(0) },
		"a constant":          func() { NewConst(StructOf(late), "\x00") },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "nocopy: struct used before") {
					t.Errorf("%s: %s", name, got)
				}
			}()
			f()
		}()
	}
	late.Define(FieldDesc{ID: 1, Name: "n", Type: TypeI32})
	s := mustParse(t, around, []byte("\x0c\x00\x02\x08\x00\x01\x00\x00\x00\x07\x00\x00"))
	defer s.Release()
	if got := s.Format(around); got != "{late: {n: 7}}" {
		t.Errorf("described after all: %s", got)
	}
}
