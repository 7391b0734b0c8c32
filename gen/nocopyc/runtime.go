package main

// Generated code calls this package. That the command depends on it, too, makes "go get -tool"
// enter what it needs into the user's go.mod and go.sum.
import _ "github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
