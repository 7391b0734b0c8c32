package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/project"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/gateway"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// site is the page and what it asks for.
type site struct {
	*Command
	idl     *idlfiles.IDL
	server  *target.Server
	gateway *gateway.Gateway
	traffic *traffic

	dialer []rpc.Option // for connections whose traffic is shown
	mu     sync.Mutex
	others map[string]*environment // that the page has called, by their names
}

//go:embed page
var pageFiles embed.FS

// handler returns what answers requests that may be answered.
func (s *site) handler() http.Handler {
	page := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			file, err := pageFiles.ReadFile("page/" + name)
			if err != nil {
				panic(err) // it is embedded
			}
			// Texts of servers are only ever shown as text; nothing but the page's own script runs.
			w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
			http.ServeContent(w, req, name, time.Time{}, bytes.NewReader(file))
		}
	}
	own := map[string]http.HandlerFunc{
		"GET /": page("index.html"), "GET /_console/console.js": page("console.js"), "GET /_console/console.css": page("console.css"),
		"GET /_console/state": s.state, "POST /_console/call": s.call, "GET /_console/traffic": s.traffic.ServeHTTP,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if h := own[req.Method+" "+req.URL.Path]; h != nil {
			h(w, req)
			return
		}
		s.gateway.ServeHTTP(w, req)
	})
}

// The forms of the page's state.
type (
	stateJSON struct {
		Address  string        `json:"address"`
		Wire     string        `json:"wire"`
		Services []serviceJSON `json:"services"`
		Types    *typesJSON    `json:"types"`
		Watch    string        `json:"watch,omitempty"`
		// Of the project file: its calls, the target's name, and the names that the page may call
		Saved        []project.Call `json:"saved,omitempty"`
		Target       string         `json:"target,omitempty"`
		Environments []string       `json:"environments,omitempty"`
	}
	serviceJSON struct {
		Name    string       `json:"name"`
		Doc     string       `json:"doc,omitempty"`
		Methods []methodJSON `json:"methods"`
	}
	methodJSON struct {
		Name    string   `json:"name"`
		Doc     string   `json:"doc,omitempty"`
		Oneway  bool     `json:"oneway,omitempty"`
		Args    string   `json:"args"` // a key of Structs
		Returns string   `json:"returns,omitempty"`
		Throws  []string `json:"throws,omitempty"`
		Routes  []string `json:"routes,omitempty"`
	}
	typesJSON struct {
		Structs map[string]*structJSON `json:"structs"`
		Enums   map[string]*enumJSON   `json:"enums"`
		structs map[*thriftimpl.Desc]string
		enums   map[descriptor.Enum]string
	}
	structJSON struct {
		Name   string      `json:"name"`
		Union  bool        `json:"union,omitempty"`
		Fields []fieldJSON `json:"fields"`
	}
	fieldJSON struct {
		Name     string   `json:"name"`
		Type     typeJSON `json:"type"`
		Required bool     `json:"required,omitempty"`
		Doc      string   `json:"doc,omitempty"`
	}
	// typeJSON is a type: of is a key of Structs or Enums.
	typeJSON struct {
		// Bool, int, double, string, binary, uuid, enum, struct, list (also of sets) or map, in small
		// letters
		Kind string    `json:"kind"`
		Text string    `json:"text"`
		Of   string    `json:"of,omitempty"`
		Key  *typeJSON `json:"key,omitempty"`
		Elem *typeJSON `json:"elem,omitempty"`
	}
	enumJSON struct {
		Values []string `json:"values"`
	}
)

// state answers with all that the page shows.
func (s *site) state(w http.ResponseWriter, _ *http.Request) {
	types := &typesJSON{map[string]*structJSON{}, map[string]*enumJSON{}, map[*thriftimpl.Desc]string{}, map[descriptor.Enum]string{}}
	all := stateJSON{Address: target.Shown(s.Address), Wire: s.server.Wire, Types: types, Watch: s.Watch}
	if s.project != nil {
		all.Saved, all.Target, all.Environments = s.project.Target.Calls, s.project.Target.Name, s.project.Environments()
	}
	routes := map[string][]string{}
	for _, r := range s.gateway.Routes() {
		verb := r.Verb
		if verb == "" {
			verb = "any"
		}
		routes[r.Service+"."+r.Method.Name()] = append(routes[r.Service+"."+r.Method.Name()], verb+" "+r.Path)
	}
	for _, service := range s.idl.Services {
		j := serviceJSON{Name: service.Name(), Doc: service.Doc(), Methods: []methodJSON{}}
		for m := range service.AllMethods() {
			mj := methodJSON{Name: m.Name(), Doc: m.Doc(), Oneway: m.Oneway(), Args: types.structure(m.Args()), Routes: routes[service.Name()+"."+m.Name()]}
			if t, ok := m.Returns(); ok {
				mj.Returns = t.String()
			}
			for f := range m.Throws() {
				mj.Throws = append(mj.Throws, f.Type().String())
			}
			j.Methods = append(j.Methods, mj)
		}
		all.Services = append(all.Services, j)
	}
	answer(w, all)
}

// structure returns the key of a struct.
func (t *typesJSON) structure(s descriptor.Struct) string {
	if key := t.structs[s.Desc()]; key != "" {
		return key
	}
	key := fmt.Sprint("s", len(t.structs))
	t.structs[s.Desc()] = key
	j := &structJSON{Name: s.Name(), Union: s.Shape() == descriptor.ShapeUnion, Fields: []fieldJSON{}}
	t.Structs[key] = j
	names, _ := thriftimpl.JSONNames(s.Desc())
	for i := range s.NumFields() {
		if f := s.Field(i); !names[i].Skip {
			j.Fields = append(j.Fields, fieldJSON{names[i].Name, t.of(f.Type()), f.Requiredness() == descriptor.Required, f.Doc()})
		}
	}
	return key
}

// of describes a type.
func (t *typesJSON) of(d descriptor.Type) typeJSON {
	j := typeJSON{Text: d.String()}
	switch d.WireType() {
	case nocopy.WireBool:
		j.Kind = "bool"
	case nocopy.WireDouble:
		j.Kind = "double"
	case nocopy.WireUUID:
		j.Kind = "uuid"
	case nocopy.WireString:
		j.Kind = "string"
		if d.IsBinary() {
			j.Kind = "binary"
		}
	case nocopy.WireStruct:
		j.Kind, j.Of = "struct", t.structure(d.Struct())
	case nocopy.WireList, nocopy.WireSet:
		elem := t.of(d.Elem())
		j.Kind, j.Elem = "list", &elem
	case nocopy.WireMap:
		key, elem := t.of(d.Key()), t.of(d.Elem())
		j.Kind, j.Key, j.Elem = "map", &key, &elem
	default:
		j.Kind = "int"
		if e := d.Enum(); e.Valid() {
			j.Kind, j.Of = "enum", t.enum(e)
		}
	}
	return j
}

// enum returns the key of an enum. Files may have enums of the same name.
func (t *typesJSON) enum(e descriptor.Enum) string {
	if key := t.enums[e]; key != "" {
		return key
	}
	key := fmt.Sprint("e", len(t.enums))
	t.enums[e] = key
	values := []string{}
	for v := range e.Values() {
		values = append(values, v.Name())
	}
	t.Enums[key] = &enumJSON{values}
	return key
}

// maxBody bounds the body of a request, in bytes.
const maxBody = 16 << 20

// callJSON is a request to make a call.
type callJSON struct {
	Method string `json:"method"` // Service.method
	// A JSON object, as text: its numbers may be larger than JavaScript has them
	Args    string      `json:"args"`
	Headers [][2]string `json:"headers"` // names and values
	Target  string      `json:"target"`  // an environment's name; "" is the command line's
}

// outcomeJSON is the outcome of a call.
type outcomeJSON struct {
	Result    string            `json:"result,omitempty"` // JSON, as text
	Exception string            `json:"exception,omitempty"`
	Error     string            `json:"error,omitempty"`
	Micros    int64             `json:"micros"`
	Sent      string            `json:"sent,omitempty"` // annotated bytes
	Received  string            `json:"received,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"` // of the reply
	Line      string            `json:"line,omitempty"`    // a command that makes the same call
}

// call makes a call.
func (s *site) call(w http.ResponseWriter, req *http.Request) {
	if kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); kind != "application/json" {
		http.Error(w, "the content type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	var c callJSON
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to, err := s.environment(req.Context(), c.Target)
	if err != nil {
		answer(w, outcomeJSON{Error: shell.Message(err)})
		return
	}
	m, err := invoke.Find(s.idl, c.Method, to.conn.Multiplexed, to.conn.MaxDepth)
	var args []byte
	if err == nil {
		args, err = m.Args([]byte(c.Args))
	}
	if err != nil {
		answer(w, outcomeJSON{Error: err.Error()})
		return
	}
	ctx, cancel := to.conn.Context(req.Context())
	defer cancel()
	for _, h := range c.Headers {
		ctx = rpc.SetHeader(ctx, h[0], h[1])
	}
	var headers rpc.ReplyHeaders
	o := m.Call(rpc.ReceiveHeaders(ctx, &headers), to.server.Caller, args)
	out := outcomeJSON{Exception: o.Exception, Result: string(o.Result), Micros: o.Took.Microseconds(), Headers: map[string]string{}, Line: to.line(&c)}
	if o.Exception != "" {
		out.Result = string(o.Value)
	}
	if o.Err != nil {
		out.Error = to.conn.Plainly(o.Err).Error()
	}
	for name, value := range headers.All() {
		out.Headers[name] = value
	}
	var dump bytes.Buffer
	m.Dump(&dump, false, args, nil)
	out.Sent = bounded(dump.String())
	if o.Reply != nil {
		dump.Reset()
		m.DumpReply(&dump, false, o.Reply)
		out.Received = bounded(dump.String())
	}
	answer(w, out)
}

// bounded returns the beginning of a dump.
func bounded(text string) string {
	const most = 1 << 20
	if len(text) > most {
		return text[:most] + "…\n"
	}
	return text
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(v)
}
