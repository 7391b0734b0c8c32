// Package discovery is how package hive finds package hive/zookeeper, without importing its client
// of ZooKeeper into programs that have no use for it.
package discovery

import "context"

// ZooKeeper returns a function for Config.Discover. Package hive/zookeeper sets it; it is nil in
// programs that do not import that package.
var ZooKeeper func(ensemble []string, namespace string) func(context.Context) ([]string, error)
