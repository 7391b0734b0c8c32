#compdef nocopy
# Completion of nocopy for zsh: source <(nocopy completion zsh), after compinit.
_nocopy() {
	local line text files=
	local -a ends begins shown_ends shown_begins
	while IFS= read -r line; do
		if [[ $line == :files ]]; then
			files=1
			continue
		fi
		text=${line%%$'\t'*}
		if [[ $text == *[=.] ]]; then
			begins+=("$text")
			shown_begins+=("$text  ${line#*$'\t'}")
		else
			ends+=("$text")
			shown_ends+=("$text  ${line#*$'\t'}")
		fi
	done < <(nocopy complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
	(( $#ends )) && compadd -l -d shown_ends -a ends
	(( $#begins )) && compadd -l -S '' -d shown_begins -a begins
	[[ -n $files ]] && _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_nocopy "$@"
else
	compdef _nocopy nocopy
fi
