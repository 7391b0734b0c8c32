// Package audit finds what a change of .thrift files breaks: everything that Apache's thrift
// --audit finds, mostly by the same rules, and more.
//
// A Version is one state of the files: on disk, or in a git revision. Compare pairs the files of
// two Versions and the definitions in them, and returns a Finding for each difference that
// matters.
//
// version.go and git.go load Versions, servers.go those of servers and bundles, and history.go
// finds earlier uses of ids. pair.go pairs files and definitions, compare.go, fields.go and
// service.go compare them, and types.go compares types. policy.go has the table of rules,
// ignore.go the findings that a team has accepted, and print.go writes findings.
//
// It is a part of commands: its names may change in any version, see docs/upgrading.md.
package audit
