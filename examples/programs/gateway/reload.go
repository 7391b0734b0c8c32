package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"time"
)

// maxIDL bounds the IDL files of a folder together, in bytes.
const maxIDL = 1 << 20

// readIDL returns the texts of the .thrift files of a folder, by their names.
func readIDL(folder fs.FS) (map[string]string, error) {
	names, err := fs.Glob(folder, "*.thrift")
	if err != nil {
		return nil, err
	}
	texts, left := map[string]string{}, int64(maxIDL)
	for _, name := range names {
		f, err := folder.Open(name)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(f, left+1))
		f.Close()
		if err != nil {
			return nil, err
		}
		if left -= int64(len(text)); left < 0 {
			return nil, fmt.Errorf("the .thrift files have more than %d bytes together", maxIDL)
		}
		texts[name] = string(text)
	}
	if len(texts) == 0 {
		return nil, errors.New("no .thrift files")
	}
	return texts, nil
}

// watch looks at the IDL every so often until ctx ends. The gateway uses a changed IDL if it is
// the same at the next look: no file is used half written. used is the IDL that the gateway uses.
func (g *site) watch(ctx context.Context, folder fs.FS, used map[string]string, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	seen := used
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		texts, err := readIDL(folder)
		if err != nil {
			g.refused.Store(&err)
			used = nil // so that the files are used again when they can be read
			continue
		}
		changed := !maps.Equal(texts, seen)
		seen = texts
		if changed || maps.Equal(texts, used) {
			continue
		}
		used = texts
		if err := g.use(texts); err != nil {
			slog.Error("the new IDL is refused, the old one stays in use", "error", err)
			continue
		}
		slog.Info("the new IDL is in use", "routes", len(g.Routes()))
	}
}
