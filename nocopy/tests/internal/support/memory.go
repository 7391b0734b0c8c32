package support

import (
	"math"
	"runtime"
	"runtime/debug"
)

// Allocated returns how many bytes f allocates, starting with empty pools.
func Allocated(f func()) int {
	for range 2 { // what pools hold survives one collection
		runtime.GC()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// AllocsPerRun is testing.AllocsPerRun without rounding: the average number of allocations of f.
func AllocsPerRun(f func()) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const runs = 500
	least := math.Inf(1)
	for range 3 { // the runtime itself allocates sometimes
		f()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			f()
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/runs)
	}
	return least
}
