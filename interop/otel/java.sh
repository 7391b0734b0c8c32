#!/bin/sh
# Builds the Java programs of this module, with libthrift and OpenTelemetry's agent from Maven, and
# runs the tests that call them. Says so if Java or Maven is missing.
set -eu
cd "$(dirname "$0")"
for tool in java javac mvn; do
	if ! command -v $tool >/dev/null; then
		echo "otel: no $tool: calls from and to Java are not tested"
		exit 0
	fi
done
(cd java && mvn -q -B -ntp compile)
NOCOPY_OTEL_JAVA=1 exec go test -count=1 -timeout 5m -run "^TestJava" "$@" .
