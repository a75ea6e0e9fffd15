package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

// completionCommand prints what a shell needs to complete the command line. It is
// made of the command table, so it knows no less.
func (a app) completionCommand(_ context.Context, stdout, _ io.Writer, args []string) error {
	write := map[string]func(io.Writer, []command){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	if len(args) != 1 || write[args[0]] == nil {
		return usageError("completion takes the shell's name: bash, zsh or fish")
	}
	write[args[0]](stdout, a.commands())
	return nil
}

const completionNotes = `  bash: skewlens completion bash > ~/.local/share/bash-completion/completions/skewlens
  zsh:  skewlens completion zsh > a folder of $fpath, as _skewlens
  fish: skewlens completion fish > ~/.config/fish/completions/skewlens.fish
`

// option is a flag as a person writes it.
type option struct {
	name, value, what string // value is empty where it takes none
}

// options are the flags of a command, as its help has them.
func (c command) options() (out []option) {
	if c.flags == nil {
		return nil
	}
	c.flags().VisitAll(func(f *flag.Flag) {
		value, what := flag.UnquoteUsage(f)
		dashes := "--"
		if len(f.Name) == 1 {
			dashes = "-"
		}
		out = append(out, option{dashes + f.Name, value, what})
	})
	return out
}

// values are those of an option whose help lists them: "report as FORMAT: text,
// html or json (default text)".
func (o option) values() []string {
	_, list, ok := strings.Cut(o.what, o.value+": ")
	if !ok || o.value == "" {
		return nil
	}
	list, _, _ = strings.Cut(list, " (default")
	list, _, _ = strings.Cut(list, ", or ")
	out := strings.Split(strings.ReplaceAll(list, " or ", ", "), ", ")
	for _, word := range out {
		if word == "" || strings.ContainsAny(word, " :") {
			return nil // it is a sentence
		}
	}
	return out
}

// single is a text between single quotes of a shell.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func bashCompletion(w io.Writer, all []command) {
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	fmt.Fprintf(w, `# bash completion of skewlens, made by "skewlens completion bash"
_skewlens() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} i options values
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W %s -- "$word"))
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then # behind it stands another program's command line
            if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); else compopt -o default; fi
            return
        fi
    done
    case ${COMP_WORDS[1]}:$before in
`, single(strings.Join(names, " ")))
	for _, c := range all {
		for _, o := range c.options() {
			if v := o.values(); v != nil {
				fmt.Fprintf(w, "    %s:%s) values=%s ;;\n", c.name, o.name, single(strings.Join(v, " ")))
			}
		}
	}
	fmt.Fprint(w, "    help:help) values="+single(strings.Join(names, " "))+" ;;\n    esac\n    case ${COMP_WORDS[1]} in\n")
	for _, c := range all {
		var list []string
		for _, o := range c.options() {
			list = append(list, o.name)
		}
		fmt.Fprintf(w, "    %s) options=%s ;;\n", c.name, single(strings.Join(list, " ")))
	}
	fmt.Fprint(w, `    esac
    if [[ -n $values ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options --" -- "$word"))
    else
        compopt -o default
    fi
}
complete -F _skewlens skewlens
`)
}

func zshCompletion(w io.Writer, all []command) {
	fmt.Fprint(w, "#compdef skewlens\n# zsh completion of skewlens, made by \"skewlens completion zsh\"\n_skewlens() {\n    local -a commands\n    commands=(\n")
	for _, c := range all {
		fmt.Fprintf(w, "        %s\n", single(c.name+":"+c.summary))
	}
	fmt.Fprint(w, "    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n    fi\n    local command=$words[2]\n    shift words\n    ((CURRENT--))\n    case $command in\n")
	for _, c := range all {
		fmt.Fprintf(w, "    %s)\n        _arguments -S", c.name)
		for _, o := range c.options() {
			what := strings.NewReplacer("[", "(", "]", ")", ":", "", "\n", " ").Replace(o.what)
			spec := o.name + "[" + what + "]"
			switch v := o.values(); {
			case v != nil:
				spec += ":" + o.value + ":(" + strings.Join(v, " ") + ")"
			case o.value != "":
				spec += ":" + o.value + ":_files"
			}
			fmt.Fprintf(w, " \\\n            %s", single(spec))
		}
		fmt.Fprint(w, " \\\n            '*::program:_normal'\n        ;;\n")
	}
	fmt.Fprint(w, "    esac\n}\n_skewlens \"$@\"\n")
}

func fishCompletion(w io.Writer, all []command) {
	fmt.Fprint(w, "# fish completion of skewlens, made by \"skewlens completion fish\"\n")
	for _, c := range all {
		fmt.Fprintf(w, "complete -c skewlens -n __fish_use_subcommand -f -a %s -d %s\n", c.name, single(c.summary))
	}
	for _, c := range all {
		for _, o := range c.options() {
			kind := "-l " + strings.TrimPrefix(o.name, "--")
			if !strings.HasPrefix(o.name, "--") {
				kind = "-o " + strings.TrimPrefix(o.name, "-")
			}
			takes := ""
			switch v := o.values(); {
			case v != nil:
				takes = " -x -a " + single(strings.Join(v, " "))
			case o.value != "":
				takes = " -r"
			}
			fmt.Fprintf(w, "complete -c skewlens -n '__fish_seen_subcommand_from %s' %s%s -d %s\n", c.name, kind, takes, single(o.what))
		}
	}
}
