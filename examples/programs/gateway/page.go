package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/gateway"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
)

//go:embed page
var pageFiles embed.FS

// pages are the files of the page, by their paths.
var pages = map[string]string{"/": "index.html", "/_gateway/page.js": "page.js", "/_gateway/page.css": "page.css"}

func servePage(w http.ResponseWriter, req *http.Request, name string) {
	// Parts of the IDL are shown as text; nothing but the page's own script runs.
	w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:; frame-ancestors 'none'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	file, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	http.ServeContent(w, req, name, time.Time{}, bytes.NewReader(file))
}

// A methodInfo is the part of a route that the page shows.
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

// listMethods answers with the routes, and with the error in the IDL on disk. It does not copy the
// list of routes for each client.
func (s *site) listMethods(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	io.WriteString(w, `{"methods":`)
	w.Write(*s.methods.Load())
	if err := s.refused.Load(); err != nil {
		why, _ := json.Marshal((*err).Error())
		fmt.Fprintf(w, `,"refused":%s`, why)
	}
	io.WriteString(w, "}\n")
}

// infoOf returns what the page shows of a route.
func infoOf(r gateway.Route) methodInfo {
	m := methodInfo{Service: r.Service, Method: r.Method.Name(), Doc: r.Method.Doc(), Verb: cmp.Or(r.Verb, "GET"), Path: r.Path, RawBody: r.RawBody}
	for _, p := range r.Params {
		m.Params = append(m.Params, paramInfo{p.In, p.Name, p.Type.String(), p.Required})
	}
	if r.Body.Valid() {
		m.Body = sample(r.Body)
	}
	if t, ok := r.Method.Returns(); ok {
		m.Returns = t.String()
	}
	for f := range r.Method.Throws() {
		m.Throws = append(m.Throws, throwInfo{f.Type().String(), r.Statuses[f.ID()]})
	}
	return m
}

// sample returns a message of the type as JSON, for people to edit: all fields down to some depth,
// texts with something in them.
func sample(d descriptor.Struct) json.RawMessage {
	left := 200
	msg := dynamic.Type{Struct: d}.New()
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
		if *left--; *left < 0 || depth == 0 || isElsewhere(f) {
			continue
		}
		if f.Type().WireType() == nocopy.WireString && !f.HasDefault() {
			msg.SetByID(f.ID(), []byte(f.Name()))
			continue
		}
		inList := f.Type().WireType() == nocopy.WireList && f.Type().Elem().Struct().Valid()
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

// isElsewhere reports whether a field is not in the JSON of a body.
func isElsewhere(f descriptor.Field) bool {
	tag, _ := f.Annotation("go.tag")
	return strings.Contains(tag, `json:"-"`)
}
