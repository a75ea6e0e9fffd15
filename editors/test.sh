#!/usr/bin/env bash
# Drives real editors through the whole story with examples/owner.c: Neovim 0.10
# and a newer one, without a screen and on one, and VS Code in a browser. As root
# on Debian it installs them beside the system; elsewhere it skips, and says so.
# Where CI=true nothing is skipped: what cannot be driven has failed.
#
#   editors/test.sh [nvim10] [nvim12] [vscode]     default: all
#
# SKEWLENS names a built program to test instead of building one. Pictures and
# screens are left in test-artifacts/editors.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$here")
. "$here/test/install.sh"

work=$(mktemp -d)
server=
cleanup() {
    [[ -z $server ]] || kill -- "-$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
artifacts=$top/test-artifacts/editors
passed=0 failed=0 skipped=0

skip() {
    if [[ ${CI:-} == true ]]; then
        echo "FAIL $1: cannot be driven here: $2"
        failed=$((failed + 1))
    else
        echo "SKIP $1: $2"
        skipped=$((skipped + 1))
    fi
}

# story NAME COMMAND... runs one, and counts what it says. One that ends badly
# without saying FAIL has failed too.
story() {
    local name=$1 log=$work/$1.log status=0 bad
    shift
    echo "== $name"
    timeout --kill-after=5 180 "$@" >"$log" 2>"$log.err" || status=$?
    cat "$log"
    passed=$((passed + $(grep -c '^PASS' "$log" || true)))
    bad=$(grep -c '^FAIL' "$log" || true)
    if ((status != 0)); then
        ((bad)) || { echo "FAIL $name: status $status" && bad=1; }
        tail -c 2000 "$log.err"
    fi
    failed=$((failed + bad))
}

# workspace DIR makes a fresh one, whose program takes about two seconds.
workspace() {
    mkdir -p "$1"
    cp "$top"/examples/{owner.c,example.h} "$1"
    cat >"$1/.skewlens.toml" <<'TOML'
[[target]]
name = "owner"
build = "cc -O2 -g -pthread owner.c -o owner"
program = "owner"
args = ["{threads}", "600"]
threads = 8
TOML
}

# project NAME DIR makes a copy of one that nobody has configured.
project() {
    mkdir -p "$2"
    cp -r "$here/test/projects/$1/." "$2"
    [[ $1 != cmake ]] || cp -r "$here/test/projects/make/src" "$2"
}

# projects are those whose build system is here.
projects() {
    local name
    for name in make cmake cargo; do
        if command -v "$name" >/dev/null; then echo "$name"; fi
    done
}

# The program under test is found in PATH, as a user's would be.
mkdir -p "$work/bin"
if [[ -n ${SKEWLENS:-} ]]; then
    ln -s "$(realpath "$SKEWLENS")" "$work/bin/skewlens"
else
    (cd "$top" && go build -o "$work/bin/skewlens" .)
fi
export PATH=$work/bin:$PATH

# usable NAME says whether an editor is there or can be put there.
usable() { [[ -e $EDITORS/$1/done ]] || can_install; }

in_nvim() { # NAME SUITE
    if ! usable "$1"; then
        skip "$1" "only root on Debian can install it beside the system"
        return
    fi
    neovim "$1" "$2" || { skip "$1" "it could not be installed" && return; }
    local nvim=$EDITORS/$1/nvim
    echo "$1: $("$nvim" --version | head -1)"
    export SKEWLENS_PLUGIN=$here/nvim XDG_CACHE_HOME=$work/$1.cache XDG_STATE_HOME=$work/$1.state
    workspace "$work/$1.story"
    story "$1" env -C "$work/$1.story" "$nvim" -n -i NONE -u "$here/test/nvim/init.lua" --headless \
        -c "luafile $here/test/nvim/story.lua"
    story "$1.missing" env -C "$work/$1.story" HOME="$work" PATH=/usr/bin:/bin "$nvim" -n -i NONE -u "$here/test/nvim/init.lua" --headless \
        -c "luafile $here/test/nvim/missing.lua"
    workspace "$work/$1.pull"
    story "$1.pull" env -C "$work/$1.pull" "$nvim" -n -i NONE -u "$here/test/nvim/init.lua" --headless \
        -c "luafile $here/test/nvim/pull.lua"
    local name
    for name in $(projects); do
        project "$name" "$work/$1.$name"
        PROJECT=$name story "$1.first.$name" env -C "$work/$1.$name" "$nvim" -n -i NONE -u "$here/test/nvim/init.lua" --headless \
            -c "luafile $here/test/nvim/first.lua"
    done
    workspace "$work/$1.screen"
    story "$1.screen" "$here/test/nvim/screen.sh" "$nvim" "$work/$1.screen" "$artifacts/$1"
}

in_vscode() {
    if ! usable vscode; then
        skip vscode "only root on Debian can install it and a browser for it"
        return
    fi
    vscode || { skip vscode "it could not be installed" && return; }
    # Built in a copy: a test leaves no node_modules behind.
    cp -r "$here/vscode" "$work/extension"
    rm -rf "$work/extension/node_modules"
    echo "vscode: code-server $("$CODE" --version | tail -1)"
    story vscode.build "$work/extension/build.sh"
    local vsix=$work/extension/dist/skewlens.vsix
    [[ -e $vsix ]] || return 0

    local user=$work/code log=$work/code-server.log url=
    workspace "$work/vscode.story"
    mkdir -p "$user/User" "$user/Machine"
    # It takes PATH from a login shell, so the program is named: among the machine's
    # settings, for in a window that is connected to one those of the user do not say
    # where programs are (or do for a moment, until it is known what kind of setting it is).
    echo "{ \"skewlens.path\": \"$work/bin/skewlens\" }" >"$user/Machine/settings.json"
    cat >"$user/User/settings.json" <<JSON
{
  "files.autoSave": "off",
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "chat.disableAIFeatures": true,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "telemetry.telemetryLevel": "off",
  "editor.minimap.enabled": false,
  "editor.quickSuggestions": { "other": "off", "comments": "off", "strings": "off" },
  "editor.suggestOnTriggerCharacters": false,
  "editor.acceptSuggestionOnEnter": "off",
  "editor.autoClosingBrackets": "never"
}
JSON
    export XDG_CACHE_HOME=$work/vscode.cache
    "$CODE" --user-data-dir "$user" --extensions-dir "$work/extensions" --install-extension "$vsix" --force >"$log" 2>&1
    # A process group of its own, so that all of it can be ended.
    setsid "$CODE" --user-data-dir "$user" --extensions-dir "$work/extensions" --bind-addr 127.0.0.1:0 --auth none \
        --disable-telemetry --disable-update-check --disable-workspace-trust --disable-getting-started-override \
        --reconnection-grace-time 5 >>"$log" 2>&1 &
    server=$!
    for ((i = 0; i < 300; i++)); do
        url=$(sed -n 's/.*listening on \(http:[^ ]*[0-9]\).*/\1/p' "$log" | head -1)
        [[ -z $url ]] || break
        sleep 0.1
    done
    rm -rf "$artifacts/vscode"
    local name
    for name in $(projects); do
        project "$name" "$work/vscode.$name"
    done
    PROJECTS=$work/vscode. PROJECT_NAMES=$(projects | tr '\n' ' ') SERVER=$url WORKSPACE=$work/vscode.story PROGRAM=$work/bin/skewlens PICTURES=$artifacts/vscode DRIVER=$EDITORS/vscode/drive \
        story vscode node "$here/test/vscode/story.mjs"
    find "$user" -name '*skewlens*.log' -exec cp {} "$artifacts/vscode/" \;
    kill -- "-$server" 2>/dev/null || true
    server=
}

mkdir -p "$artifacts"
for editor in "${@:-all}"; do
    case $editor in
    nvim10) in_nvim nvim10 trixie ;;
    nvim12) in_nvim nvim12 sid ;;
    vscode) in_vscode ;;
    all)
        in_nvim nvim10 trixie
        in_nvim nvim12 sid
        in_vscode
        ;;
    *) echo "editors/test.sh: no editor is called $editor" >&2 && exit 64 ;;
    esac
done

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
