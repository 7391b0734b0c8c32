// Package kv is generated from kvstore.thrift: the service of examples/programs/kvstore.
package kv

//go:generate go run ../../gen/nocopyc -o .. kvstore.thrift
