package mock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/faults"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// answer is an answer from a file.
type answer struct {
	method string // Service.method
	args   json.RawMessage
	fields map[string]any // of the result
	err    error
	delay  time.Duration
	cut    bool
	given  bool
}

// errBytes is the error of a line with bytes instead of JSON. The recorder did not know the IDL,
// or the bytes do not fit it: a text that is not UTF-8 is enough.
var errBytes = errors.New("it has bytes instead of JSON")

// newAnswer returns the answer that a line has; nil if it is a call that was never answered.
func (m *server) newAnswer(l *recording.Line) (*answer, error) {
	method, err := invoke.Find(m.idl, l.Method, "", m.Depth)
	if err != nil {
		return nil, err
	}
	if err := m.register(method); err != nil {
		return nil, err
	}
	a := &answer{method: method.String(), args: l.Args, cut: l.Cut}
	if l.Delay != "" {
		if a.delay, err = time.ParseDuration(l.Delay); err != nil {
			return nil, err
		}
	}
	switch {
	case l.RawArgs != nil || l.RawReply != nil:
		return nil, errBytes
	case l.Failed != "":
		return nil, nil
	case l.Error != nil:
		a.err = &rpc.ApplicationException{Type: rpc.ExceptionType(l.Error.Type), Message: l.Error.Message}
	case l.Exception != "":
		name, err := thrown(method.Desc(), l.Exception)
		if err != nil {
			return nil, err
		}
		value := l.Value
		if len(value) == 0 {
			value = json.RawMessage("{}")
		}
		a.fields = map[string]any{name: value}
	default:
		if _, returns := method.Desc().Returns(); returns && !l.Cut {
			if len(l.Result) == 0 {
				return nil, errors.New("it has no result, exception or error")
			}
			a.fields = map[string]any{"success": l.Result}
		}
	}
	if a.fields != nil { // what does not fit is told now
		msg, err := m.resultOf(method.Desc(), a.fields)
		if err != nil {
			return nil, target.WithFlags(err)
		}
		msg.Release()
	}
	return a, nil
}

// register notes the name that a method has for its service, if it is not the IDL's.
func (m *server) register(method *invoke.Method) error {
	name := method.Prefix
	if name == "" || slices.ContainsFunc(m.idl.Services, func(s dynamic.Service) bool { return s.Name() == name }) {
		return nil
	}
	if other := m.registered[name]; other != "" && other != method.Service {
		return fmt.Errorf("%s:%s is a method of %s, and a line above has the name %[1]s for %[4]s", name, method.Name, method.Service, other)
	}
	m.registered[name] = method.Service
	return nil
}

// thrown returns the name of a declared exception's field in the result.
func thrown(m descriptor.Method, exception string) (string, error) {
	var known []string
	for f := range m.Throws() {
		if f.Type().Struct().Name() == exception || f.Name() == exception {
			return f.Name(), nil
		}
		known = append(known, f.Type().Struct().Name())
	}
	return "", fmt.Errorf("%s does not throw %s, but %v", m.Name(), exception, known)
}

// find returns the answer from a file for a call; nil if there is none.
func (m *server) find(s dynamic.Service, c *dynamic.Call) (*answer, error) {
	list := m.answers[s.Name()+"."+c.Method.Name()]
	if len(list) == 0 {
		return nil, nil
	}
	args, err := nocopyjson.Marshal(c.Args)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var last *answer
	for _, a := range list {
		if !recording.Matches(a.args, args) {
			continue
		}
		if !a.given {
			a.given = true
			return a, nil
		}
		last = a
	}
	return last, nil
}

// give answers a call by an answer from a file, and says how.
func (m *server) give(ctx context.Context, a *answer, c *dynamic.Call) (string, error) {
	if err := faults.Wait(ctx, a.delay); err != nil {
		return "given up", err
	}
	switch {
	case a.cut:
		return "connection cut", m.faults.Cut(ctx)
	case a.err != nil:
		return "error", a.err
	case c.Method.Oneway():
		return "oneway", nil
	}
	return "from a file", m.setResult(c, a.fields)
}

// resultOf returns the result of a method with these fields, which are JSON.
func (m *server) resultOf(method descriptor.Method, fields map[string]any) (dynamic.Message, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return dynamic.Message{}, err
	}
	return dynamic.Type{Struct: method.Result()}.FromJSON(text, m.limits())
}

// setResult sets the result of a call.
func (m *server) setResult(c *dynamic.Call, fields map[string]any) error {
	if len(fields) == 0 {
		return nil
	}
	msg, err := m.resultOf(c.Method, fields)
	if err != nil {
		return err
	}
	defer msg.Release()
	for f, v := range msg.All() {
		if err := c.Result.SetByID(f.ID(), v); err != nil {
			return err
		}
	}
	return nil
}
