package nocopythrift_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// apiWriter writes a line for each exported name of a package, in the form of the files in the
// folder api of Go. Names of parameters are left out. Type parameters are $0, $1 and so on.
type apiWriter struct {
	pkg        *types.Package
	names      map[types.Object]string // public names of internal types
	deprecated map[string]bool
	prefix     string
	lines      map[string]bool
	mentioned  map[types.Object]string // what is promised of names that byMention is about
	everything bool                    // also writes what is not mentioned
	written    map[types.Object]bool   // objects with a line
}

// promises reports whether a name, or a method or field of the type with that name, has a line.
func (w *apiWriter) promises(name string, obj types.Object) bool {
	switch o := obj.(type) {
	case *types.Func:
		obj = o.Origin()
	case *types.Var:
		obj = o.Origin()
	}
	if byMention(w.pkg.Path(), name) && w.mentioned[obj] == "" && !w.everything {
		return false
	}
	w.written[obj] = true
	return true
}

// add adds the line of a name, of a method or field with its type's name.
func (w *apiWriter) add(name, format string, args ...any) {
	line := w.prefix + fmt.Sprintf(format, args...)
	if w.deprecated[name] {
		line += " //deprecated"
	}
	w.lines[line] = true
}

func (w *apiWriter) all() {
	scope := w.pkg.Scope()
	for _, name := range scope.Names() {
		if !token.IsExported(name) {
			continue
		}
		obj := scope.Lookup(name)
		if t, ok := obj.(*types.TypeName); ok {
			w.typeName(t)
			continue
		}
		if !w.promises(name, obj) {
			continue
		}
		switch obj := obj.(type) {
		case *types.Const:
			w.constant(obj)
		case *types.Var:
			w.add(name, "var %s %s", name, w.text(obj.Type()))
		case *types.Func:
			sig := obj.Signature()
			w.add(name, "func %s%s%s", name, w.params(sig.TypeParams()), w.signature(sig))
		}
	}
}

// constant writes a constant with its value. Programs may keep it, also if its type is internal.
func (w *apiWriter) constant(c *types.Const) {
	typ := w.text(c.Type())
	if b, ok := c.Type().(*types.Basic); ok {
		typ = strings.Replace(b.Name(), "untyped ", "ideal-", 1)
	}
	w.add(c.Name(), "const %s %s = %s", c.Name(), typ, c.Val().ExactString())
}

// typeName writes a type, its fields and its methods. One of thriftimpl is written if it is
// mentioned, or a field or a method of it.
func (w *apiWriter) typeName(obj *types.TypeName) {
	all := w.lines
	w.lines = map[string]bool{}
	isMentioned := w.promises(obj.Name(), obj) || !byMention(obj.Pkg().Path(), "")
	before := len(w.written)
	w.typeLines(obj)
	if isMentioned || len(w.written) > before {
		maps.Copy(all, w.lines)
	}
	w.lines = all
}

func (w *apiWriter) typeLines(obj *types.TypeName) {
	name := obj.Name()
	if obj.IsAlias() {
		n, ok := types.Unalias(obj.Type()).(*types.Named)
		if !ok || n.Obj().Pkg() == nil || !isInternal(n.Obj().Pkg().Path()) || w.names[n.Obj()] != path.Base(w.pkg.Path())+"."+name {
			w.add(name, "type %s = %s", name, w.text(types.Unalias(obj.Type())))
			return
		}
	}
	typ := types.Unalias(obj.Type())
	head := "type " + name
	if n, ok := typ.(*types.Named); ok {
		head += w.params(n.TypeParams())
	}
	switch u := typ.Underlying().(type) {
	case *types.Struct:
		w.add(name, "%s struct", head)
		for f := range u.Fields() {
			switch {
			case !f.Exported() || !w.promises(name, f):
			case f.Embedded():
				w.add(name+"."+f.Name(), "%s struct, embedded %s", head, w.text(f.Type()))
			default:
				w.add(name+"."+f.Name(), "%s struct, %s %s", head, f.Name(), w.text(f.Type()))
			}
		}
	case *types.Interface:
		w.add(name, "%s interface", head)
		w.interfaceParts(name, head, u)
		return
	default:
		w.add(name, "%s %s", head, w.text(u))
	}
	w.methods(name, typ)
}

func (w *apiWriter) interfaceParts(name, head string, u *types.Interface) {
	for m := range u.ExplicitMethods() {
		if m.Exported() {
			w.add(name+"."+m.Name(), "%s interface, %s%s", head, m.Name(), w.signature(m.Signature()))
		} else {
			w.add(name, "%s interface, unexported methods", head)
		}
	}
	for e := range u.EmbeddedTypes() {
		w.add(name, "%s interface, embedded %s", head, w.text(e))
	}
}

// methods writes the exported methods of a type and of pointers to it, except those of an embedded
// field that has an exported name.
func (w *apiWriter) methods(name string, typ types.Type) {
	values := types.NewMethodSet(typ)
	for sel := range types.NewMethodSet(types.NewPointer(typ)).Methods() {
		m := sel.Obj().(*types.Func)
		if !m.Exported() || !w.promises(name, m) {
			continue
		}
		if st, ok := typ.Underlying().(*types.Struct); ok && len(sel.Index()) > 1 && st.Field(sel.Index()[0]).Exported() {
			continue
		}
		recv := name
		if n, ok := typ.(*types.Named); ok && n.TypeParams().Len() > 0 {
			list := make([]string, n.TypeParams().Len())
			for i := range list {
				list[i] = fmt.Sprintf("$%d", i)
			}
			recv += "[" + strings.Join(list, ", ") + "]"
		}
		if values.Lookup(m.Pkg(), m.Name()) == nil {
			recv = "*" + recv
		}
		w.add(name+"."+m.Name(), "method (%s) %s%s", recv, m.Name(), w.signature(sel.Type().(*types.Signature)))
	}
}

func (w *apiWriter) params(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	var parts []string
	for p := range list.TypeParams() {
		parts = append(parts, w.text(p)+" "+w.text(p.Constraint()))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (w *apiWriter) signature(s *types.Signature) string {
	in := w.tuple(s.Params(), s.Variadic())
	out := w.tuple(s.Results(), false)
	switch s.Results().Len() {
	case 0:
		return "(" + in + ")"
	case 1:
		return "(" + in + ") " + out
	}
	return "(" + in + ") (" + out + ")"
}

func (w *apiWriter) tuple(list *types.Tuple, variadic bool) string {
	var parts []string
	for v := range list.Variables() {
		text := w.text(v.Type())
		if variadic && len(parts) == list.Len()-1 {
			text = "..." + strings.TrimPrefix(text, "[]")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// text writes a type.
func (w *apiWriter) text(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return "unsafe.Pointer"
		}
		return types.Typ[t.Kind()].Name()
	case *types.Named:
		return w.name(t.Obj()) + w.args(t.TypeArgs())
	case *types.TypeParam:
		return fmt.Sprintf("$%d", t.Index())
	case *types.Pointer:
		return "*" + w.text(t.Elem())
	case *types.Slice:
		return "[]" + w.text(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), w.text(t.Elem()))
	case *types.Map:
		return "map[" + w.text(t.Key()) + "]" + w.text(t.Elem())
	case *types.Chan:
		return [...]string{"chan ", "chan<- ", "<-chan "}[t.Dir()] + w.text(t.Elem())
	case *types.Signature:
		return "func" + w.signature(t)
	case *types.Union:
		var parts []string
		for term := range t.Terms() {
			tilde := ""
			if term.Tilde() {
				tilde = "~"
			}
			parts = append(parts, tilde+w.text(term.Type()))
		}
		return strings.Join(parts, " | ")
	case *types.Interface:
		return w.literal(t)
	case *types.Struct:
		var parts []string
		for f := range t.Fields() {
			parts = append(parts, f.Name()+" "+w.text(f.Type()))
		}
		return "struct{ " + strings.Join(parts, "; ") + " }"
	default:
		return fmt.Sprintf("%T", t)
	}
}

// literal writes an interface that has no name.
func (w *apiWriter) literal(t *types.Interface) string {
	if t.Empty() {
		return "any"
	}
	var parts []string
	for m := range t.ExplicitMethods() {
		parts = append(parts, m.Name()+w.signature(m.Signature()))
	}
	for e := range t.EmbeddedTypes() {
		parts = append(parts, w.text(e))
	}
	slices.Sort(parts)
	return "interface{ " + strings.Join(parts, "; ") + " }"
}

func (w *apiWriter) args(list *types.TypeList) string {
	var parts []string
	for a := range list.Types() {
		parts = append(parts, w.text(a))
	}
	if parts == nil {
		return ""
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// name writes the name of a type, with its package's unless that is the one that is written. An
// internal type has the name of its public alias. One without is "internal".
func (w *apiWriter) name(obj *types.TypeName) string {
	switch {
	case obj.Pkg() == nil || obj.Pkg() == w.pkg:
		return obj.Name()
	case w.names[obj] != "":
		return strings.TrimPrefix(w.names[obj], path.Base(w.pkg.Path())+".")
	case importable(obj.Pkg().Path()):
		return path.Base(obj.Pkg().Path()) + "." + obj.Name()
	case strings.HasPrefix(obj.Pkg().Path(), module+"/") && isInternal(obj.Pkg().Path()):
		return "internal." + obj.Name()
	}
	return path.Base(obj.Pkg().Path()) + "." + obj.Name()
}

// TestAPIText: each kind of name has its line, and what programs cannot see has none.
func TestAPIText(t *testing.T) {
	const src = `package p

type Status int32

const (
	Alive Status = 2
	Max          = 1 << 20
	hidden       = 1
)

var ErrX error

type inner struct{ A int }

func (inner) Promoted(b []byte) {}

type Server struct {
	// MaxFrame limits.
	//
	// Deprecated: use Limits.
	MaxFrame int
	Reader
	inner
	secret int
}

func (s *Server) Serve(name string, opts ...Option) (n int, err error) { return }
func (s Server) Value() any                                             { return nil }

type Option interface{ apply() }

type Caller interface {
	Reader
	Call(m map[string]*Server, f func(int8) error) <-chan [4]byte
}

type Reader interface{ Read([]byte) (int, error) }

type List[S any, K comparable] struct{ Items []S }

func (l *List[T, K]) Get(k K) T { panic(0) }

type Alias = map[string]int

// Old is New.
//
// Deprecated: use New.
func Old[A ~int | ~string, B interface{ Less(A) bool }](a A, b B) {}
`
	const want = `pkg p, const Alive Status = 2
pkg p, const Max ideal-int = 1048576
pkg p, func Old[$0 interface{ ~int | ~string }, $1 interface{ Less($0) bool }]($0, $1) //deprecated
pkg p, method (*List[$0, $1]) Get($1) $0
pkg p, method (*Server) Serve(string, ...Option) (int, error)
pkg p, method (Server) Promoted([]uint8)
pkg p, method (Server) Value() any
pkg p, type Alias = map[string]int
pkg p, type Caller interface
pkg p, type Caller interface, Call(map[string]*Server, func(int8) error) <-chan [4]uint8
pkg p, type Caller interface, embedded Reader
pkg p, type List[$0 any, $1 comparable] struct
pkg p, type List[$0 any, $1 comparable] struct, Items []$0
pkg p, type Option interface
pkg p, type Option interface, unexported methods
pkg p, type Reader interface
pkg p, type Reader interface, Read([]uint8) (int, error)
pkg p, type Server struct
pkg p, type Server struct, MaxFrame int //deprecated
pkg p, type Server struct, embedded Reader
pkg p, type Status int32
pkg p, var ErrX error
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("p", fset, []*ast.File{parse([]byte(src))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	w := &apiWriter{pkg: pkg, deprecated: deprecated(t, listed{Dir: dir, GoFiles: []string{"p.go"}}), prefix: "pkg p, ", lines: lines, written: map[types.Object]bool{}}
	w.all()
	if diff := cmp.Diff(want, strings.Join(slices.Sorted(maps.Keys(lines)), "\n")+"\n"); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
