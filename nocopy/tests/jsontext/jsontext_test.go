package jsontext_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/jsontext"
)

// tokens returns the number of tokens in the text, and the error after them, which is nil at the
// end of the text.
func tokens(text string, opts ...jsontext.Options) (int, *jsontext.Decoder, error) {
	d := new(jsontext.Decoder)
	d.Reset(bytes.NewBufferString(text), opts...)
	for n := 0; ; n++ {
		if _, err := d.ReadToken(); err == io.EOF {
			return n, d, nil
		} else if err != nil {
			return n, d, err
		}
	}
}

// TestReleases: the behaviour of jsontext on which the library relies is the same with all Go
// releases.
func TestReleases(t *testing.T) {
	if n, d, err := tokens(` {"a": [1.50, true], "b": null} `); n != 9 || err != nil || d.InputOffset() != 31 {
		t.Errorf("%d tokens, offset %d, %v", n, d.InputOffset(), err)
	}
	twice := `{"a":1,"\u0061":2}`
	if _, _, err := tokens(twice); !jsontext.IsDuplicateName(err) {
		t.Errorf("a name twice: %v", err)
	}
	if _, _, err := tokens(twice, jsontext.AllowDuplicateNames(true)); err != nil {
		t.Errorf("a name twice, which is allowed: %v", err)
	}
	for text, offset := range map[string]int64{
		`{"a":1`:             6,
		`[1,]`:               2,
		`[01]`:               2,
		`["` + "\xff" + `"]`: 2,
		`["\ud800"]`:         2,
		`[1] x`:              4,
	} {
		_, _, err := tokens(text)
		var at *jsontext.SyntacticError
		if !errors.As(err, &at) || at.ByteOffset != offset {
			t.Errorf("%s: %v, want an error at offset %d", text, err, offset)
		}
	}
}
