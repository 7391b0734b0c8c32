// Package listen opens the ports of commands that serve.
package listen

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
)

// On listens on HOST:PORT, or on a unix socket whose path is given. Without a host it is the
// loopback interface: to be reached from other machines, a user has to name an address of this
// one, such as 0.0.0.0.
func On(addr string) (net.Listener, error) {
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	network, address := target.Address(addr)
	if network == "unix" {
		// An earlier process has left its socket. Only this user may connect to the new one.
		if info, err := os.Stat(address); err == nil && info.Mode()&os.ModeSocket != 0 {
			if nc, err := net.Dial("unix", address); err == nil {
				nc.Close()
				return nil, &net.OpError{Op: "listen", Net: network, Err: &os.PathError{Op: "listen", Path: filepath.Clean(address), Err: syscall.EADDRINUSE}}
			}
			os.Remove(address)
		}
	}
	return net.Listen(network, address)
}
