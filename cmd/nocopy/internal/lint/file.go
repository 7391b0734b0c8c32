package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// file is one file as rules see it: lists of all that is in it, in the order of the text.
type file struct {
	*linter
	prog   *schema.Program
	src    []byte
	tokens []idl.Token // with comments

	structs   []*idl.Struct
	enums     []*idl.Enum
	services  []*idl.Service
	functions []*idl.Function
	fields    []*idl.Field // also arguments and declared exceptions
	types     []*idl.Type  // also those in others
	values    []*idl.Value // likewise
	names     []idl.Ident  // of all that has one, annotations and namespaces included
	docs      map[int]string

	starts   map[int]bool // the offsets at which declarations start
	ends     map[int]int  // the offsets at which the last one ends that starts on a line
	off      []stretch
	rule     *Rule // the one that is being applied
	findings []Finding
}

// newFile collects what is in a file: nothing, if it does not parse.
func newFile(l *linter, p *schema.Program, src []byte) *file {
	f := &file{linter: l, prog: p, src: src, starts: map[int]bool{}, ends: map[int]int{}}
	if !p.AST.Complete {
		return f
	}
	f.tokens = p.AST.Tokens(src)
	for _, n := range p.AST.Namespaces {
		f.names = append(f.names, n.Name)
		f.annotated(n.Pos.Offset, n.Name.Pos.Offset+1, n.Annotations)
	}
	for _, d := range p.AST.Definitions {
		f.definition(d)
	}
	f.docs = docstrings(f.tokens, f.starts)
	f.directives()
	return f
}

func (f *file) definition(d idl.Definition) {
	f.names = append(f.names, d.DefName())
	switch d := d.(type) {
	case *idl.Const:
		f.declared(d.Tokens, d.Doc, d.Annotations)
		f.typ(d.Type)
		f.value(d.Value)
	case *idl.Typedef:
		f.declared(d.Tokens, d.Doc, d.Annotations)
		f.typ(d.Type)
	case *idl.Enum:
		f.declared(d.Tokens, d.Doc, d.Annotations)
		f.enums = append(f.enums, d)
		for _, v := range d.Values {
			f.names = append(f.names, v.Name)
			f.declared(v.Tokens, v.Doc, v.Annotations)
		}
	case *idl.Struct:
		f.declared(d.Tokens, d.Doc, d.Annotations)
		f.structs = append(f.structs, d)
		f.fieldList(d.Fields)
	case *idl.Service:
		f.declared(d.Tokens, d.Doc, d.Annotations)
		f.services = append(f.services, d)
		for _, fn := range d.Functions {
			f.names = append(f.names, fn.Name)
			f.declared(fn.Tokens, fn.Doc, fn.Annotations)
			f.functions = append(f.functions, fn)
			f.typ(fn.Result)
			f.fieldList(fn.Args)
			f.fieldList(fn.Throws)
		}
	}
}

func (f *file) fieldList(list []*idl.Field) {
	for _, field := range list {
		f.names = append(f.names, idl.Ident(field.Name))
		f.declared(field.Tokens, field.Doc, field.Annotations)
		f.fields = append(f.fields, field)
		f.typ(field.Type)
		f.value(field.Default)
	}
}

// typ adds a type and those in it; nil is none.
func (f *file) typ(t *idl.Type) {
	if t == nil {
		return
	}
	f.types = append(f.types, t)
	f.annotated(t.Pos.Offset, t.Pos.Offset+1, t.Annotations)
	switch {
	case t.Map != nil:
		f.typ(t.Map.Key)
		f.typ(t.Map.Value)
	case t.Set != nil:
		f.typ(t.Set.Elem)
	case t.List != nil:
		f.typ(t.List.Elem)
	}
}

// value adds a value and those in it; nil is none.
func (f *file) value(v *idl.Value) {
	if v == nil {
		return
	}
	f.values = append(f.values, v)
	if v.List != nil {
		for _, e := range v.List.Elems {
			f.value(e)
		}
	}
	if v.Map != nil {
		for _, e := range v.Map.Entries {
			f.value(e.Key)
			f.value(e.Value)
		}
	}
}

// report adds a finding of the rule that is being applied.
func (f *file) report(pos idl.Position, format string, args ...any) *Finding {
	return f.reportAs(f.rule.Severity, pos, format, args...)
}

func (f *file) reportAs(s Severity, pos idl.Position, format string, args ...any) *Finding {
	f.findings = append(f.findings, Finding{Pos: pos, Rule: f.rule.Name, Severity: s, Message: fmt.Sprintf(format, args...)})
	return &f.findings[len(f.findings)-1]
}

// token returns the index of the token at an offset.
func (f *file) token(offset int) int {
	i, _ := slices.BinarySearchFunc(f.tokens, offset, func(t idl.Token, offset int) int { return cmp.Compare(t.Pos.Offset, offset) })
	return i
}

// docstrings returns, by the offsets at which declarations start, their comments as thriftcheck
// sees them: only a /** */ that ends on the line before or on the same one, and each of these
// once.
func docstrings(tokens []idl.Token, starts map[int]bool) map[int]string {
	docs := map[int]string{}
	text, end := "", 0
	for _, t := range tokens {
		switch {
		case t.Kind == idl.CommentToken && strings.HasPrefix(t.Text, "/**") && len(t.Text) > len("/**/"):
			text, end = strings.TrimSpace(strings.Trim(t.Text, "/*")), t.EndLine()
		case t.Kind != idl.CommentToken && starts[t.Pos.Offset] && t.Pos.Line-end <= 1:
			docs[t.Pos.Offset], text = text, ""
		}
	}
	return docs
}
