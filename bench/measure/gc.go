package measure

import (
	"runtime/metrics"
	"time"
)

// gcTime returns the processor time that the garbage collector has used, up to the end of its last
// cycle.
func gcTime() time.Duration {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(s)
	return time.Duration(s[0].Value.Float64() * float64(time.Second))
}
