#!/usr/bin/env bash
# What a person sees of a run in Neovim, in a terminal of tmux: the interface can
# be right where the screen is not. Usage: screen.sh NVIM WORKSPACE PICTURES
set -euo pipefail
nvim=$1 workspace=$2 pictures=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LANG=C.UTF-8 COLORTERM=truecolor
tm() { tmux -L "skewlens-$$" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null || true' EXIT

screen() { tm capture-pane -t n -p; }
line() { grep -nF "$1" "$workspace/owner.c" | head -1 | cut -d: -f1; }
keys() { tm send-keys -t n "$@"; }

# sees WHAT PATTERN [SECONDS] waits until the screen shows the pattern, and keeps it.
pane=0
sees() {
    local what=$1 pattern=$2 until=$((SECONDS + ${3:-20}))
    while ((SECONDS < until)); do
        if screen >"$pictures/now.txt" && grep -Eq -- "$pattern" "$pictures/now.txt"; then
            pane=$((pane + 1))
            mv "$pictures/now.txt" "$pictures/screen-$pane.txt"
            tm capture-pane -t n -p -e >"$pictures/screen-$pane.ansi"
            echo "PASS on screen: $what"
            return
        fi
        sleep 0.1
    done
    echo "FAIL on screen: $what: no /$pattern/ in:"
    sed 's/^/    /' "$pictures/now.txt"
    exit 1
}

mkdir -p "$pictures"
# Messages of diagnostics stay off, so that what is seen is the hint.
tm -u new-session -d -s n -x 150 -y 34 -c "$workspace" \
    "env TERM=tmux-256color $nvim -n -i NONE -u $here/init.lua -c 'lua vim.diagnostic.config({virtual_text=false,virtual_lines=false})' owner.c"
keys "$(line '/* SECTION */')Gzz"
sees "the lens" 'Profile parallel section'
keys ':Skewlens profile' Enter
sees "progress, and how to cancel" 'skewlens: .*:Skewlens cancel'
sees "the hint behind the guilty line" 'PLANTED \*/.*◀ #1' 60
sees "the imbalance in the lens" '[0-9] ?% ?(·|imbalance).*Profile again|imbalance [0-9.]+ ?%'
keys "$(line '/* PLANTED */')G" K # which both map to the hover
sees "bars in the hover" '█'
keys k # moving closes the hover
keys ':Skewlens causes' Enter
sees "the list" 'owner\.c\|[0-9]+ col [0-9-]+ warning\| *#1'
keys ':qa!' Enter
