package shop

//go:generate go run ../../../../gen/nocopyc -o .. shop.thrift
