package interop_test

import "testing"

var (
	transports = []string{"framed", "buffered"}
	protocols  = []string{"binary", "multi"}
)

// matrix runs a test for every transport with every protocol.
func matrix(t *testing.T, test func(t *testing.T, transport, protocol string)) {
	for _, transport := range transports {
		for _, protocol := range protocols {
			t.Run(transport+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				test(t, transport, protocol)
			})
		}
	}
}

// TestApacheAgainstItself: the judge's own client finds no fault with its own server.
func TestApacheAgainstItself(t *testing.T) {
	matrix(t, func(t *testing.T, transport, protocol string) {
		port := startApache(t, transport, protocol, apacheHandler{})
		dialApache(t, port, transport, protocol).callEverything()
	})
}
