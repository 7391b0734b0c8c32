//go:build !linux

package capture

import (
	"context"
	"fmt"
)

// Live returns an error: on this system packets can't be read without libpcap.
func Live(_ context.Context, name string, _ Options, _ Output) (Summary, error) {
	return Summary{}, fmt.Errorf("network interfaces are read on Linux only: tcpdump -i %s -U -w - | nocopy dump -", name)
}
