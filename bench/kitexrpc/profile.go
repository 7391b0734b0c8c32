package main

import (
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
)

// profileEnv is the environment variable with the folder for the workers' profiles.
const profileEnv = "KITEX_BENCH_PROFILE"

// startProfiles begins a CPU profile of this worker, if there is a folder for it. The returned
// function ends it, and also writes a profile of allocations.
func startProfiles(role, peer string) (end func() error, err error) {
	dir := os.Getenv(profileEnv)
	if dir == "" {
		return func() error { return nil }, nil
	}
	name := filepath.Join(dir, role+"-"+strings.ReplaceAll(peer, ", ", "-"))
	cpu, err := os.Create(name + ".cpu")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		if err := cpu.Close(); err != nil {
			return err
		}
		allocs, err := os.Create(name + ".allocs")
		if err != nil {
			return err
		}
		if err := pprof.Lookup("allocs").WriteTo(allocs, 0); err != nil {
			return err
		}
		return allocs.Close()
	}, nil
}
