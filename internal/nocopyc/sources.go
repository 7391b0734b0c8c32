package nocopyc

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Expand returns the files that paths name, each once: in folders all .thrift files, without those
// in folders whose names begin with a dot.
func Expand(files schema.Files, paths []string) ([]string, error) {
	var names []string
	for _, path := range paths {
		if files.IsFile(path) {
			names = append(names, path)
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
		before := len(names)
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != path && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case !d.IsDir() && filepath.Ext(name) == ".thrift":
				names = append(names, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(names) == before {
			return nil, fmt.Errorf("%s has no .thrift files", path)
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		name = filepath.Clean(name)
		defer func() { seen[name] = true }()
		return seen[name]
	}), nil
}
