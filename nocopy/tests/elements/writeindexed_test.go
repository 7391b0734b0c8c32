package elements_test

import (
	"bytes"
	"iter"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/support"
)

// TestWriteElementsWithIndex: what WriteElements writes has no wire index, whatever the elements
// are: messages that have one, groups, or elements of a list, edited or not.
func TestWriteElementsWithIndex(t *testing.T) {
	const n = 9
	with := one[:len(one)-1] + wireIndex + "\x00"
	all := func(elem string) string {
		return sender + itemsOf + support.Be(n) + strings.Repeat(elem, n) + sum + "\x00"
	}
	parsed := func(opts []nocopy.Option) engine.Struct {
		s, err := engine.Parse(batchDesc, []byte(all(with)), opts...)
		if err != nil {
			t.Fatal(err)
		}
		return s.Child(batchDesc.Field(2), nil)
	}
	each := func(l engine.Struct) iter.Seq2[item, error] {
		return func(yield func(item, error) bool) {
			for i := range n {
				if !yield(item(l.StructAt(i)), nil) {
					return
				}
			}
		}
	}
	for name, opts := range map[string][]nocopy.Option{"": nil, "lazy": {nocopy.Lazy}, "recycling": {nocopy.Recycle}, "with an index": {nocopy.WithIndex}, "by index": {nocopy.ByIndex}} {
		for kind, elements := range map[string]func() iter.Seq2[item, error]{
			"messages": func() iter.Seq2[item, error] {
				return func(yield func(item, error) bool) {
					for range n {
						s, err := engine.Parse(itemDesc, []byte(with), opts...)
						if !yield(item(s), err) {
							return
						}
					}
				}
			},
			"finished messages": func() iter.Seq2[item, error] {
				return func(yield func(item, error) bool) {
					for range n {
						s := engine.New(itemDesc, opts...)
						s.SetInt32(itemDesc.Field(0), 1)
						s.Message().Finish()
						if !yield(item(s), nil) {
							return
						}
					}
				}
			},
			"groups": func() iter.Seq2[item, error] {
				return nocopy.NewElementDecoder[batch, item](strings.NewReader(all(with)), "items", opts...).All()
			},
			"a list": func() iter.Seq2[item, error] { return each(parsed(opts)) },
			"an edited list": func() iter.Seq2[item, error] {
				l := parsed(opts)
				l.StructAt(3).SetInt32(itemDesc.Field(0), 7)
				l.StructAt(3).SetInt32(itemDesc.Field(0), 1)
				l.Swap(0, n-1)
				return each(l)
			},
		} {
			for _, compact := range []bool{false, true} {
				var out bytes.Buffer
				var write []nocopy.Option
				if compact {
					write = append(write, nocopy.Compact)
				}
				s, err := engine.Parse(batchDesc, []byte(sender+itemsOf+support.Be(0)+sum+"\x00"))
				if err != nil {
					t.Fatal(err)
				}
				_, err = nocopy.WriteElements(&out, batch(s), "items", n, elements(), write...)
				got := out.Bytes()
				if m, bad := engine.Parse(batchDesc, got, write...); bad != nil {
					t.Error(bad)
				} else if compact {
					got = m.Message().AppendTo(nil)
				}
				if err != nil || string(got) != all(one) {
					t.Errorf("%s, %s, compact %t: %v, %x, not %x", name, kind, compact, err, got, all(one))
				}
			}
		}
	}
}
