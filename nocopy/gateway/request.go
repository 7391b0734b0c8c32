package gateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Limits of a request, in addition to http.Server's MaxHeaderBytes.
const (
	maxBody    = 1 << 20
	maxHeaders = 100
	maxParts   = 1000 // of a form
	maxNesting = 60   // servers accept 64, the arguments around it included
	maxIndex   = 16 * maxBody

	maxInflated = 16 * maxBody // of bodies that are compressed very much
)

var limits = nocopy.Limits{MaxBytes: maxBody, MaxDepth: maxNesting, MaxIndex: maxIndex}

// The formats of bodies.
const (
	asJSON = iota
	asForm
	asThrift // the wire bytes of the struct that the JSON would be
)

// arguments returns the wire bytes of the arguments that a request with a body stands for. All of
// them were checked. The error is a *problem.
func (r *route) arguments(req *http.Request, body []byte) ([]byte, error) {
	format, boundary := asJSON, ""
	var err error
	if r.hasBody || r.hasForm {
		if format, boundary, err = r.formatOf(req, body); err != nil {
			return nil, err
		}
	}
	in := values{req: req, body: body}
	if in.query, err = url.ParseQuery(req.URL.RawQuery); err != nil {
		return nil, badRequest(err)
	}
	if format == asForm {
		if in.form, err = formIn(body, boundary); err != nil {
			return nil, badRequest(err)
		}
	}
	msg, err := r.message(format, body)
	if err != nil {
		return nil, badRequest(err)
	}
	for _, p := range r.places {
		if err := in.put(msg, p); err != nil {
			return nil, badRequest(err)
		}
	}
	for _, p := range r.places {
		if _, isSet := valueAt(msg, p.ids); p.required && !isSet {
			return nil, badRequest(&placeError{p.name, p.missing()})
		}
	}
	if err := msg.Message().Check(); err != nil {
		return nil, badRequest(err)
	}
	if r.wrap == 0 {
		return msg.Message().AppendTo(nil), nil
	}
	// The struct with the arguments: a field header, the argument, STOP
	args := make([]byte, 0, msg.Message().Len()+4)
	args = binary.BigEndian.AppendUint16(append(args, byte(nocopy.WireStruct)), uint16(r.wrap))
	return append(msg.Message().AppendTo(args), byte(nocopy.WireStop)), nil
}

// message returns the message in the body, or an empty one.
func (r *route) message(format int, body []byte) (dynamic.Message, error) {
	noBody := !r.hasBody || format == asForm
	switch {
	case noBody && r.jsonOnly != "":
		return dynamic.Message{}, &placeError{r.jsonOnly, nocopy.ErrMissingRequired}
	case noBody, format == asJSON && len(body) == 0 && r.jsonOnly == "":
		return r.root.typ().New(), nil
	case format == asThrift:
		return r.thriftMessage(body)
	}
	s, err := nocopyjson.UnmarshalAs(r.root.desc, body, limits)
	return reflection.OfStruct(r.root.desc, thriftimpl.Struct(s)), err
}

// openBody makes a request's body one that is decompressed as it is read, if it is compressed. It
// then returns it, and its End must be called. The error is a *problem.
func (g *Gateway) openBody(w http.ResponseWriter, req *http.Request) (*compressed.Body, error) {
	switch e := compressed.Encoding(req.Header); e {
	case "":
		return nil, nil
	case "gzip":
		z := compressed.Room{Budget: g.inflated, Most: maxBody, Wait: -1}.Open(req.Body, req.ContentLength)
		req.Body = http.MaxBytesReader(w, struct {
			io.Reader
			io.Closer
		}{z, req.Body}, maxBody)
		return z, nil
	default:
		w.Header().Set("Accept-Encoding", "gzip")
		return nil, &problem{Status: http.StatusUnsupportedMediaType, Message: fmt.Sprintf("content encoding %q: a body can be compressed with gzip only", e)}
	}
}

// readBody returns the body of a request, in memory on loan. The error is a *problem.
func readBody(req *http.Request, memory *loan) ([]byte, error) {
	if n := len(req.Header); n > maxHeaders {
		return nil, &problem{Status: http.StatusRequestHeaderFieldsTooLarge, Message: fmt.Sprintf("%d header fields, at most %d are possible", n, maxHeaders)}
	}
	body, err := memory.read(req.Body)
	var tooLarge *http.MaxBytesError
	var refused *problem
	if errors.As(err, &refused) {
		return nil, err
	} else if errors.Is(err, compressed.ErrBusy) {
		return nil, busy(err.Error())
	} else if errors.As(err, &tooLarge) {
		return nil, &problem{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("a body of more than %d bytes", maxBody)}
	} else if err != nil {
		return nil, badRequest(err)
	}
	return body, nil
}

// formatOf returns the format of the body, and the boundary between the parts of a form that has
// several. If the request does not say, the body does: JSON does not begin with a control
// character, and Thrift does. A route without fields in forms refuses forms, because browsers let
// pages of other sites send forms, with JSON in them. (curl's default is to say that it sends a
// form.)
func (r *route) formatOf(req *http.Request, body []byte) (format int, boundary string, err error) {
	given := req.Header.Get("Content-Type")
	switch kind, params, _ := mime.ParseMediaType(given); {
	case given == "" || kind == "application/octet-stream":
		if text := bytes.TrimLeft(body, " \t\r\n"); len(text) > 0 && text[0] < ' ' {
			return asThrift, "", nil
		}
		return asJSON, "", nil
	case kind == "application/json":
		return asJSON, "", nil
	case kind == "application/x-www-form-urlencoded" && r.hasForm:
		return asForm, "", nil
	case kind == "multipart/form-data" && r.hasForm && params["boundary"] != "":
		return asForm, params["boundary"], nil
	case kind == "application/x-thrift" || kind == "application/vnd.apache.thrift.binary":
		return asThrift, "", nil
	}
	return 0, "", &problem{Status: http.StatusUnsupportedMediaType, Message: fmt.Sprintf("content type %q: the method takes application/json and application/x-thrift", given)}
}

// formIn returns the values of a form. With a boundary, the form is in several parts. The value of
// a file is its content.
func formIn(body []byte, boundary string) (url.Values, error) {
	if boundary == "" {
		return url.ParseQuery(string(body))
	}
	form := url.Values{}
	for parts, n := multipart.NewReader(bytes.NewReader(body), boundary), 0; ; n++ {
		part, err := parts.NextPart()
		if err == io.EOF {
			return form, nil
		}
		if err != nil {
			return nil, err
		}
		if n == maxParts {
			return nil, fmt.Errorf("a form of more than %d parts", maxParts)
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		if part.FormName() == "" {
			return nil, errors.New("a part of the form has no name")
		}
		form.Add(part.FormName(), string(value))
	}
}

// values are the values that a request has outside the JSON of its body.
type values struct {
	req   *http.Request
	body  []byte
	form  url.Values
	query url.Values
}

// find returns the values that a source has for p; no value is the same as an empty one.
func (v *values) find(p place, from source) []string {
	switch from.in {
	case "path":
		return []string{v.req.PathValue(from.name)}
	case "form":
		return v.form[from.name]
	case "query":
		return v.query[from.name]
	case "cookie":
		if p.box != nil {
			return jsonCookie(v.req.Header, from.name)
		}
		if c, err := v.req.Cookie(from.name); err == nil {
			return []string{c.Value}
		}
	case "header":
		return v.req.Header.Values(from.name)
	}
	return nil
}

// put sets the field of msg at the place p, if a source has a value. The error is a *placeError.
func (v *values) put(msg dynamic.Message, p place) error {
	for _, from := range p.sources {
		if from.in == "raw_body" {
			if err := set(msg, p, v.body); err != nil {
				return &placeError{p.name, err}
			}
			return nil
		}
		found := v.find(p, from)
		if len(found) == 0 || len(found) == 1 && found[0] == "" {
			continue
		}
		put := setText
		if p.box != nil {
			put = setJSON
		}
		if err := put(msg, p, found); err != nil {
			wrong := &placeError{p.name, err}
			errors.As(err, &wrong) // of a value in the JSON
			return &placeError{wrong.path, fmt.Errorf("%w in %s %s", withoutOption(wrong.err), from.in, from.name)}
		}
		return nil
	}
	return nil
}

// missing returns the error for a required field that has no value.
func (p *place) missing() error {
	if len(p.sources) == 0 {
		return nocopy.ErrMissingRequired
	}
	return fmt.Errorf("%w in %s %s", nocopy.ErrMissingRequired, p.sources[0].in, p.sources[0].name)
}

// structOf returns the struct in msg that has the field at the place p. It makes the structs on
// the way.
func structOf(msg dynamic.Message, p place) (dynamic.Message, error) {
	for _, id := range p.ids[:len(p.ids)-1] {
		if !msg.HasByID(id) {
			f, _ := msg.Descriptor().ByID(id)
			if _, err := msg.New(f.Name()); err != nil {
				return msg, err
			}
		}
		v, err := msg.GetByID(id)
		if err != nil {
			return msg, err
		}
		msg = v.Message()
	}
	return msg, nil
}

func set(msg dynamic.Message, p place, v any) error {
	in, err := structOf(msg, p)
	if err != nil {
		return err
	}
	return in.SetByID(p.ids[len(p.ids)-1], v)
}

// setText sets the field at the place p to the value of the texts. For a list or set they are the
// elements, which may have commas in between.
func setText(msg dynamic.Message, p place, texts []string) error {
	if p.typ.WireType() != nocopy.WireList && p.typ.WireType() != nocopy.WireSet {
		v, err := parse(p.typ, texts[0])
		if err != nil {
			return err
		}
		return set(msg, p, v)
	}
	in, err := structOf(msg, p)
	if err != nil {
		return err
	}
	f, _ := in.Descriptor().ByID(p.ids[len(p.ids)-1])
	field, err := in.New(f.Name())
	if err != nil {
		return err
	}
	seen := map[any]bool{} // the elements of a set
	for element := range strings.SplitSeq(strings.Join(texts, ","), ",") {
		v, err := parse(p.typ.Elem(), element)
		if err != nil {
			return err
		}
		if p.typ.WireType() == nocopy.WireSet {
			key := v
			if b, ok := v.([]byte); ok {
				key = string(b)
			}
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		if err := field.List().Append(v); err != nil {
			return err
		}
	}
	return nil
}

// parse returns the value of a base type that a text represents, as package reflection takes it.
func parse(t descriptor.Type, text string) (any, error) {
	switch {
	case t.IsBinary():
		return []byte(text), nil
	case t.WireType() == nocopy.WireString:
		if strings.ToValidUTF8(text, "") != text {
			return nil, nocopy.ErrUTF8
		}
		return text, nil
	case t.WireType() == nocopy.WireBool:
		return or(strconv.ParseBool(text))
	case t.WireType() == nocopy.WireDouble:
		return or(strconv.ParseFloat(text, 64))
	case t.WireType() == nocopy.WireUUID:
		return or(nocopy.ParseUUID(text))
	}
	if t.Enum().Valid() {
		if v, ok := t.Enum().ByName(text); ok {
			return v.Number(), nil
		}
	}
	return or(strconv.ParseInt(text, 10, 64))
}

// or returns v, or a short error.
func or[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, nocopyjson.ErrValue
	}
	return v, nil
}
