package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

// An environment is a server that the page calls.
type environment struct {
	words  []string // of a command line, which name the server
	conn   *target.Connection
	server *target.Server
}

// environment returns the environment of a name, and connects to it at the first call. "" is the
// one that the command line names.
func (s *site) environment(ctx context.Context, name string) (*environment, error) {
	if s.project == nil && name == "" {
		return &environment{s.words(), &s.Connection, s.server}, nil
	}
	if s.project != nil && (name == "" || name == s.project.Target.Name) {
		return &environment{[]string{s.project.Target.Name}, &s.Connection, s.server}, nil
	}
	if s.project == nil || !slices.Contains(s.project.Environments(), name) {
		return nil, fmt.Errorf("there is no environment %q", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.others[name]; e != nil {
		return e, nil
	}
	address, conn, err := s.project.Connection(name)
	if err != nil {
		return nil, err
	}
	first, err := conn.Connect(ctx, address, false)
	if err != nil {
		return nil, err
	}
	first.Close()
	opts := s.dialer
	if conn.TLS {
		opts = nil
	}
	server, err := conn.Again(ctx, address, first.Wire, opts...)
	if err != nil {
		return nil, err
	}
	e := &environment{[]string{name}, conn, server}
	s.others[name] = e
	return e, nil
}

// closeOthers ends the connections of environments.
func (s *site) closeOthers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.others {
		e.server.Close()
	}
}

// words returns the words of a command line that name the server and its IDL.
func (c *Command) words() []string {
	words := []string{c.Address}
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" {
				words = append(words, flag, v)
			}
		}
	}
	add("-idl", c.IDL...)
	add("-I", c.Include...)
	if c.Transport != "auto" {
		add("-transport", c.Transport)
	}
	if c.Protocol != "auto" {
		add("-protocol", c.Protocol)
	}
	for flag, set := range map[string]bool{"-zlib": c.Zlib, "-tls": c.TLS, "-insecure": c.Insecure} {
		if set {
			words = append(words, flag)
		}
	}
	add("-ca", c.CA)
	add("-cert", c.Cert)
	add("-key", c.Key)
	add("-server-name", c.ServerName)
	add("-sasl", c.SASL)
	add("-user", c.User)
	add("-sasl-service", c.SASLService)
	add("-multiplexed", c.Multiplexed)
	return words
}

// line returns a command that makes the same call, without the headers that the command line or
// the project file adds: these may be secret.
func (e *environment) line(c *callJSON) string {
	words := []string{"nocopy", "call", e.words[0], c.Method}
	if args := strings.TrimSpace(c.Args); args != "" && args != "{}" {
		words = append(words, "-d", args)
	}
	for _, h := range c.Headers {
		words = append(words, "-H", h[0]+": "+h[1])
	}
	words = append(words, e.words[1:]...)
	for i, word := range words {
		words[i] = command.ShellQuoted(word)
	}
	return strings.Join(words, " ")
}
