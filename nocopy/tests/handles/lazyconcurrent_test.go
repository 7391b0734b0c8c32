package handles_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// TestLazySenders: several goroutines send a Lazy message that was not indexed. None reads it,
// since this would index the parts that are read.
func TestLazySenders(t *testing.T) {
	wire := handles.Wire()
	want := bytes.Clone(mustParse(t, allDesc, wire).Message().Bytes())
	text := render.Text(mustParse(t, allDesc, wire), allDesc)
	for _, w := range []way{inOnePiece, recycled, cutEvery(7)} {
		t.Run(w.Name, func(t *testing.T) {
			s, err := with(w, engine.Lazy, "lazy").Parse(allDesc, wire)
			if err != nil {
				t.Fatal(err)
			}
			together(t, func(i int) error {
				for k := range 10 {
					if got, err := sendOne(s.Message(), i+k); err != nil || !bytes.Equal(got, want) {
						return fmt.Errorf("sent %d bytes, want %d: %v", len(got), len(want), err)
					}
				}
				return nil
			})
			if got := render.Text(s, allDesc); got != text {
				t.Errorf("it reads as %s", got)
			}
			s.Release()
		})
	}
}
