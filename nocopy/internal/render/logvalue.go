package render

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Limits of what a log shows of a message.
const (
	logText     = 256     // bytes of a string; half as many of a binary
	logElements = 32      // elements of a list or set, pairs of a map
	logTotal    = 8 << 10 // bytes of all, about
)

// LogValue returns a struct for package slog: a group of the fields that are set. Nested structs
// are groups; inside lists and maps they are a map[string]any. Lists and sets are a []any, maps a
// map[string]any. Values are redacted as by Text. Long strings, lists and maps are shortened,
// and the whole value to about 8 KiB; "…" marks omissions. The value is a copy and may outlive the
// message. d describes s.
func LogValue(s engine.Struct, d *schema.Struct) slog.Value {
	if s == (engine.Struct{}) {
		return slog.StringValue(engine.ZeroText)
	}
	walker, e := engine.WalkerOf(s)
	w := logWriter{walker, logTotal}
	return w.structure(d, e)
}

// logWriter makes values for logs.
type logWriter struct {
	*engine.Walker
	left int // bytes that the log may still have, about
}

// spend counts n bytes and what else a value takes.
func (w *logWriter) spend(n int) { w.left -= n + 8 }

// structure returns the struct of entry e.
func (w *logWriter) structure(d *schema.Struct, e uint32) slog.Value {
	if d.Info().Redacted() {
		w.spend(len(redactedText))
		return slog.StringValue(redactedText)
	}
	var attrs []slog.Attr
	left := 0 // fields for which there is no room
	for i := w.Next(d, e, 0); i < len(d.Fields()); i = w.Next(d, e, i+1) {
		f := &d.Fields()[i]
		word := w.Field(e, f)
		if word == 0 {
			continue
		}
		if w.left <= 0 {
			left++
			continue
		}
		w.spend(len(f.Name))
		v := slog.StringValue(redactedText)
		if !f.Info.Redacted() {
			v = w.value(f.Type, word)
		}
		attrs = append(attrs, slog.Attr{Key: f.Name, Value: v})
	}
	if left > 0 {
		attrs = append(attrs, slog.String("…", fmt.Sprintf("%d more fields", left)))
	}
	if len(attrs) == 0 { // handlers leave out groups without attributes
		return slog.AnyValue(map[string]any{})
	}
	return slog.GroupValue(attrs...)
}

// value returns a value of type t, for which word stands.
func (w *logWriter) value(t *schema.Type, word engine.Word) slog.Value {
	switch t.Kind() {
	case schema.Fixed:
		return w.fixed(t, w.Fixed(word))
	case schema.Text:
		return slog.StringValue(w.text(t, word))
	case schema.Record:
		return w.structure(t.Struct(), word.Entry())
	case schema.List:
		return slog.AnyValue(w.list(t, word.Entry()))
	}
	return slog.AnyValue(w.dict(t, word.Entry()))
}

// inner returns a value in a list or map.
func (w *logWriter) inner(t *schema.Type, word engine.Word) any {
	return withoutGroups(w.value(t, word))
}

// withoutGroups returns v with maps instead of groups.
func withoutGroups(v slog.Value) any {
	if v.Kind() != slog.KindGroup {
		return v.Any()
	}
	m := map[string]any{}
	for _, a := range v.Group() {
		m[a.Key] = withoutGroups(a.Value)
	}
	return m
}

// text returns the beginning of a string, or of a binary in hex.
func (w *logWriter) text(t *schema.Type, word engine.Word) string {
	b := w.Text(word)
	all, shown := len(b), min(len(b), logText, max(w.left, 1))
	for range utf8.UTFMax - 1 { // ends with a whole character
		if 0 < shown && shown < all && !utf8.RuneStart(b[shown]) {
			shown--
		}
	}
	b = b[:shown]
	s := string(b)
	if t.Binary() || !utf8.Valid(b) {
		b = b[:min(len(b), logText/2)]
		s = "0x" + hex.EncodeToString(b)
	}
	if w.spend(len(s)); len(b) < all {
		s += fmt.Sprintf("… (%d bytes)", all)
	}
	return s
}

func (w *logWriter) list(t *schema.Type, e uint32) []any {
	list := []any{}
	n := w.Len(e)
	for i := range n {
		if i == logElements || w.left <= 0 {
			return append(list, fmt.Sprintf("… %d more", n-i))
		}
		w.spend(0)
		list = append(list, w.inner(t.Elem(), w.Element(t, e, i)))
	}
	return list
}

func (w *logWriter) dict(t *schema.Type, e uint32) map[string]any {
	pairs := map[string]any{}
	shown := 0
	for word, value := range w.Pairs(e) {
		if shown == logElements || w.left <= 0 {
			pairs["…"] = fmt.Sprintf("%d more", w.Handle(e).MapLen()-shown)
			break
		}
		shown++
		w.spend(0)
		key := fmt.Sprint(w.inner(t.Key(), word))
		if _, known := pairs[key]; known { // keys that were shortened
			key += fmt.Sprintf(" (%d)", shown)
		}
		pairs[key] = w.inner(t.Elem(), value)
	}
	return pairs
}
