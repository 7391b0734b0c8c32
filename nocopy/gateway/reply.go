package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A problem is an answer other than the method's result, as JSON.
type problem struct {
	Status    int             `json:"-"`
	Title     string          `json:"error"` // the status in words, or the exception's name
	Message   string          `json:"message,omitempty"`
	Path      string          `json:"path,omitempty"`   // of the value that is wrong
	Offset    *int            `json:"offset,omitempty"` // in the body, in bytes
	Exception json.RawMessage `json:"exception,omitempty"`

	retry bool // the same request may be sent again: nothing was done for it
}

func (p *problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Message) }

// A placeError says why a field can't be set to the value that a request has for it.
type placeError struct {
	path string
	err  error
}

func (e *placeError) Error() string { return e.err.Error() }
func (e *placeError) Unwrap() error { return e.err }

// badRequest returns the problem for a request with the error err.
func badRequest(err error) error {
	p := &problem{Status: http.StatusBadRequest, Message: err.Error()}
	var field *placeError
	var body *nocopy.Error
	if errors.As(err, &field) {
		p.Path = field.path
	} else if errors.As(err, &body) {
		p.Message, p.Path, p.Offset = withoutOption(body.Err).Error(), body.Path, &body.Offset
	}
	return p
}

// withoutOption returns what is wrong in JSON without the option for Go programs that allows it.
func withoutOption(err error) error {
	if errors.Is(err, nocopyjson.ErrUnknownField) {
		return cmp.Or(errors.Unwrap(err), err)
	}
	return err
}

// unanswered returns the problem with a call that got no result. The texts of servers are logged,
// not shown.
func unanswered(err error) error {
	p := &problem{Status: http.StatusBadGateway}
	var refused *rpc.ApplicationException
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		p.Status, p.Message = http.StatusGatewayTimeout, "the server did not answer in time"
	case errors.Is(err, rpc.ErrNotHandled):
		p.Status, p.Message = http.StatusServiceUnavailable, "the server is too busy to handle the call"
	case errors.As(err, &refused):
		p.Message = "the server did not handle the call: " + refused.Type.String()
	case errors.Is(err, rpc.ErrNotSent):
		p.Message = "the server can't be reached"
	default:
		p.Message = "the connection to the server was lost"
	}
	return p
}

// An answer is the HTTP response for a method's result.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// answerFor returns the answer for the wire bytes of a method's result. The error is a *problem.
func (r *route) answerFor(wire []byte) (*answer, error) {
	a := &answer{status: http.StatusOK, header: http.Header{}}
	result, err := r.result.typ().Parse(wire)
	if err != nil {
		return nil, &problem{Status: http.StatusBadGateway, Message: "the reply is malformed"}
	}
	for f := range r.method.Throws() {
		if thrown, _ := result.GetByID(f.ID()); thrown.IsSet() {
			return r.exception(f, thrown.Message())
		}
	}
	returns, hasReturn := r.method.Returns()
	success, _ := result.GetByID(0)
	switch {
	case hasReturn && success.IsSet() && returns.Struct().Valid():
		err = a.fill(success.Message(), r.answers[0])
	case hasReturn && success.IsSet():
		a.body, err = nocopyjson.Marshal(result) // an object of one field, success
	default:
		for id := range result.Unknown() {
			if id != 0 && id != rpc.HeaderField { // a newer return value, and headers
				return nil, &problem{Status: http.StatusBadGateway, Message: "the reply is an exception that the IDL does not know"}
			}
		}
		if hasReturn {
			return nil, &problem{Status: http.StatusBadGateway, Message: "the reply is empty"}
		}
		a.body = []byte("{}")
	}
	if err != nil {
		return nil, &problem{Status: http.StatusBadGateway, Message: "the reply can't be written as JSON: " + err.Error()}
	}
	return a, nil
}

// exception returns the answer for a declared exception, whose place in the result is f.
func (r *route) exception(f descriptor.Field, e dynamic.Message) (*answer, error) {
	a := &answer{status: r.statuses[f.ID()], header: http.Header{}}
	err := a.fill(e, r.answers[f.ID()])
	if err == nil {
		a.body, err = json.Marshal(problem{Title: e.Descriptor().Name(), Exception: a.body})
	}
	if err != nil {
		return nil, &problem{Status: http.StatusBadGateway, Message: "the exception can't be written as JSON: " + err.Error()}
	}
	return a, nil
}

// fill writes a message as the body. Its fields that have a place in the header, or hold the
// status, set those too, if they are there.
func (a *answer) fill(m dynamic.Message, places []place) (err error) {
	for _, p := range places {
		v, ok := valueAt(m, p.ids)
		if !ok {
			continue
		}
		for _, to := range p.sources {
			switch {
			case to.in == "header":
				text := textOf(v)
				if p.box != nil {
					if text, err = p.toJSON(v); err != nil {
						return err
					}
				}
				a.header.Set(to.name, headerValue(text))
			case to.in == "http_code" && isFinal(int(v.Int())):
				a.status = int(v.Int())
			}
		}
	}
	a.body, err = nocopyjson.Marshal(m)
	return err
}

// headerValue returns text with characters that a header's value can't have replaced by spaces.
func headerValue(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}

// valueAt returns the field of m to which ids lead, and whether it is set.
func valueAt(m dynamic.Message, ids []int16) (reflection.Value, bool) {
	for _, id := range ids[:len(ids)-1] {
		v, _ := m.GetByID(id)
		m = v.Message()
	}
	v, _ := m.GetByID(ids[len(ids)-1])
	return v, v.IsSet()
}

// textOf returns the text that parse takes. For lists and sets it is the elements, with commas in
// between.
func textOf(v reflection.Value) string {
	switch {
	case v.Type().WireType() == nocopy.WireString:
		return v.Text()
	case v.Type().WireType() == nocopy.WireList || v.Type().WireType() == nocopy.WireSet:
		var texts []string
		for _, e := range v.List().All() {
			texts = append(texts, textOf(e))
		}
		return strings.Join(texts, ",")
	}
	return v.String()
}
