# Node: the package thrift from npm (package.json has its version). Read by ../setup.sh.
need node npm
thrift=$(compiler)
generate "$thrift" js:node,es6
cp "$here/node/"*.js "$here/node/package.json" "$here/reflection/"*.js "$work"
echo "node: downloading thrift" >&2
npm install --prefix "$work" --no-save --no-audit --no-fund --silent >&2 || unavailable "npm could not install thrift"
for program in server client; do
	cat >"$work/$program" <<END
#!/bin/sh
exec node "\$(dirname "\$0")/$program.js" "\$@"
END
done
