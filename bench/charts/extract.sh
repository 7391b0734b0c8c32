#!/bin/sh
# Takes the charts out of a page that  go run . -html PAGE  has made, each into an SVG file in this folder: BENCHMARKS.md shows some of them.
#
#	./extract.sh PAGE WORKLOAD-OP...
set -eu
page=$(realpath "$1")
shift
cd "$(dirname "$0")"
for chart; do
	# A chart begins after the heading that bears its name and ends with its element.
	awk -v id="<h2 id=\"$chart\"" '
		index($0, id) { found = 1 }
		found && /<svg/ { inside = 1 }
		inside { print }
		inside && /<\/svg>/ { exit }
	' "$page" >"$chart.svg"
	test -s "$chart.svg" || { echo "no chart $chart in $page" >&2; rm "$chart.svg"; exit 1; }
done
