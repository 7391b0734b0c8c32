package chain_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// The model of a Buffer is a tree of things. A list begins with a header and ends with its last
// part, a record ends with its own STOP, and a leaf is bytes. Each thing also has its place in the
// Buffer.
type thing struct {
	header []byte
	parts  []*thing
	kind   thingKind

	start, end chain.Pos    // without later additions; a record's end is its STOP
	tail, own  chain.NodeID // the nodes that add to it, and that it is the content of
}

type thingKind int

const (
	leaf thingKind = iota
	listThing
	recordThing
)

func (x *thing) flatten(dst []byte) []byte {
	dst = append(dst, x.header...)
	for _, part := range x.parts {
		dst = part.flatten(dst)
	}
	if x.kind == recordThing {
		dst = append(dst, 0)
	}
	return dst
}

// all appends the thing and everything in it.
func (x *thing) all(dst []*thing) []*thing {
	dst = append(dst, x)
	for _, part := range x.parts {
		dst = part.all(dst)
	}
	return dst
}

// roper builds and edits a Buffer and its model together.
type roper struct {
	r    *rand.Rand
	b    *chain.Buffer
	root *thing
}

// grow makes a random thing.
func (p *roper) grow(depth int) *thing {
	x := &thing{kind: thingKind(p.r.IntN(3))}
	size := 1 + p.r.IntN(6)
	if p.r.IntN(50) == 0 {
		size = p.r.IntN(40<<10) + 1 // soon fills a block
	}
	x.header = make([]byte, size)
	for i := range x.header {
		x.header[i] = byte(p.r.IntN(255) + 1)
	}
	if x.kind != leaf && depth > 0 {
		for range p.r.IntN(4) {
			x.parts = append(x.parts, p.grow(depth-1))
		}
	}
	return x
}

// write appends the thing to the open run.
func (p *roper) write(x *thing) {
	at, mem := p.b.Extend(len(x.header))
	copy(mem, x.header)
	x.start = at
	for _, part := range x.parts {
		p.write(part)
	}
	switch x.kind {
	case recordThing:
		at, mem := p.b.Extend(1)
		mem[0] = 0
		x.end = at
	default:
		x.end = p.b.Tail()
	}
}

func (x *thing) stop() chain.Pos {
	if x.kind == recordThing {
		return x.end + 1
	}
	return x.end
}

// add appends a new part to a thing that is complete.
func (p *roper) add(x *thing) {
	if x.kind == leaf {
		return
	}
	if x.tail == 0 {
		if x.kind == recordThing {
			x.tail = p.b.AddAtStop(x.end)
		} else {
			x.tail = p.b.AddGrow(x.end, x.start)
		}
	}
	part := p.grow(2)
	x.parts = append(x.parts, part)
	p.b.OpenContent(x.tail)
	p.write(part)
	if p.r.IntN(3) == 0 { // bytes placed elsewhere must not come between
		_, mem := p.b.Place(1 + p.r.IntN(100))
		clear(mem)
	}
	p.b.Close()
}

// replace replaces part i of a thing.
func (p *roper) replace(x *thing, i int) {
	old := x.parts[i]
	node := old.own
	if node == 0 {
		node = p.b.AddReplace(old.start, old.stop())
	}
	part := p.grow(2)
	switch p.r.IntN(4) {
	case 0: // nothing
		p.b.SetEmpty(node)
		x.parts = append(x.parts[:i], x.parts[i+1:]...)
		return
	case 1: // foreign bytes
		part.kind, part.parts = leaf, nil
		part.start = p.b.AddForeign(part.header, false)
		part.end = part.start + chain.Pos(len(part.header))
		p.b.SetPlaced(node, part.start, part.end)
	case 2: // in several blocks
		part.kind, part.parts = leaf, nil
		p.b.SetEmpty(node)
		part.header = append(part.header, "xy"...)
		at, mem := p.b.Place(len(part.header) - 2)
		copy(mem, part.header)
		p.b.AddContent(node, at, at+chain.Pos(len(mem)))
		far := p.b.AddForeign(part.header[len(mem):], false)
		p.b.AddContent(node, far, far+2)
		part.start, part.end = at, far+2
	default:
		p.b.SetEmpty(node)
		p.b.OpenContent(node)
		p.write(part)
		p.b.Close()
	}
	part.own = node
	x.parts[i] = part
}

func (p *roper) check(t *testing.T) {
	t.Helper()
	want := p.root.flatten(nil)
	p.b.Seal()
	if got := p.b.AppendTo(nil); !bytes.Equal(want, got) || p.b.Len() != len(want) {
		t.Fatalf("the Buffer has %d bytes (-model +Buffer):\n%s", p.b.Len(), cmp.Diff(want, got))
	}
	var written bytes.Buffer
	if n, err := p.b.WriteTo(&written); err != nil || int(n) != len(want) || !bytes.Equal(want, written.Bytes()) {
		t.Fatalf("WriteTo wrote %d of %d bytes, %v", n, len(want), err)
	}
	for _, x := range p.root.all(nil) {
		want := x.flatten(nil)
		if r := p.rangeOf(x); r.Len() != len(want) || !bytes.Equal(r.AppendTo(nil), want) {
			t.Fatalf("a range (-model +Buffer):\n%s", cmp.Diff(want, r.AppendTo(nil)))
		}
	}
}

func (p *roper) rangeOf(x *thing) chain.Range { return p.b.Range(x.start, x.stop(), everyNode) }

// TestRope edits Buffers at random and compares them with the model.
func TestRope(t *testing.T) {
	b := new(chain.Buffer)
	for seed := range uint64(testmode.Of(100, 300)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := &roper{r: rand.New(rand.NewPCG(seed, 1)), b: b}
			b.Reset(seed%2 == 0)
			b.OpenRoot(int(seed % 9))
			p.root = p.grow(4)
			p.root.kind = recordThing
			p.write(p.root)
			b.Close()
			p.check(t)
			for range 40 {
				all := p.root.all(nil)
				x := all[p.r.IntN(len(all))]
				if n := len(x.parts); n > 0 && p.r.IntN(3) == 0 {
					p.replace(x, p.r.IntN(n))
				} else {
					p.add(x)
				}
				if p.r.IntN(4) == 0 {
					p.check(t)
				}
			}
			p.check(t)
			if head := b.Prepend(int(seed % 9)); len(head) != int(seed%9) {
				t.Fatalf("%d bytes of headroom of %d", len(head), seed%9)
			} else {
				copy(head, "prepended")
			}
			b.Seal()
			if got, want := b.AppendTo(nil), p.root.flatten([]byte("prepended"[:seed%9])); !bytes.Equal(got, want) {
				t.Fatalf("after Prepend (-model +Buffer):\n%s", cmp.Diff(want, got))
			}
			if b.Prepend(1) != nil {
				t.Fatal("more headroom than there was")
			}
			b.Free()
		})
	}
}
