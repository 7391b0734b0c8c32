//go:build !unix

package project

import "io/fs"

// stranger reports nothing: the system has no such owners.
func stranger(fs.FileInfo, string) string { return "" }
