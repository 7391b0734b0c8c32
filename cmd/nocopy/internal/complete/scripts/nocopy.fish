# Completion of nocopy for fish: nocopy completion fish > ~/.config/fish/completions/nocopy.fish
function __nocopy_complete
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	for line in (nocopy complete $words[2..-1] "$last" 2>/dev/null)
		if test "$line" = :files
			__fish_complete_path "$last"
		else
			echo -- $line
		end
	end
end
complete -c nocopy -f -a '(__nocopy_complete)'
