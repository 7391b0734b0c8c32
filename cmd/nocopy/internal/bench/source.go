package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/internal/template"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// source makes the arguments of calls. Any number of goroutines may use it.
type source struct {
	method *invoke.Method
	fixed  []byte // wire bytes that are the same for all calls; nil if there are templates
	text   string
	pairs  []string
	seed   uint64
	parsed *template.Set
}

// maxText bounds the N of a {{text N}}, in bytes.
const maxText = 1 << 20

// newSource returns the source of arguments that are JSON and key=value.
func newSource(m *invoke.Method, text []byte, pairs []string, seed uint64) (*source, error) {
	s := &source{method: m, text: string(text), pairs: pairs, seed: seed}
	if !strings.Contains(s.text, "{{") && !strings.Contains(strings.Join(pairs, ""), "{{") {
		var err error
		s.fixed, err = m.Wire(text, pairs)
		return s, err
	}
	// One template for all: parts are told apart by a character that no JSON has.
	s.parsed = template.New(s.functions(0, nil), nil)
	if err := s.parsed.Add("arguments", strings.Join(append([]string{s.text}, pairs...), "\x00")); err != nil {
		return nil, err
	}
	_, err := s.args(0) // reports mistakes before calls are made
	return s, err
}

// args returns the wire bytes of the arguments of call n.
func (s *source) args(n uint64) ([]byte, error) {
	if s.parsed == nil {
		return s.fixed, nil
	}
	var b bytes.Buffer
	if err := s.parsed.With(s.functions(n, rand.New(rand.NewPCG(s.seed, n)))).Execute(&b, "arguments", nil); err != nil {
		return nil, err
	}
	parts := strings.Split(b.String(), "\x00")
	return s.method.Wire([]byte(parts[0]), parts[1:])
}

// functions returns what templates may call, for call n.
func (s *source) functions(n uint64, r *rand.Rand) template.Functions {
	return template.Functions{
		"n": func() uint64 { return n },
		"int": func(low, high int64) (int64, error) {
			if high < low || uint64(high-low) >= 1<<63-1 {
				return 0, fmt.Errorf("from %d to %d is no span", low, high)
			}
			return low + r.Int64N(high-low+1), nil
		},
		"float": func(low, high float64) float64 { return low + r.Float64()*(high-low) },
		"pick": func(first string, more ...string) string {
			all := append([]string{first}, more...)
			return all[r.IntN(len(all))]
		},
		"text": func(n int) (string, error) {
			if n < 0 || n > maxText {
				return "", fmt.Errorf("a text of %d bytes, at most %d are possible", n, maxText)
			}
			b := make([]byte, n)
			for i := range b {
				b[i] = 'a' + byte(r.IntN(26))
			}
			return string(b), nil
		},
		"uuid": func() string {
			var u nocopy.UUID
			for i := range u {
				u[i] = byte(r.IntN(256))
			}
			u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80 // version 4
			return u.String()
		},
		"now": func() int64 { return time.Now().UnixMilli() },
	}
}
