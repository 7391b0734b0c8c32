package idlfiles

import (
	"fmt"
	"io"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// IsBundle reports whether a path is one of a bundle.
func IsBundle(name string) bool { return strings.HasSuffix(name, ".bundle") }

// LoadBundle reads a file that nocopy bundle has written. It does not trust the file.
func LoadBundle(name string) (*IDL, error) {
	f, err := schema.OpenRegular(name) // a pipe might never end
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var i *IDL
	b, err := io.ReadAll(io.LimitReader(f, maxBundle+1))
	if err == nil {
		i, err = ParseBundle(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return i, nil
}

// maxBundle is how many bytes of a bundle are read. A longer one is refused when it is parsed.
const maxBundle = 2 << 20

// ParseBundle returns the IDL of a bundle with these bytes.
func ParseBundle(b []byte) (*IDL, error) {
	d, err := dynamic.ParseDescription(b)
	if err != nil {
		return nil, fmt.Errorf("this is no bundle: %w", err)
	}
	return described(d, "make the bundle anew with nocopy bundle")
}
