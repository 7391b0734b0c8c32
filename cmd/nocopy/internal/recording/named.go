package recording

import (
	"fmt"
	"path"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
)

// Named reports whether one of these patterns (package path) fits one of the names of a method.
// The flags -only and -methods have such patterns. They may leave the service out, and a dot and a
// colon are the same.
func Named(patterns []string, names ...string) bool {
	for _, name := range names {
		name = strings.ReplaceAll(name, ":", ".")
		for more := true; more; _, name, more = strings.Cut(name, ".") {
			for _, p := range patterns {
				if ok, err := path.Match(strings.ReplaceAll(p, ":", "."), name); ok && err == nil {
					return true
				}
			}
		}
	}
	return false
}

// Names returns the names of a method that patterns are compared with: the one in a recording,
// such as shop:add, and that of the IDL, such as Shop.add. idl is nil if it is not known.
func Names(idl *idlfiles.IDL, recorded string) []string {
	if idl != nil {
		if m, err := invoke.Find(idl, recorded, "", 0); err == nil {
			return []string{recorded, m.String()}
		}
	}
	return []string{recorded}
}

// CheckNames returns the error of a flag with a malformed pattern.
func CheckNames(flag string, patterns []string) error {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%s %s: %w", flag, p, err)
		}
	}
	return nil
}
