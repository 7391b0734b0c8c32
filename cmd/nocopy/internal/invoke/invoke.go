// Package invoke makes calls of methods that are known by IDL or by name alone, with arguments and
// results as JSON.
package invoke

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Method is a method that can be called.
type Method struct {
	Service string // the service's name in the IDL, and of multiplexed calls without IDL; or ""
	Name    string
	Prefix  string // what multiplexing clients put before the colon; or ""
	Oneway  bool
	depth   int           // how deep messages may be nested; 0 is the default
	idl     *idlfiles.IDL // nil if the method is raw
	desc    descriptor.Method
}

// Prefix returns the name of a service that "Service:method" has for a multiplexing server; "" if
// there is none.
func Prefix(method string) string {
	service, _, ok := strings.Cut(method, ":")
	if !ok {
		return ""
	}
	return service
}

// Find returns the method that a name stands for: by an IDL, if there is one. "Service:method" is
// a call to a multiplexing server, and prefix the service's name there, if it is another one.
// Messages may be nested as deep as depth; 0 is the default.
func Find(idl *idlfiles.IDL, name, prefix string, depth int) (*Method, error) {
	if prefix == "" {
		prefix = Prefix(name)
	}
	if idl == nil {
		return &Method{Name: name[strings.LastIndexAny(name, ".:/")+1:], Prefix: prefix, depth: depth}, nil
	}
	s, m, err := idl.Method(name)
	if err != nil {
		return nil, err
	}
	if prefix == "" {
		prefix = idl.Multiplexed[s.Name()]
	}
	return &Method{s.Name(), m.Name(), prefix, m.Oneway(), depth, idl, m}, nil
}

// String returns "Service.method", or "method" alone without IDL.
func (m *Method) String() string {
	if m.idl == nil {
		return m.wireName()
	}
	return m.Service + "." + m.Name
}

func (m *Method) wireName() string {
	if m.Prefix != "" {
		return m.Prefix + ":" + m.Name
	}
	return m.Name
}

// Raw reports whether nothing is known of the method but its name.
func (m *Method) Raw() bool { return m.idl == nil }

// Desc returns the method's description, which is not valid for a raw one.
func (m *Method) Desc() descriptor.Method { return m.desc }

// ArgsType returns the type of the arguments' struct.
func (m *Method) ArgsType() dynamic.Type { return dynamic.Type{Struct: m.desc.Args()} }

// Args returns the wire bytes of arguments that are a JSON object.
func (m *Method) Args(text []byte) ([]byte, error) { return m.args(text, nil) }

// args returns the wire bytes of arguments. written are the pairs in them.
func (m *Method) args(text []byte, written []pair) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	if m.idl == nil {
		wire, err := rawStruct(text, m.rawDepth())
		return wire, target.WithFlags(err)
	}
	msg, err := m.ArgsType().FromJSON(text, m.Limits())
	if err != nil {
		return nil, m.argsError(err, text, written)
	}
	defer msg.Release()
	if err := msg.Message().Check(); err != nil {
		return nil, m.argsError(err, text, written)
	}
	return msg.Message().AppendTo(nil), nil
}

// Signature returns the arguments as the IDL has them.
func (m *Method) Signature() string {
	if text := fieldsText(m.desc.Args()); text != "" {
		return text
	}
	return "no arguments"
}

// ArgsJSON returns the JSON of arguments that are wire bytes.
func (m *Method) ArgsJSON(wire []byte) (json.RawMessage, error) {
	if m.idl == nil {
		return rawJSON(wire, m.rawDepth())
	}
	msg, err := m.ArgsType().Parse(wire, m.Limits())
	if err != nil {
		return nil, err
	}
	return nocopyjson.Marshal(msg)
}

// Outcome is the outcome of a call.
type Outcome struct {
	Result    json.RawMessage // the return value; null if there is none
	Exception string          // the name of the declared exception; Value is it
	Value     json.RawMessage
	Err       error // of a call without a result
	Reply     []byte
	Took      time.Duration
}

// CallOnly makes a call, and does not turn its result into JSON. It looks for exceptions only.
func (m *Method) CallOnly(ctx context.Context, c rpc.Caller, args []byte) Outcome {
	if m.Oneway {
		_, err := m.send(ctx, c, args)
		return Outcome{Err: err}
	}
	reply, err := m.send(ctx, c, args)
	o := Outcome{Reply: reply, Err: err}
	if err != nil || m.idl == nil || len(reply) < 3 || reply[0] == 0 || reply[1] == 0 && reply[2] == 0 {
		return o // it begins with field 0, the result
	}
	return m.Outcome(reply)
}

// Call makes a call with the wire bytes of the arguments.
func (m *Method) Call(ctx context.Context, c rpc.Caller, args []byte) Outcome {
	began := time.Now()
	reply, err := m.send(ctx, c, args)
	if m.Oneway {
		return Outcome{Result: null, Err: err, Took: time.Since(began)}
	}
	took := time.Since(began)
	o := Outcome{Err: err}
	if err == nil {
		o = m.Outcome(reply)
	}
	o.Took = took
	return o
}

var null = json.RawMessage("null")

// send sends wire bytes and returns those of the result; nil if the method is oneway.
func (m *Method) send(ctx context.Context, c rpc.Caller, args []byte) ([]byte, error) {
	raw := rpc.RawMethod(m.wireName(), m.Oneway)
	s, err := thriftimpl.Parse(raw.Args, args, m.Limits())
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", m, err)
	}
	result, err := c.Call(ctx, raw, nocopy.Struct(s))
	if err != nil || m.Oneway {
		return nil, err
	}
	defer result.Release()
	return result.Message().AppendTo(nil), nil
}

// Limits returns those of messages.
func (m *Method) Limits() nocopy.Limits { return nocopy.Limits{MaxDepth: m.depth} }

// Outcome decodes the wire bytes of a result.
func (m *Method) Outcome(reply []byte) Outcome {
	o := Outcome{Reply: reply}
	if m.idl == nil {
		o.Result, o.Err = rawJSON(reply, m.rawDepth())
		return o
	}
	result, err := dynamic.Type{Struct: m.desc.Result()}.Parse(reply, m.Limits())
	if err != nil {
		o.Err = fmt.Errorf("the reply to %s is malformed: %w", m, err)
		return o
	}
	for f := range m.desc.Throws() {
		if e, _ := result.GetByID(f.ID()); e.IsSet() {
			o.Exception = f.Type().Struct().Name()
			o.Value, o.Err = nocopyjson.Marshal(e.Message())
			return o
		}
	}
	_, returns := m.desc.Returns()
	success, _ := result.GetByID(0)
	switch {
	case returns && success.IsSet():
		o.Result, o.Err = successJSON(result)
	default:
		for id := range result.Unknown() {
			if id != 0 && id != rpc.HeaderField { // a newer return value, and headers
				o.Err = fmt.Errorf("the reply to %s is an exception that the IDL does not know, in field %d", m, id)
				return o
			}
		}
		if o.Result = null; returns {
			o.Result, o.Err = nil, fmt.Errorf("the reply to %s has neither a result nor an exception that the IDL knows", m)
			return o
		}
	}
	if o.Err == nil {
		return o
	}
	o.Err = fmt.Errorf("the reply to %s: %w", m, o.Err)
	return o
}

// successJSON returns the JSON of a result's field success.
func successJSON(result dynamic.Message) (json.RawMessage, error) {
	text, err := nocopyjson.Marshal(result)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	for _, v := range fields { // there is no other
		return v, nil
	}
	return null, nil
}

// Answer returns the TApplicationException with which a server has answered the call that ended
// with err; nil if there is none. A reply that does not fit its call is no answer.
func Answer(err error) *rpc.ApplicationException {
	var answer *rpc.ApplicationException
	if errors.As(err, &answer) && !errors.Is(err, rpc.ErrBadReply) {
		return answer
	}
	return nil
}

// Code returns the exit code for the outcome.
func (o *Outcome) Code() int {
	answer := Answer(o.Err)
	switch {
	case o.Exception != "":
		return shell.Exception
	case answer != nil:
		if code := shell.Application + int(answer.Type); shell.Application < code && code < shell.Findings {
			return code
		}
		return shell.Application // a program's own types would be taken for other codes
	case o.Err != nil:
		return shell.Failed
	}
	return 0
}

// Dump shows the messages of a call, annotated: the arguments and, if there is one, the result.
// They are shown as messages in Thrift Binary even if the wire had another protocol.
func (m *Method) Dump(w io.Writer, color bool, args, reply []byte) error {
	kind := byte(1)
	if m.Oneway {
		kind = 4
	}
	if err := m.dump(w, color, kind, args); err != nil || reply == nil {
		return err
	}
	return m.DumpReply(w, color, reply)
}

// DumpReply shows a result as Dump does.
func (m *Method) DumpReply(w io.Writer, color bool, reply []byte) error {
	return m.dump(w, color, 2, reply)
}

func (m *Method) dump(w io.Writer, color bool, kind byte, body []byte) error {
	opt := inspect.Options{Form: inspect.Messages, Color: color}
	if m.idl != nil {
		opt.IDL, opt.Type = m.idl.Names(), m.Service
	}
	return inspect.Dump(w, bytes.NewReader(m.message(kind, body)), opt)
}

// message returns a struct with a message's header.
func (m *Method) message(kind byte, body []byte) []byte {
	b := []byte{0x80, 1, 0, kind}
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Name)))
	b = binary.BigEndian.AppendUint32(append(b, m.Name...), 1)
	return append(b, body...)
}
