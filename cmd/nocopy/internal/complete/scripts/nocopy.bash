# Completion of nocopy for bash: source <(nocopy completion bash)
_nocopy() {
	local line text
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) compopt -o default -o bashdefault 2>/dev/null ;;
		*)
			text=${line%%$'\t'*}
			COMPREPLY+=("$text")
			case $text in
			*= | *.) compopt -o nospace 2>/dev/null ;; # bash 3 has none
			esac
			;;
		esac
	done < <(nocopy complete -line "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
}
complete -F _nocopy nocopy
