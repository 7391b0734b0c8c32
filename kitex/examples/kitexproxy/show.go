package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// Names and weights of the back ends.
const (
	light, lightWeight = "light", 1
	heavy, heavyWeight = "heavy", 3
)

// startEtcd starts an etcd in this process on loopback and returns its address.
func startEtcd(dir string) (*embed.Etcd, string, error) {
	any := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg := embed.NewConfig()
	cfg.Dir, cfg.LogLevel = dir, "fatal"
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = any, any
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = any, any
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true // nothing is to outlive this process
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, "", err
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, e.Clients[0].Addr().String(), nil
	case err = <-e.Err():
	case <-time.After(30 * time.Second):
		err = errors.New("etcd does not start")
	}
	e.Close()
	return nil, "", err
}

// show starts everything, kills a back end and starts it again under load, and says on w what
// became of the calls. Each of the three phases takes as long as phase, and longer until the back
// ends have been called that it is about.
func show(w io.Writer, phase time.Duration, callers int) (err error) {
	dir, err := os.MkdirTemp("", "kitexproxy")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	registry, registryAddr, err := startEtcd(dir)
	if err != nil {
		return err
	}
	defer registry.Close()
	startHeavy := func() (*process, error) { return start("backend", heavy, fmt.Sprint(heavyWeight), registryAddr) }
	first, err := start("backend", light, fmt.Sprint(lightWeight), registryAddr)
	if err != nil {
		return err
	}
	defer first.stop()
	second, err := startHeavy()
	if err != nil {
		return err
	}
	defer func() { second.stop() }()
	front, err := start("proxy", registryAddr)
	if err != nil {
		return err
	}
	defer front.stop()

	l, err := newLoad(front.addr)
	if err != nil {
		return err
	}
	if err := l.waitFor(light, heavy); err != nil { // until both are registered
		return err
	}
	l.run(callers)
	defer l.end()
	report := func(name string, was counts) counts {
		now := l.counts()
		fmt.Fprintf(w, "%-26s %7d calls by light, %7d by heavy, %d failed\n", name,
			now.by[light]-was.by[light], now.by[heavy]-was.by[heavy], now.failed-was.failed)
		return now
	}
	begin := l.counts()
	time.Sleep(phase)
	at := report("both back ends", begin)
	if light, heavy := at.by[light]-begin.by[light], at.by[heavy]-begin.by[heavy]; heavy <= light {
		return fmt.Errorf("%d calls by the heavier back end, %d by the lighter", heavy, light)
	}

	began := time.Now()
	second.kill()
	dead := time.Now()
	time.Sleep(phase)
	if err := l.waitFor(light); err != nil {
		return err
	}
	at = report("heavy was killed", at)

	if second, err = startHeavy(); err != nil {
		return err
	}
	if err := l.waitFor(heavy); err != nil {
		return err
	}
	time.Sleep(phase)
	report("heavy was started again", at)
	l.end()
	return tellLost(w, l.failures(), began, dead)
}

// tellLost writes which of the failures were in flight when a back end was killed, between began
// and dead. Others are an error.
func tellLost(w io.Writer, failures []failure, began, dead time.Time) error {
	lost, inFlight := 0, 0
	for _, f := range failures {
		if f.began.Before(dead) && f.ended.After(began) {
			inFlight++
			continue
		}
		lost++
		fmt.Fprintln(w, "lost:", f.err)
	}
	fmt.Fprintf(w, "in flight when heavy was killed, and failed: %d\nlost beyond those: %d\n", inFlight, lost)
	if lost > 0 {
		return fmt.Errorf("%d calls were lost", lost)
	}
	return nil
}
