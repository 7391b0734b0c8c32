package main

import (
	"embed"
	"encoding/json"
	"net/http"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

//go:embed page
var pageFiles embed.FS

// addPage adds the page that lists the methods of t, and what it asks for.
func (g *gateway) addPage(t *table) (err error) {
	for path, name := range map[string]string{"/{$}": "index.html", "/_gateway/page.js": "page.js", "/_gateway/page.css": "page.css"} {
		t.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, req *http.Request) {
			// What the IDL says is shown as text; nothing but the page's own script runs.
			w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:; frame-ancestors 'none'")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			http.ServeFileFS(w, req, pageFiles, "page/"+name)
		})
	}
	methods := []methodInfo{}
	for _, r := range t.routes {
		methods = append(methods, r.info())
	}
	if t.methods, err = json.Marshal(methods); err != nil {
		return err
	}
	t.mux.HandleFunc("GET /_gateway/methods", func(w http.ResponseWriter, _ *http.Request) { g.listMethods(t, w) })
	return nil
}

// A methodInfo is what the page shows of a route.
type methodInfo struct {
	Service string          `json:"service"`
	Method  string          `json:"method"`
	Doc     string          `json:"doc,omitempty"`
	Verb    string          `json:"verb"` // GET for api.any
	Path    string          `json:"path"`
	Params  []paramInfo     `json:"params,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"` // an example
	RawBody bool            `json:"rawBody,omitempty"`
	Returns string          `json:"returns,omitempty"`
	Throws  []throwInfo     `json:"throws,omitempty"`
}

type paramInfo struct {
	In       string `json:"in"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
}

type throwInfo struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
}

// listMethods answers with the routes of t, and with what is wrong with the IDL on disk. It copies
// no list of them for each client.
func (g *gateway) listMethods(t *table, w http.ResponseWriter) {
	parts := [][]byte{[]byte(`{"methods":`), t.methods}
	if err := g.refused.Load(); err != nil {
		why, _ := json.Marshal((*err).Error())
		parts = append(parts, []byte(`,"refused":`), why)
	}
	w.Header().Set("Cache-Control", "no-store")
	sendParts(w, http.StatusOK, append(parts, []byte("}\n"))...)
}

func (r *route) info() methodInfo {
	m := methodInfo{Service: r.service, Method: r.method.Name(), Doc: r.method.Doc(), Verb: r.verb, Path: r.path}
	if m.Verb == "" {
		m.Verb = "GET"
	}
	for _, p := range r.places {
		switch from := p.sources[0]; from.in {
		case "raw_body":
			m.RawBody = true
		case "path", "query", "header", "cookie", "form":
			m.Params = append(m.Params, paramInfo{from.in, from.name, p.typ.String(), p.required || from.in == "path"})
		}
	}
	if r.hasBody {
		m.Body = sample(r.root.desc)
	}
	if t, ok := r.method.Returns(); ok {
		m.Returns = t.String()
	}
	for f := range r.method.Throws() {
		m.Throws = append(m.Throws, throwInfo{f.Type().String(), r.statuses[f.ID()]})
	}
	return m
}

// sample returns a message of the type as JSON, for people to edit: all fields down to some depth,
// texts with something in them.
func sample(d *thriftimpl.Desc) json.RawMessage {
	left := 200
	msg := dynamic.Type{Struct: descriptor.Of(d)}.New()
	fillSample(msg, 3, &left)
	text, err := nocopyjson.Marshal(msg, nocopyjson.ZeroValues)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// fillSample sets texts in msg, and makes structs and lists of one struct, which it fills likewise
// down to some depth. It looks at left more fields.
func fillSample(msg dynamic.Message, depth int, left *int) {
	for f := range msg.Descriptor().Fields() {
		if *left--; *left < 0 || depth == 0 || !inJSON(f) {
			continue
		}
		if f.Type().Wire() == nocopy.WireString && !f.HasDefault() {
			msg.SetID(f.ID(), []byte(f.Name()))
			continue
		}
		inList := f.Type().Wire() == nocopy.WireList && f.Type().Elem().Struct().Valid()
		if !inList && !f.Type().Struct().Valid() {
			continue
		}
		v, err := msg.New(f.Name())
		if err != nil {
			return
		}
		if inList {
			v = v.List().AppendNew()
		}
		fillSample(v.Message(), depth-1, left)
	}
}
