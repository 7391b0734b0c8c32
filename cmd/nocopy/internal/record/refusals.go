package record

import (
	"context"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
)

// refusals is the log of the server for clients. Bytes of a client that are no call do not reach
// the handler: only the log has them.
type refusals struct {
	slog.Handler
	*recorder
}

// Handle writes a record. With -verify, refused bytes are findings, which are told as such.
func (h *refusals) Handle(ctx context.Context, rec slog.Record) error {
	switch rec.Message {
	case "rpc: call refused", "rpc: request refused", "rpc: connection closed":
		if h.verifier == nil {
			break
		}
		said := map[string]string{}
		rec.Attrs(func(a slog.Attr) bool {
			said[a.Key] = a.Value.String()
			return true
		})
		h.verifier.Refused(said["peer"], h.methodName(said["method"]), target.FlagsIn(said["err"]))
		return nil
	}
	return h.Handler.Handle(ctx, rec)
}

// methodName returns the name that findings have for a method.
func (r *recorder) methodName(name string) string {
	if m, err := invoke.Find(r.idl, name, "", r.MaxDepth); err == nil {
		return m.String()
	}
	return name
}

// strays is the log of a client of the server. Replies that no call waits for, and bytes that end
// the connection, are no answers: only the log has them.
type strays struct {
	slog.Handler // which discards
	*recorder
	*upstream
	peer string // the client's client
}

// Enabled is true: Handle wants all records.
func (*strays) Enabled(context.Context, slog.Level) bool { return true }

// Handle makes findings of records, with -verify.
func (h *strays) Handle(_ context.Context, rec slog.Record) error {
	if h.verifier == nil {
		return nil
	}
	said := map[string]slog.Value{}
	rec.Attrs(func(a slog.Attr) bool {
		said[a.Key] = a.Value
		return true
	})
	switch rec.Message {
	case "rpc: reply that no call waits for", "rpc: reply with an unknown sequence id":
		h.verifier.Stray(h.peer, h.methodName(said["method"].String()))
	case "rpc: connection failed":
		name, err := "", said["err"].Any().(error)
		if latest := h.latest.Load(); latest != nil {
			name = h.methodName(*latest)
		}
		h.verifier.Broken(h.peer, name, h.Plainly(err))
	}
	return nil
}
