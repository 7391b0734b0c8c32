package inspect_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

// TestCompact: streams in the compact protocol are recognised and dumped after conversion to
// Thrift Binary. Malformed ones are dumped up to the error, whose offset is in the compact bytes.
func TestCompact(t *testing.T) {
	const (
		body  = "\x15\x54\x18\x05hello\x00"
		call  = "\x82\x21\x07\x03get" + body
		frame = "\x00\x00\x00\x11" + call
	)
	for name, c := range map[string]struct {
		bytes string
		form  string
		want  []string
		at    int // of the error; -1 if there is none
	}{
		"struct":         {body, "compact-struct", []string{"42", `"hello"`}, -1},
		"two structs":    {body + body, "compact-struct", []string{"42", `"hello"`}, -1},
		"call":           {call, "compact-message", []string{"get", "42", `"hello"`}, -1},
		"two calls":      {call + call, "compact-message", []string{"get", "42", `"hello"`}, -1},
		"framed call":    {frame, "compact-framed-message", []string{"get", "42", `"hello"`}, -1},
		"truncated call": {call + call[:12], "compact-message", []string{"get", "42", `"hello"`, "unexpected EOF"}, 26},
		"bad frame":      {frame + "\x00\x00\x00\x08" + "\x82\x21\x07\x03get\x1e", "compact-framed-message", []string{"get", "no such wire type"}, 33},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := inspect.Dump(&out, strings.NewReader(c.bytes), inspect.Options{})
			for _, want := range append(c.want, c.form) {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %s in\n%s", want, out.String())
				}
			}
			var bad *nocopy.Error
			if c.at < 0 && err != nil || c.at >= 0 && (!errors.As(err, &bad) || bad.Offset != c.at) {
				t.Errorf("%v, want an error at %d\n%s", err, c.at, out.String())
			}
		})
	}
	var form inspect.Form
	if err := form.UnmarshalText([]byte("compact-framed-struct")); err != nil || form != inspect.CompactFramedStructs {
		t.Error(form, err)
	}
}
