//go:build unix

package project

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// stranger returns the user whose file this is, unless that is the user of this process, root, or
// the owner of the working directory: then the file may be read, and the result is "". Otherwise
// any user could put a file into /tmp for others.
func stranger(info fs.FileInfo, wd string) string {
	file, ok := info.Sys().(*syscall.Stat_t)
	if !ok || file.Uid == 0 || int(file.Uid) == os.Geteuid() {
		return ""
	}
	if here, err := os.Stat(wd); err == nil {
		if dir, ok := here.Sys().(*syscall.Stat_t); ok && dir.Uid == file.Uid {
			return ""
		}
	}
	return fmt.Sprint("number ", file.Uid)
}
