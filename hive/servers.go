package hive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// This file chooses a server among several. A session stays with the server that opened it.

// mostServers bounds how many servers Connect tries: each may take Config.Timeout.
const mostServers = 16

// connectAny connects to one of the servers. It returns the error of each one that it has tried.
func connectAny(ctx context.Context, cfg Config) (*Conn, error) {
	addrs, err := cfg.servers(ctx)
	if err != nil {
		return nil, hiveError("connecting", err)
	}
	failed := serversError{known: len(addrs)}
	for _, addr := range addrs[:min(len(addrs), mostServers)] {
		cfg.Addr = addr
		c, err := connectTo(ctx, cfg)
		if err == nil {
			return c, nil
		}
		failed.add(addr, err)
		if ctx.Err() != nil || cfg.SASL == nil && cfg.Authorize == nil && refusesLogin(err) {
			break
		}
	}
	return nil, failed.err()
}

// servers returns the addresses to try, in this order. There is at least one.
func (c *Config) servers(ctx context.Context) ([]string, error) {
	if !c.HTTP && (c.Token != "" || c.Authorize != nil) {
		return nil, errToken
	}
	addrs := strings.Split(c.Addr, ",")
	if c.Discover != nil {
		if c.Addr != "" {
			return nil, errors.New("Config has both Addr and Discover")
		}
		ctx, cancel := context.WithTimeout(ctx, c.withDefaults().Timeout)
		defer cancel()
		found, err := c.Discover(ctx)
		if err != nil {
			return nil, fmt.Errorf("Config.Discover: %w", err)
		}
		if len(found) == 0 {
			return nil, errors.New("Config.Discover has found no server")
		}
		addrs = slices.Clone(found)
	}
	if !c.InOrder {
		rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	}
	return addrs, nil
}

// checkAddr returns an error unless addr is a host and a port. Discovered ones come from others.
func checkAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	switch {
	case len(addr) > 300:
		return fmt.Errorf("an address of %d bytes, which begins with %q", len(addr), addr[:100])
	case strings.ContainsFunc(addr, func(r rune) bool { return !harmless(string(r)) && !strings.ContainsRune(":[]%", r) }), strings.Contains(addr, "/"):
		return fmt.Errorf("the address %q has a character that is not of a host or port", addr)
	case err != nil:
		return err
	case host == "" || port == "":
		return fmt.Errorf("the address %q has no host or no port", addr)
	}
	return nil
}

// refusesLogin reports whether a server has refused the password. The others would do so, too, and
// count it as one more wrong password. Config.SASL and Authorize are asked again for each server:
// with Kerberos each has its own principal and keytab.
func refusesLogin(err error) bool {
	var status *rpc.HTTPError
	return errors.Is(err, rpc.ErrLogin) ||
		errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden)
}

// serversError has the errors of servers that were tried.
type serversError struct {
	known int // servers, tried or not
	texts []string
	errs  []error
}

func (e *serversError) add(addr string, err error) {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "hive: "), "connecting: ")
	if checkAddr(addr) == nil { // else the error quotes it
		text = addr + ": " + text
	}
	e.texts = append(e.texts, text)
	e.errs = append(e.errs, err)
}

// err returns the error of the only server as it is.
func (e *serversError) err() error {
	if e.known == 1 {
		return e.errs[0]
	}
	return e
}

// Error names all servers that were tried, each with its error.
func (e *serversError) Error() string {
	text := "hive: connecting: " + strings.Join(e.texts, "; ")
	if n := e.known - len(e.errs); n > 0 {
		text += fmt.Sprintf("; %d more not tried", n)
	}
	return text
}

// Unwrap returns the errors of all servers that were tried.
func (e *serversError) Unwrap() []error { return e.errs }
