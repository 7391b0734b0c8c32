package main

import "context"

func (c config) live(ctx context.Context) error { return nil }
func (c config) bench() error                   { return nil }
