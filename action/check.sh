# Formats, lints and audits the files and folders of PATHS, and prints annotations in GitHub's form.
# All three run. The exit code is that of the last one which has found something or failed.
set -uf
cd "${GITHUB_WORKSPACE:-.}" || exit
branch=${GITHUB_BASE_REF:-} # of a pull request: the branch into which it is to be merged
code=0
nocopy fmt -check -format github $PATHS || code=$?
nocopy lint -format github $PATHS || code=$?
[ "$branch" ] || exit "$code"

# actions/checkout fetches one commit, unless it is told otherwise. The audit needs the merge base,
# and older commits for ids of fields that were removed.
base=refs/remotes/origin/$branch
unshallow=
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
	unshallow=--unshallow
fi
if [ "$unshallow" ] || ! git rev-parse --quiet --verify "$base" >/dev/null; then
	git fetch --quiet --no-tags $unshallow origin "$(git rev-parse HEAD)" "+refs/heads/$branch:$base"
fi
if ! base=$(git merge-base "$base" HEAD); then
	echo "::error title=audit::no history to compare with: give actions/checkout fetch-depth: 0"
	exit 1
fi
echo "nocopy audit: what has changed since $base"
nocopy audit -format github "$base" . $PATHS || code=$?
exit "$code"
