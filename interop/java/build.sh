# Java: libthrift from Maven Central (pom.xml has its version). Read by ../setup.sh.
need java javac mvn
thrift=$(compiler)
generate "$thrift" java:generated_annotations=suppress
echo "java: downloading libthrift" >&2
mvn -B -q -f "$here/java/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" >&2 ||
	unavailable "Maven could not download libthrift"
mkdir "$work/classes"
javac -nowarn -Xlint:none -d "$work/classes" -cp "$work/lib/*" $(find "$work/gen" "$here/java" "$here/reflection" -name '*.java')
for program in Server Client Indexed; do
	# One processor is enough, and the simple garbage collector starts quickly.
	cat >"$work/$(echo $program | tr SCI sci)" <<END
#!/bin/sh
dir=\$(dirname "\$0")
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx512m -cp "\$dir/classes:\$dir/lib/*" $program "\$@"
END
done
chmod +x "$work/indexed"
