package record

import (
	"context"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
)

// refusals is the log of the server for clients. Bytes of a client that are no call do not reach
// the handler: only the log has them.
type refusals struct {
	slog.Handler
	*recorder
}

// Handle writes a record. With -verify, refused bytes are findings.
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
		name := said["method"]
		if m, err := invoke.Find(h.idl, name, "", h.MaxDepth); err == nil {
			name = m.String()
		}
		h.verifier.Refused(said["peer"], name, said["err"])
	}
	return h.Handler.Handle(ctx, rec)
}
