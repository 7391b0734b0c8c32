package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
)

// Bounds of what a file may make a command do.
const (
	maxNodes  = 100_000 // that are looked at, those that aliases repeat included
	maxDepth  = 50
	maxErrors = 10

	spent = math.MinInt / 2 // nodes that may still be looked at, after the mistake was reported
)

// A Value is a scalar of the file, as it is written there, and its place.
type Value struct {
	Text         string
	Line, Column int
}

// parser reads a file's tree, and collects what is wrong with it.
type parser struct {
	name  string
	left  int // nodes that may still be looked at
	depth int
	errs  []error
}

// document returns the root of a text; nil if the text has no values, or is wrong.
func (p *parser) document(text []byte) *yaml.Node {
	if at, what := invalid(text); what != "" {
		line, column := place(text[:at])
		p.fail(&yaml.Node{Line: line, Column: column}, "%s", what)
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	var doc, next yaml.Node
	if err == nil {
		if err = loader.Load(&doc); err == io.EOF {
			return nil
		}
	}
	if err == nil {
		if err = loader.Load(&next); err == nil {
			p.fail(&next, "the file has more than one document")
		} else if err == io.EOF {
			err = nil
		}
	}
	var at *yaml.LoadError
	switch {
	case errors.As(err, &at):
		p.fail(&yaml.Node{Line: max(at.Mark.Line, 1), Column: max(at.Mark.Column, 1)}, "%s", at.Message)
	case err != nil:
		p.fail(&yaml.Node{Line: 1, Column: 1}, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	case len(doc.Content) > 0:
		return doc.Content[0]
	}
	return nil
}

// invalid returns the first place in a text that no project file has, and what is wrong there.
func invalid(text []byte) (at int, what string) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return i, "the file is not in UTF-8"
		case unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r):
			return i, fmt.Sprintf("the file has the control character %U", r)
		}
		i += size
	}
	return 0, ""
}

// place returns the line and column after a text.
func place(before []byte) (line, column int) {
	line = 1 + strings.Count(string(before), "\n")
	return line, 1 + utf8.RuneCount(before[strings.LastIndexByte(string(before), '\n')+1:])
}

// fail notes what is wrong at a node.
func (p *parser) fail(n *yaml.Node, format string, args ...any) {
	if len(p.errs) < maxErrors {
		what := shortened(fmt.Errorf(format, args...).Error(), 400)
		p.errs = append(p.errs, fmt.Errorf("%s:%d:%d: %s", p.name, n.Line, n.Column, what))
	}
}

// enter returns what a node stands for, if more nodes may be looked at. leave ends it.
func (p *parser) enter(n *yaml.Node) (*yaml.Node, bool) {
	at := n
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	p.left--
	p.depth++
	switch {
	case p.left < 0:
		p.tooMany(at)
		return n, false
	case p.depth > maxDepth:
		p.fail(at, "values are nested more than %d deep", maxDepth)
		return n, false
	}
	return n, true
}

func (p *parser) leave() { p.depth-- }

// tooMany reports, once, that no more nodes may be looked at.
func (p *parser) tooMany(at *yaml.Node) {
	if p.left > spent {
		p.fail(at, "the file has more than %d values, with those that aliases (*) repeat", maxNodes)
	}
	p.left = spent
}

// count reports whether a node and all in it may be looked at.
func (p *parser) count(n *yaml.Node) bool {
	n, ok := p.enter(n)
	defer p.leave()
	for _, each := range n.Content {
		ok = ok && p.count(each)
	}
	return ok
}

// A pair is a key of a mapping and its value.
type pair struct {
	name       string
	key, value *yaml.Node
}

// mapping calls f for each key of a mapping, which is what the node has to be. Keys must be known,
// unless known is nil. what is the mapping in messages.
func (p *parser) mapping(n *yaml.Node, what string, known []string, f func(pair)) {
	n, ok := p.enter(n)
	defer p.leave()
	if !ok {
		return
	}
	if n.Kind != yaml.MappingNode {
		if n.Tag != "!!null" { // nothing is given
			p.fail(n, "%s has keys and values, not %s", what, kind(n))
		}
		return
	}
	for _, kv := range p.pairs(n) {
		if known != nil && !slices.Contains(known, kv.name) {
			p.unknown(kv, what, known)
			continue
		}
		if p.left < 0 {
			return
		}
		f(kv)
	}
}

// unknown reports that a mapping has no such key.
func (p *parser) unknown(kv pair, what string, known []string) {
	if len(p.errs) >= maxErrors { // the nearest key is not told
		return
	}
	hint := "known are " + strings.Join(known, ", ")
	if near := idlfiles.Nearest(kv.name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	p.fail(kv.key, "unknown key %s in %s, %s", quoted(kv.name), what, hint)
}

// pairs returns the keys and values of a mapping: its own, then those that << merges and that it
// lacks.
func (p *parser) pairs(n *yaml.Node) []pair { return p.merge(n, nil, map[string]bool{}) }

// merge adds the keys and values of a mapping that are not in all, whose keys are known.
func (p *parser) merge(n *yaml.Node, all []pair, known map[string]bool) []pair {
	var merged []*yaml.Node
	own := map[string]bool{}
	if p.left -= len(n.Content) / 2; p.left < 0 {
		p.tooMany(n)
		return all
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			p.fail(key, "a key is a text, not %s", kind(key))
		case key.Tag == "!!merge" || key.Value == "<<" && key.Style == 0:
			merged = append(merged, value)
		case own[key.Value]:
			p.fail(key, "key %s is there twice", quoted(key.Value))
		case !known[key.Value]:
			all = append(all, pair{key.Value, key, value})
			fallthrough
		default:
			own[key.Value], known[key.Value] = true, true
		}
	}
	for _, m := range merged {
		of, ok := p.enter(m)
		switch {
		case !ok:
		case of.Kind == yaml.SequenceNode:
			for _, each := range of.Content {
				if each, ok := p.enter(each); ok && each.Kind == yaml.MappingNode {
					all = p.merge(each, all, known)
				} else if ok {
					p.fail(m, "<< merges mappings, not %s", kind(each))
				}
				p.leave()
			}
		case of.Kind == yaml.MappingNode:
			all = p.merge(of, all, known)
		default:
			p.fail(m, "<< merges a mapping, not %s", kind(of))
		}
		p.leave()
	}
	return all
}

// scalar returns the value that a node is.
func (p *parser) scalar(n *yaml.Node, what string) (Value, bool) {
	at := n
	n, ok := p.enter(n)
	defer p.leave()
	switch {
	case !ok:
		return Value{}, false
	case n.Kind != yaml.ScalarNode:
		p.fail(at, "%s is one value, not %s", what, kind(n))
		return Value{}, false
	case n.Tag == "!!null":
		p.fail(at, "%s has no value", what)
		return Value{}, false
	case strings.ContainsFunc(n.Value, unicode.IsControl):
		p.fail(at, "%s has a control character", what)
		return Value{}, false
	}
	return Value{n.Value, at.Line, at.Column}, true
}

// scalars returns the values of a node that is one value or a list of them.
func (p *parser) scalars(n *yaml.Node, what string) (all []Value) {
	of, ok := p.enter(n)
	defer p.leave()
	if !ok || of.Kind != yaml.SequenceNode {
		if v, ok := p.scalar(n, what); ok {
			all = append(all, v)
		}
		return all
	}
	for _, each := range of.Content {
		if v, ok := p.scalar(each, what); ok {
			all = append(all, v)
		}
	}
	return all
}

// kind returns what a node is, for messages.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	return quoted(n.Value)
}

// quoted returns a text of the file for a message.
func quoted(text string) string {
	return fmt.Sprintf("%q", shortened(text, 60))
}

// shortened returns at most so many characters of a text.
func shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// decode sets v, whose type is that of a configuration, to what a node has. Names of keys are
// those of the fields, in any case.
func (p *parser) decode(n *yaml.Node, what string, v reflect.Value) {
	if u, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		p.unmarshal(n, u)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		p.fields(n, what, v)
	case reflect.Slice:
		for _, each := range p.scalars(n, what) {
			v.Set(reflect.Append(v, reflect.ValueOf(each.Text)))
		}
	default:
		value, ok := p.scalar(n, what)
		if !ok {
			return
		}
		i, err := strconv.Atoi(value.Text)
		if err != nil {
			p.fail(n, "%s is a number, not %s", what, quoted(value.Text))
		}
		v.SetInt(int64(i))
	}
}

// fields is decode for a struct.
func (p *parser) fields(n *yaml.Node, what string, v reflect.Value) {
	var known []string
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("json") != "-" {
			name := strings.ToLower(f.Name[:1]) + f.Name[1:]
			known, fields[strings.ToLower(name)] = append(known, name), v.Field(i)
		}
	}
	p.mapping(n, what, nil, func(kv pair) {
		field, ok := fields[strings.ToLower(kv.name)]
		if !ok {
			p.unknown(kv, what, known)
			return
		}
		p.decode(kv.value, what+"."+kv.name, field)
	})
}

// unmarshal decodes a value that reads JSON.
func (p *parser) unmarshal(n *yaml.Node, u json.Unmarshaler) {
	var tree any
	err := n.Decode(&tree)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(tree); err == nil {
			err = u.UnmarshalJSON(text)
		}
	}
	if err != nil {
		p.fail(n, "%w", errors.New(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
}
