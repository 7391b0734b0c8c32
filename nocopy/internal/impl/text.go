package impl

import (
	"fmt"
	"iter"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// StringOf is String of a struct that d describes.
func StringOf(s Struct, d *Desc) string { return render.Text(s, d) }

// FormatOf is Format of a struct that d describes.
func FormatOf(s Struct, f fmt.State, verb rune, d *Desc) { render.Format(f, verb, s, d) }

// LogValueOf is LogValue of a struct that d describes.
func LogValueOf(s Struct, d *Desc) slog.Value { return render.LogValue(s, d) }

// UnknownOf is Unknown of a struct that d describes.
func UnknownOf(s Struct, d *Desc) iter.Seq2[int16, nocopy.Value] {
	return func(yield func(int16, nocopy.Value) bool) {
		s.Unknown(d)(func(id int16, v WireValue) bool { return yield(id, nocopy.Value(v)) })
	}
}
