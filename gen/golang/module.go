package golang

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// ImportPathOf returns the import path of a directory according to the nearest go.mod, or "" if
// there is none. The directory need not exist.
func ImportPathOf(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for root := abs; ; root = filepath.Dir(root) {
		text, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			module := modulePath(string(text))
			below, err := filepath.Rel(root, abs)
			if module == "" || err != nil {
				return "", err
			}
			return path.Join(module, filepath.ToSlash(below)), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || root == filepath.Dir(root) {
			return "", nil // an unreadable go.mod is the go command's business
		}
	}
}

// modulePath returns the module path in the text of a go.mod, or "".
func modulePath(gomod string) string {
	for line := range strings.Lines(gomod) {
		line, _, _ = strings.Cut(line, "//")
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module"); ok && strings.TrimLeft(rest, " \t") != rest {
			rest = strings.TrimSpace(rest)
			if name, err := strconv.Unquote(rest); err == nil {
				return name
			}
			return rest
		}
	}
	return ""
}
