package lint

import (
	"bytes"
	"fmt"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
)

func enumValueImplicit(f *file) {
	for _, e := range f.enums {
		numbers(e, func(_ int, v *idl.EnumValue, n int64) {
			if v.Value == nil {
				at := v.Name.Pos.Offset + len(v.Name.Text)
				f.report(v.Pos, "%q of enum %q has no number, it is %d", v.Name.Text, e.Name.Text, n).fix = &edit{at, at, fmt.Sprintf(" = %d", n)}
			}
		})
	}
}

func formatted(f *file) {
	out, err := idlfmt.Format(f.prog.Path, f.src)
	if err == nil && !bytes.Equal(out, f.src) {
		f.report(f.begin(), "the file is not formatted").fix = &edit{0, len(f.src), string(out)}
	}
}

func functionAsync(f *file) {
	for _, fn := range f.functions {
		if f.wordAt(fn.Pos.Offset, "async") {
			f.report(fn.Pos, "method %q is async: write oneway", fn.Name.Text).fix = &edit{fn.Pos.Offset, fn.Pos.Offset + len("async"), "oneway"}
		}
	}
}

func typeByte(f *file) {
	for _, t := range f.types {
		if t.Base == "byte" {
			f.report(t.Pos, "byte is a former name of i8").fix = &edit{t.Pos.Offset, t.Pos.Offset + len("byte"), "i8"}
		}
	}
}

// wordAt reports whether the token at an offset is a word.
func (f *file) wordAt(offset int, word string) bool {
	i := f.token(offset)
	return i < len(f.tokens) && f.tokens[i].Text == word
}
