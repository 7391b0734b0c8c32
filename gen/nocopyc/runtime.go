package main

// Generated code calls this package. The command imports it so that "go get -tool" adds the
// modules that it needs to the user's go.mod and go.sum.
import _ "github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
