# Rust: the crate thrift (Cargo.toml has its version). Read by ../setup.sh.
need cargo
thrift=$(compiler)
generate "$thrift" rs
cp "$here/rust/"*.rs "$here/rust/Cargo.toml" "$work/gen"
echo "rust: downloading and compiling the crate thrift" >&2
(cd "$work/gen" && cargo fetch --quiet >&2) || unavailable "cargo could not download the crate thrift"
(cd "$work/gen" && cargo build --quiet --offline --target-dir "$work/target" >&2)
mv "$work/target/debug/server" "$work/target/debug/client" "$work"
rm -rf "$work/target"
