package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Options.Kitex adds methods that Kitex's codecs call to each file, and a package for each
// service, as Kitex's generator makes it.

// codecView is the input of the template for the methods that codecs call.
type codecView struct {
	Version, Source, Package string
	Structs                  []names.Struct
}

// kitexView is the input of the template for a service's package.
type kitexView struct {
	Version, Source, Package string
	IDLName, Go              string // the service's names
	Namespace                string
	Handler                  string // the interface for servers of package rpc
	NewProcessor             string
	Unimplemented            string // a handler without methods of its own
	Imports                  []importLine
	Methods                  []kitexMethod
	Calls, Streams           bool // whether there are methods without and with streams
	Closes                   bool // whether a method is called Close
}

// kitexMethod is a method of the service, or of one that it extends.
type kitexMethod struct {
	Doc, IDLName, Go string
	Handler          string // the interface that has the method
	Args, Result     string // types; Result is "" if the method is oneway
	First, Success   string // method expressions, or ""
	Mode             string // Client, Server or Bidirectional if it streams
	Req, Res         string // the types sent and received by a streaming method
	Unary            bool   // not streaming, but called over transports for streams
}

// kitexFiles returns the files that Options.Kitex adds for p. others are the files generated so
// far.
func (g *generator) kitexFiles(p *schema.Program, others []File) []File {
	pkg := g.packageOf[p]
	source := names.PlainName(path.Base(strings.ReplaceAll(p.Path, `\`, "/")))
	view := codecView{Version: Version, Source: source, Package: pkg.Name}
	for _, s := range p.Structs {
		view.Structs = append(view.Structs, *pkg.Structs[s])
	}
	var files []File
	if len(view.Structs) > 0 {
		dir, base := path.Split(g.path(p))
		name := dir + "k-" + base
		g.checkTwice(p, name, others)
		files = append(files, File{name, g.execute(p, "codec.tmpl", view)})
	}
	for _, s := range p.Services {
		folder := serviceFolder(s)
		name := path.Join(pkg.Dir, folder, names.FileName(strings.ToLower(names.Public(s.Name))))
		g.checkServiceFolder(s, path.Join(pkg.Dir, folder))
		files = append(files, File{name, g.execute(p, "kitex.tmpl", g.kitexView(s, source))})
	}
	return files
}

// serviceFolder returns the name of the folder and package for a service: the service's name in
// lower case, as in Kitex's generator.
func serviceFolder(s *schema.Service) string {
	name := names.FolderName(names.PackageName(strings.ToLower(names.Public(s.Name))))
	if name == "internal" {
		name += "_" // other modules could not import it
	}
	return name
}

// checkServiceFolder adds an error if another package uses the service's folder.
func (g *generator) checkServiceFolder(s *schema.Service, dir string) {
	for _, p := range g.programs {
		if strings.EqualFold(g.packageOf[p].Dir, dir) {
			g.errs.Add(s.Pos, "the package for service %s is that of %s, too: change the service's name, or a \"namespace go\"", s.Name, p.Path)
		}
		for _, other := range p.Services {
			if other != s && strings.EqualFold(path.Join(g.packageOf[p].Dir, serviceFolder(other)), dir) {
				g.errs.Add(s.Pos, "the package for service %s is that of service %s, too: change the name of one", s.Name, other.Name)
			}
		}
	}
}

// kitexView returns the template's input for a service.
func (g *generator) kitexView(s *schema.Service, source string) kitexView {
	p := s.Program
	f := g.fileIn(&names.Package{}, p)
	view := kitexView{
		Version: Version, Source: source, IDLName: s.Name, Go: names.Public(s.Name), Package: serviceFolder(s),
		Namespace: strings.ReplaceAll(g.packageOf[p].Dir, "/", "."),
	}
	taken := names.Scope{}
	for name := range kitexNames {
		taken[name] = true
	}
	add := func(q *schema.Program) {
		pkg := g.packageOf[q]
		if f.aliases[pkg] != "" {
			return
		}
		at := g.importPath(pkg)
		if q != p {
			g.checkImportOnce(p, pkg, at)
		} else if at == "" || !validImport(at) {
			g.errs.Add(s.Pos, "the import path of package %s is needed: give -package-prefix, or an output directory in a module", pkg.Dir)
		}
		f.aliases[pkg] = taken.Unique(pkg.Name)
		line := importLine{Path: at}
		if f.aliases[pkg] != path.Base(at) {
			line.Alias = f.aliases[pkg]
		}
		f.imports = append(f.imports, line)
	}
	add(p)
	n := g.packageOf[p].Services[s]
	view.Handler, view.NewProcessor, view.Unimplemented = f.qualify(p, n.Handler), f.qualify(p, n.NewProcessor), f.qualify(p, n.Unimplemented)
	var chain []*schema.Service
	for b := s; b != nil; b = b.Extends {
		chain = append([]*schema.Service{b}, chain...)
	}
	for _, b := range chain {
		bn := g.packageOf[b.Program].Services[b]
		if len(b.Functions) > 0 {
			add(b.Program)
		}
		for i, fn := range b.Functions {
			m := f.kitexMethod(b, fn, bn.Methods[i].Go, add)
			view.Methods = append(view.Methods, m)
			view.Streams = view.Streams || m.Mode != ""
			view.Calls = view.Calls || m.Mode == ""
			view.Closes = view.Closes || m.Go == "Close"
		}
	}
	slices.SortStableFunc(f.imports, func(a, b importLine) int { return strings.Compare(a.Path, b.Path) })
	view.Imports = f.imports
	return view
}

// kitexNames holds the names of imports, declarations and variables in a service's package.
var kitexNames = names.Words(`context client callopt streamcall serviceinfo streaming server nocopykitex service
	Handler Client kClient NewServiceInfo NewServer RegisterService NewClient MustNewClient
	ctx args callOptions stream handler destService opts svr st h c k err req`)

// kitexMethod returns the template's input for a method of s. add imports the package of a file.
func (f *file) kitexMethod(s *schema.Service, fn *schema.Function, name string, add func(*schema.Program)) kitexMethod {
	p := s.Program
	own := f.g.packageOf[p].Names
	m := kitexMethod{
		Doc: withDeprecation(fn.Doc, fn.Annotations), IDLName: fn.Name, Go: name,
		Handler: f.qualify(p, own.Services[s].Handler), Args: f.qualify(p, own.Structs[fn.Args].Type),
	}
	switch mode, _ := fn.Annotations.Get("streaming.mode"); mode {
	case "":
	case "unary":
		m.Unary = true
	case "client", "server", "bidirectional":
		if len(fn.Args.Fields) != 1 || fn.Args.Fields[0].Type.Kind != schema.StructKind || fn.Returns == nil ||
			fn.Returns.Kind != schema.StructKind || fn.Oneway || len(fn.Result.Fields) > 1 {
			f.g.errs.Add(fn.Pos, "method %s streams: it must have one argument, a struct, return a struct, and declare no exceptions", fn.Name)
			return m
		}
		m.Mode = names.Upper(mode[:1]) + mode[1:]
		req, res := fn.Args.Fields[0].Type.Struct, fn.Returns.Struct
		add(req.Program)
		add(res.Program)
		m.Req = f.qualify(req.Program, f.g.packageOf[req.Program].Structs[req].Type)
		m.Res = f.qualify(res.Program, f.g.packageOf[res.Program].Structs[res].Type)
		return m
	default:
		f.g.errs.Add(fn.Pos, "method %s has the unknown streaming.mode %q: there are client, server, bidirectional and unary", fn.Name, mode)
	}
	if len(fn.Args.Fields) > 0 {
		m.First = m.Args + ".Get" + own.Structs[fn.Args].Fields[0].Go
	}
	if fn.Result != nil {
		m.Result = f.qualify(p, own.Structs[fn.Result].Type)
		if fn.Returns != nil {
			m.Success = m.Result + ".Get" + own.Structs[fn.Result].Fields[0].Go
		}
	}
	return m
}
