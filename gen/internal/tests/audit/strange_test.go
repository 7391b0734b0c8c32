//go:build unix

package audit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/audit"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// TestStrangeRepository opens a file in repositories whose settings name a program for objects
// that are missing. Commit and Committed, which editors call for any file, do not run it.
func TestStrangeRepository(t *testing.T) {
	for name, settings := range map[string]string{
		"path":    "remote.x.url=. remote.x.uploadpack=PROGRAM",
		"ssh":     "remote.x.url=ssh://x.invalid/x core.sshCommand=PROGRAM",
		"git":     "remote.x.url=git://x.invalid/x core.gitProxy=PROGRAM",
		"ext":     "remote.x.url=ext::PROGRAM protocol.ext.allow=always",
		"allowed": "remote.x.url=. remote.x.uploadpack=PROGRAM protocol.allow=always protocol.file.allow=always",
		"fsmonitor": "remote.x.url=. core.fsmonitor=PROGRAM core.pager=PROGRAM diff.external=PROGRAM filter.x.smudge=PROGRAM " +
			"diff.x.textconv=PROGRAM core.alternateRefsCommand=PROGRAM log.showSignature=true gpg.program=PROGRAM",
	} {
		t.Run(name, func(t *testing.T) {
			repository(t)
			ran := filepath.Join(t.TempDir(), "ran")
			program := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\nexit 1\n"), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, ".", ".gitattributes", "* filter=x diff=x\n")
			for _, s := range strings.Fields(strings.ReplaceAll(settings, "PROGRAM", program) +
				" core.repositoryFormatVersion=1 extensions.partialClone=x remote.x.promisor=true") {
				key, value, _ := strings.Cut(s, "=")
				git(t, "config", key, value)
			}
			whole, err := audit.Committed(t.Context(), "HEAD", "top.thrift", nil)
			if err != nil {
				t.Fatal(err)
			}
			now, err := audit.Edited(schema.Disk, "top.thrift", nil)
			if err != nil {
				t.Fatal(err)
			}
			audit.Compare(whole, now, audit.Options{})
			for _, object := range []string{"HEAD:top.thrift", "HEAD^{tree}", "HEAD^{commit}"} {
				id, err := exec.Command("git", "rev-parse", object).Output()
				if err != nil {
					t.Fatal(err)
				}
				hex := strings.TrimSpace(string(id))
				if err := os.Remove(filepath.Join(".git", "objects", hex[:2], hex[2:])); err != nil {
					t.Fatal(err)
				}
				_, _ = audit.Commit(t.Context(), "HEAD", "top.thrift")
				if _, err := audit.Committed(t.Context(), "HEAD", "top.thrift", nil); err == nil {
					t.Errorf("without %s there is no error", object)
				}
				if _, err := os.Stat(ran); err == nil {
					t.Fatalf("without %s, the program was run", object)
				}
			}
		})
	}
}

// TestBareRepositoryInside: a repository can have files that are a bare repository, with settings
// of their own. An audit of its folder does not enter it.
func TestBareRepositoryInside(t *testing.T) {
	repository(t)
	git(t, "clone", "-q", "--bare", ".", "sub")
	write(t, ".", "sub/a.thrift", "struct A {}")
	if commit, err := audit.Commit(t.Context(), "HEAD", "sub/a.thrift"); err == nil {
		t.Errorf("%s is a commit of a bare repository", commit)
	}
	if _, _, err := audit.Load(audit.Input{Old: "HEAD", New: "sub"}); err == nil || !strings.Contains(err.Error(), "bare") {
		t.Error(err)
	}
}
