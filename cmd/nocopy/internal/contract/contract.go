// Package contract compares calls with their IDL, and collects what breaks it or its rules (vt).
package contract

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"sync"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/internal/valuerules"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A Finding is a kind of what breaks the IDL.
type Finding struct {
	Side   string `json:"side"`           // whose message it is in: client or server
	Method string `json:"method"`         // "" if bytes do not say it
	Path   string `json:"path,omitempty"` // of the value; [*] stands for any index or key
	Kind   string `json:"kind"`           // such as unknown-field
	Text   string `json:"text"`           // what is wrong with the first one
	Count  int64  `json:"count"`
}

// String returns the finding as a line.
func (f *Finding) String() string {
	text := f.Side + ": "
	for _, where := range []string{f.Method, f.Path} {
		if where != "" {
			text += where + ": "
		}
	}
	return shell.OneLine(text + f.Text)
}

// The sides.
const (
	client = "client"
	server = "server"
)

// The kinds of findings.
const (
	unknownMethod   = "unknown-method"
	unknownField    = "unknown-field"
	wrongType       = "wrong-type"
	notInEnum       = "not-in-enum"
	missingRequired = "missing-required"
	notUTF8         = "not-utf8"
	unionFields     = "union-fields"
	brokenRule      = "rule"
	malformed       = "malformed"
	noResult        = "no-result"
	twoResults      = "two-results"
	strayReply      = "stray-reply"
	calledOneway    = "called-oneway"
	notChecked      = "not-checked"
)

// Report is what was found.
type Report struct {
	Calls      int64      `json:"calls"`
	Unanswered int64      `json:"unanswered"` // calls without an answer, and oneway ones not sent
	UnderWay   int64      `json:"underWay"`   // until the recording ended, or their client left
	Findings   []*Finding `json:"findings"`   // the most frequent ones first
	More       int64      `json:"more"`       // how often there was something of another kind

	answered, oneway int64 // calls that the server has answered, and that it need not answer
}

// The bounds of what is kept: kinds of findings, and bytes of a name or text.
const (
	maxFindings = 1000
	maxText     = 300
)

// Verifier compares calls with an IDL. Any number of goroutines may use it.
type Verifier struct {
	rules *valuerules.Rules
	first func(*Finding)

	mu     sync.Mutex
	report Report
	known  map[Finding]*Finding // by what tells kinds apart
}

// New returns a Verifier, and errors about rules that it can't check. It calls first for the first
// of each kind.
func New(idl *idlfiles.IDL, first func(*Finding)) (*Verifier, []error) {
	var types []descriptor.Struct
	for _, s := range idl.Services {
		for m := range s.AllMethods() {
			types = append(types, m.Args(), m.Result())
		}
	}
	rules, errs := valuerules.New(types...)
	return &Verifier{rules: rules, first: first, known: map[Finding]*Finding{}, report: Report{Findings: []*Finding{}}}, errs
}

// Report returns what was found so far.
func (v *Verifier) Report() Report {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.report
	r.Findings = make([]*Finding, len(r.Findings))
	for i, f := range v.report.Findings {
		now := *f
		r.Findings[i] = &now
	}
	slices.SortStableFunc(r.Findings, func(a, b *Finding) int { return cmp.Compare(b.Count, a.Count) })
	return r
}

// found counts a finding. detail tells it from others of its kind; it is part of the text.
func (v *Verifier) found(f Finding, detail string) {
	f.Method, f.Path = short(f.Method), short(f.Path)
	key := f
	key.Text = short(detail)
	v.mu.Lock()
	defer v.mu.Unlock()
	if old := v.known[key]; old != nil {
		old.Count++
		return
	}
	if len(v.known) >= maxFindings {
		v.report.More++
		return
	}
	f.Text, f.Count = short(f.Text), 1
	v.known[key] = &f
	v.report.Findings = append(v.report.Findings, &f)
	v.first(&f)
}

// short returns text of bounded length: of a long one the end, where paths differ.
func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return "…" + text[len(text)-maxText:]
}

// Call compares a client's call. m is nil if err says why the IDL has no such method.
func (v *Verifier) Call(name string, m *invoke.Method, err error, oneway bool, args []byte) {
	v.mu.Lock()
	v.report.Calls++
	v.mu.Unlock()
	switch {
	case m == nil && errors.Is(err, descriptor.ErrNotFound):
		v.found(Finding{Side: client, Method: name, Kind: unknownMethod, Text: "the IDL has no such method"}, "")
		return
	case m == nil:
		v.found(Finding{Side: client, Method: name, Kind: notChecked, Text: "not checked: " + err.Error()}, "")
		return
	case oneway && !m.Oneway:
		v.found(Finding{Side: client, Method: m.String(), Kind: calledOneway, Text: "called as a oneway method"}, "")
	}
	v.message(client, m, m.Desc().Args(), args)
}

// Refused notes bytes of a client that are no call, and why. name is "" if they do not say it.
func (v *Verifier) Refused(peer, name, why string) { v.malformed(client, peer, name, why) }

// Stray notes a server's reply that no call waits for, such as a second one to a call.
func (v *Verifier) Stray(peer, name string) {
	v.found(Finding{Side: server, Method: name, Kind: strayReply, Text: "a reply that no call waits for (client " + peer + ")"}, "")
}

// Broken notes why a connection to the server has failed, if its bytes were no messages. method is
// the one that was called last.
func (v *Verifier) Broken(peer, method string, err error) {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		v.malformed(server, peer, method, "a reply has begun, and does not end")
	case isMalformed(err):
		v.malformed(server, peer, method, err.Error())
	}
}

// Errors of calls that were under way when the recording ended, or when their client went.
var (
	ErrEnded = errors.New("the recording ended before the answer")
	ErrGone  = errors.New("the client was gone before the answer")
)

// Reply compares a server's reply to a call of a client on peer: the wire bytes of the result, or
// an error. m is nil if the IDL does not have the method. told means that Broken tells why
// connections have failed.
func (v *Verifier) Reply(peer, name string, m *invoke.Method, reply []byte, err error, told bool) {
	if m != nil {
		name = m.String()
	}
	answer := invoke.Answer(err)
	v.count(err, answer != nil)
	switch {
	case told && (errors.Is(err, rpc.ErrConnLost) || errors.Is(err, rpc.ErrNotSent)):
	case isMalformed(err):
		v.malformed(server, peer, name, err.Error())
	case m == nil:
	case err == nil:
		v.message(server, m, m.Desc().Result(), reply)
	case answer != nil && answer.Type == rpc.UnknownMethod:
		v.found(Finding{Side: server, Method: name, Kind: unknownMethod, Text: "the server does not know the method"}, "")
	}
}

// count counts an answer, an exception among them, or why there is none.
func (v *Verifier) count(err error, exception bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case err == nil || exception:
		v.report.answered++
	case errors.Is(err, ErrEnded) || errors.Is(err, ErrGone):
		v.report.UnderWay++
	default:
		v.report.Unanswered++
	}
}

// Oneway counts a oneway call, which the server has been sent unless there is an error.
func (v *Verifier) Oneway(err error) {
	if err != nil {
		v.count(err, false)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.oneway++
}

// isMalformed reports whether a call has failed because of the bytes that came for a reply.
func isMalformed(err error) bool {
	var bad *nocopy.Error
	for _, kind := range []error{rpc.ErrBadReply, rpc.ErrVersion, linkbuf.ErrFrameSize, nocopy.ErrLimit, io.ErrUnexpectedEOF} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return invoke.Answer(err) == nil && errors.As(err, &bad)
}

// malformed notes bytes that are no message, or one that does not belong there. Offsets, lengths
// and ids do not tell such findings apart.
func (v *Verifier) malformed(side, peer, name, why string) {
	v.found(Finding{Side: side, Method: name, Kind: malformed, Text: "malformed: " + why + " (client " + peer + ")"}, digits.ReplaceAllString(why, "#"))
}

var digits = regexp.MustCompile(`\d+`)

// message compares the arguments or the result of a call.
func (v *Verifier) message(side string, m *invoke.Method, s descriptor.Struct, wire []byte) {
	w := &walker{Verifier: v, side: side, method: m.Desc(), name: m.String(), wire: wire}
	w.root(s)
	msg, err := dynamic.Type{Struct: s}.Parse(wire, m.Limits())
	if err != nil {
		if w.findings == 0 {
			w.found(malformed, err.Error(), "")
		}
		return // a server would refuse it
	}
	defer msg.Release()
	complete := v.rules.Check(msg, func(x valuerules.Violation) {
		text := "breaks " + x.Rule
		if x.Got != "" {
			text = x.Got + " " + text
		}
		v.found(Finding{Side: side, Method: w.name, Path: w.pathOf(x.Path), Kind: brokenRule, Text: text}, x.Rule)
	})
	if !complete {
		w.found(notChecked, "the message is too large: not all rules were checked", "")
	}
}

// Incomplete returns why a report without findings does not show that both sides keep to the IDL;
// nil if it does.
func (r *Report) Incomplete() error {
	switch {
	case r.Calls == 0:
		return errors.New("no call went by")
	case r.Unanswered > 0:
		return fmt.Errorf("%d of %d calls got no answer", r.Unanswered, r.Calls)
	case r.answered == 0 && (r.oneway == 0 || r.UnderWay > 0):
		return errors.New("the server has answered no call")
	}
	return nil
}

// Lines returns the lines that tell what was found.
func (r *Report) Lines() (lines []string) {
	left := ""
	if r.Unanswered > 0 {
		left = fmt.Sprintf(", %d without an answer", r.Unanswered)
	}
	if r.UnderWay > 0 {
		left += fmt.Sprintf(", %d under way when their clients or the recording ended", r.UnderWay)
	}
	if len(r.Findings) == 0 {
		return []string{fmt.Sprintf("nothing in %d calls breaks the IDL%s", r.Calls, left)}
	}
	lines = append(lines, fmt.Sprintf("%d calls%s; what breaks the IDL, and how often:", r.Calls, left))
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%6d  %s", f.Count, f))
	}
	if r.More > 0 {
		lines = append(lines, fmt.Sprintf("%6d  of other kinds", r.More))
	}
	return lines
}
