//go:build nounsafe || !linux || !(amd64 || arm64 || loong64 || ppc64le || riscv64)

package socket

// KnowsUnread reports whether acknowledged and unacknowledged know.
const KnowsUnread = false

// acknowledged returns -1: how many bytes the other end has acknowledged is not known.
func acknowledged(uintptr) int64 { return -1 }

// unacknowledged returns 0: how many bytes the other end has not acknowledged is not known.
func unacknowledged(uintptr) int { return 0 }
