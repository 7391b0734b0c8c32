package parquetmeta

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// maxSchemaDepth is how many nodes of a schema may be in each other.
const maxSchemaDepth = 256

// node is an element of the schema.
type node struct {
	at         uint32 // where it begins
	name       uint32 // where its name begins
	size       uint32 // of the name
	parent     int32
	end        int32 // the number after the last node in it
	leaf       int32 // the column's number, or -1
	definition int16 // the highest level
	repetition int16
}

// Node is a node of the schema: the root, a group or a column. It is small, and may be compared
// with ==. The zero Node is none and must not be used.
type Node struct {
	f *File
	i int32
}

// scanSchema goes over the list of the schema's elements and makes the nodes.
func (f *File) scanSchema(s *scanner, i int) (path string, next int) {
	f.nodes, f.leaves = nil, nil
	elem, n, i := s.listHeader(i)
	switch {
	case i < 0:
		return ".schema", bad
	case n == 0:
		return ".schema", s.fail(i, fmt.Errorf("%w: no root", ErrSchema))
	case elem != record:
		return ".schema", s.elements(i, elem, record)
	}
	// A list that lies about its length gets memory as its elements come.
	const usual = 16 // bytes of an element, at least
	f.nodes = make([]node, 0, min(n, (len(s.b)-i)/usual+1))
	f.leaves = make([]int32, 0, cap(f.nodes))
	var parents []int32 // the groups under way, and how many children each of them lacks
	var lacking []int32
	for k := range n {
		e := element{node: node{at: uint32(i), parent: -1, leaf: -1}}
		i = s.element(&e, i)
		if what, err := f.wrongNode(i, &e, len(parents)); i < 0 || err != nil {
			if err != nil {
				s.fail(int(e.at), err)
			}
			return ".schema[" + strconv.Itoa(k) + "]" + what, bad
		}
		if k > 0 {
			top := len(parents) - 1
			e.parent = parents[top]
			lacking[top]--
			p := &f.nodes[e.parent]
			e.definition, e.repetition = p.definition, p.repetition
			switch format.FieldRepetitionType(e.repeats) {
			case format.FieldRepetitionType_OPTIONAL:
				e.definition++
			case format.FieldRepetitionType_REPEATED:
				e.definition++
				e.repetition++
			}
		}
		if e.typed && e.children == 0 && k > 0 {
			e.leaf = int32(len(f.leaves))
			f.leaves = append(f.leaves, int32(k))
		}
		e.end = int32(k + 1)
		f.nodes = append(f.nodes, e.node)
		if e.children > 0 {
			parents, lacking = append(parents, int32(k)), append(lacking, int32(min(e.children, math.MaxInt32)))
		}
		for top := len(parents) - 1; top >= 0 && lacking[top] == 0; top-- {
			f.nodes[parents[top]].end = int32(k + 1)
			parents, lacking = parents[:top], lacking[:top]
		}
	}
	if len(parents) > 0 {
		return ".schema[" + strconv.Itoa(int(parents[len(parents)-1])) + "].num_children",
			s.fail(i, fmt.Errorf("%w: more children than elements", ErrSchema))
	}
	return "", i
}

// element is an element of the schema as it is on the wire, and the node that it becomes.
type element struct {
	node
	children, repeats int64
	typed, named      bool
}

// element goes over the SchemaElement at index i.
func (s *scanner) element(e *element, i int) (next int) {
	for last := int16(0); ; {
		id, kind, next := int16(0), byte(stop), 0
		if uint(i) < uint(len(s.b)) && s.b[i] >= 0x10 && last < 1<<14 { // as field does, without a call
			id, kind, next = last+int16(s.b[i]>>4), s.b[i]&15, i+1
		} else if id, kind, next = s.field(i, last); kind == stop {
			return next
		}
		last, i = id, next
		switch int(id)<<4 | int(kind) {
		case 1<<4 | i32:
			e.typed = true
			i = s.varint(i)
		case 3<<4 | i32:
			e.repeats, i = s.number(i, 32)
		case 4<<4 | text:
			var name []byte
			name, i = s.bytes(i)
			e.named, e.name, e.size = true, uint32(i-len(name)), uint32(len(name))
		case 5<<4 | i32:
			e.children, i = s.number(i, 32)
		case 10<<4 | record:
			i = s.record(i, 0)
		default:
			i = s.value(kind, i, 0)
		}
	}
}

// wrongNode checks the next element of a schema. It returns the error, and the path of the wrong
// field in the element; "" is the element itself. above is the number of groups that the element
// is in.
func (f *File) wrongNode(i int, e *element, above int) (what string, err error) {
	switch {
	case i < 0:
		return "", nil // known already
	case !e.named:
		return ".name", nocopy.ErrMissingRequired
	case e.children < 0:
		return ".num_children", nocopy.ErrNegative
	case len(f.nodes) > 0 && above == 0:
		return "", fmt.Errorf("%w: an element after the last child of the root", ErrSchema)
	case above >= maxSchemaDepth:
		return "", fmt.Errorf("%w: schema of more than %d levels", nocopy.ErrLimit, maxSchemaDepth)
	}
	return "", nil
}

// Schema returns the root of the schema.
func (f *File) Schema() Node { return Node{f, 0} }

func (n Node) of() *node { return &n.f.nodes[n.i] }

func (n Node) nameBytes() []byte {
	e := n.of()
	return n.f.b[e.name : e.name+e.size]
}

// Name returns the node's name.
func (n Node) Name() string { return string(n.nameBytes()) }

// Path returns the names of the nodes from below the root to this one, joined by dots. That of
// the root is "".
func (n Node) Path() string {
	var names []string
	for ; n.i > 0; n.i = n.of().parent {
		names = append(names, n.Name())
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, ".")
}

// Children yields the nodes in a group in their order. A column has none.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for i := n.i + 1; i < n.of().end; i = n.f.nodes[i].end {
			if !yield(Node{n.f, i}) {
				return
			}
		}
	}
}

// Column returns the column that the node is, and whether it is one.
func (n Node) Column() (Column, bool) {
	leaf := n.of().leaf
	return Column{f: n.f, i: int(leaf)}, leaf >= 0
}

// MaxDefinitionLevel returns how many of the nodes from the root to this one are optional or
// repeated.
func (n Node) MaxDefinitionLevel() int { return int(n.of().definition) }

// MaxRepetitionLevel returns how many of the nodes from the root to this one are repeated.
func (n Node) MaxRepetitionLevel() int { return int(n.of().repetition) }

// Metadata decodes all that the footer says about the node, without its children: its types and
// its field id. The message is the caller's. The error is a *[nocopy.Error], whose offset counts
// from the footer's beginning.
func (n Node) Metadata() (format.SchemaElement, error) {
	return part(n.f, int(n.of().at), format.ParseSchemaElement, "SchemaElement", ".schema["+strconv.Itoa(int(n.i))+"]")
}

// find returns the first column below node i whose names, joined by dots, are path, or -1. It
// looks at each node once, since a node's names take the same part of the path whichever way
// leads to it.
func (f *File) find(i int32, path string) int {
	for k := i + 1; k < f.nodes[i].end; k = f.nodes[k].end {
		e := &f.nodes[k]
		if len(path) < int(e.size) || path[:e.size] != string(f.b[e.name:e.name+e.size]) {
			continue
		}
		switch rest := path[e.size:]; {
		case rest == "":
			if e.leaf >= 0 {
				return int(e.leaf)
			}
		case rest[0] == '.':
			if leaf := f.find(k, rest[1:]); leaf >= 0 {
				return leaf
			}
		}
	}
	return -1
}

// paths finds columns by hashes of their paths. It is made for the second lookup: a program that
// looks up one column does not wait for it.
type paths struct {
	lookups atomic.Uint32
	once    sync.Once
	seed    uint64
	byHash  map[uint64]int32 // the first column with the hash
}

// column returns the number of the first column with this path, or -1.
func (f *File) column(path string) int {
	if len(f.leaves) > 16 && f.paths.lookups.Add(1) > 1 {
		f.paths.once.Do(f.hashPaths)
		leaf, ok := f.paths.byHash[hash(f.paths.seed, path)]
		if !ok {
			return -1
		}
		if (Column{f: f, i: int(leaf)}).Path() == path {
			return int(leaf)
		}
	}
	return f.find(0, path)
}

// hashPaths hashes the paths of all columns. A node's hash continues its parent's.
func (f *File) hashPaths() {
	hashes := make([]uint64, len(f.nodes))
	f.paths.byHash = make(map[uint64]int32, len(f.leaves))
	f.paths.seed = rand.Uint64()
	hashes[0] = f.paths.seed
	for k := 1; k < len(f.nodes); k++ {
		e := &f.nodes[k]
		h := hashes[e.parent]
		if e.parent > 0 {
			h = hash(h, ".")
		}
		h = hash(h, string(f.b[e.name:e.name+e.size]))
		hashes[k] = h
		if _, ok := f.paths.byHash[h]; !ok && e.leaf >= 0 {
			f.paths.byHash[h] = e.leaf
		}
	}
}

// hash is FNV-1a, which can go on from a hash. A clash costs a search, and with a random seed
// nobody can bring many about.
func hash(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
