package command

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckOutputs returns an error if a command would write a file that it also reads, or one file
// for two outputs. It must be called before anything is written. Empty names, "-", and what is no
// file, such as a device, do not count.
func CheckOutputs(outputs, inputs []string) error {
	type place struct { // files with other places are other files
		size, time int64
		path       string // of a file that does not exist
	}
	type named struct {
		name string
		info os.FileInfo
		read bool
	}
	known := map[place][]named{}
	check := func(name string, read bool) error {
		if name == "" || name == "-" {
			return nil
		}
		var at place
		info, err := os.Stat(name)
		switch {
		case err != nil:
			at.path = pathOf(name)
		case !info.Mode().IsRegular():
			return nil
		default:
			at.size, at.time = info.Size(), info.ModTime().UnixNano()
		}
		for _, other := range known[at] {
			switch {
			case read || info != nil && !os.SameFile(info, other.info):
			case other.read:
				return fmt.Errorf("%s would be overwritten, but it is read, too: name another file to write", name)
			default:
				return fmt.Errorf("%s would be written twice: name another file than %s", name, other.name)
			}
		}
		known[at] = append(known[at], named{name, info, read})
		return nil
	}
	for _, name := range inputs {
		check(name, true)
	}
	for _, name := range outputs {
		if err := check(name, false); err != nil {
			return err
		}
	}
	return nil
}

// pathOf returns the path of a file that does not exist: two names of it have the same.
func pathOf(name string) string {
	dir, file := filepath.Split(name)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, file)
}
