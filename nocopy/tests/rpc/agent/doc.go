// Package agent is generated from agent.thrift, for a test of package rpc.
package agent

//go:generate go run ../../../../gen/nocopyc -o .. agent.thrift
