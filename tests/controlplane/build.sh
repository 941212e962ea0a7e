#!/bin/sh
# Builds what is missing of the real control plane, from Go modules, once.
#
#   build.sh TARGET_DIR   build into TARGET_DIR; it is then what KUBEBUILDER_ASSETS should name
#   build.sh --where      print that folder: KUBEBUILDER_ASSETS, or one per user and set of versions
#   build.sh --list       print the programs, one a line
#   build.sh --go         print the Go that builds them, or fail
#
# Every folder beside this file with a go.mod is one module with its own
# dependencies, and each of its `tool` lines one program. To add a program, add
# a folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
oldest_go=26 # 1.26, by the go lines of the modules

# One "module package program" a line. A command is called after its last path
# element; a module whose root is the command, after its folder.
programs() {
    for mod in "$here"/*/go.mod; do
        awk -v folder="$(basename "$(dirname "$mod")")" '
            /^tool \(/ { inside = 1; next }
            inside && /^\)/ { inside = 0 }
            inside { path = $1 }
            /^tool [^(]/ { path = $2 }
            path { n = split(path, part, "/"); print folder, path, (path ~ /\/cmd\//) ? part[n] : folder; path = "" }
        ' "$mod"
    done
}

where() {
    versions=$(cat "$here"/*/go.mod "$here"/*/go.sum | cksum | cut -d' ' -f1)
    echo "${KUBEBUILDER_ASSETS:-${XDG_CACHE_HOME:-$HOME/.cache}/forewarn/controlplane/$versions}"
}

find_go() {
    for candidate in go "$here/../../.venv/bin/go"; do
        version=$(GOTOOLCHAIN=local "$candidate" env GOVERSION 2>/dev/null) || continue
        minor=${version#go1.} && minor=${minor%%[!0-9]*}
        [ "${minor:-0}" -ge "$oldest_go" ] && command -v "$candidate" && return
    done
    return 1
}

# Clients parse the version of Kubernetes, which only its own build system sets.
stamps() {
    version=$(awk '$1 == "k8s.io/kubernetes" { print $2 } $2 == "k8s.io/kubernetes" { print $3 }' "$1/go.mod")
    [ -n "$version" ] || return 0
    into=k8s.io/component-base/version
    minor=${version#v1.}
    echo "-X $into.gitVersion=$version -X $into.gitMajor=1 -X $into.gitMinor=${minor%%.*}"
}

build() { # module package program
    started=$(date +%s)
    echo "control plane: building $3 (minutes for the first, then less)"
    (cd "$here/$1" && CGO_ENABLED=0 "$go" build -trimpath \
        -ldflags "-s -w $(stamps "$here/$1")" -o "$target/.$3.$$" "$2")
    mv "$target/.$3.$$" "$target/$3"
    echo "control plane: $3 built in $(($(date +%s) - started)) s"
}

case "${1:-}" in
--where) where; exit ;;
--go) find_go; exit ;;
--list) programs | cut -d' ' -f3; exit ;;
'' | -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

target=$1
missing=$(programs | while read -r module package program; do
    [ -x "$target/$program" ] || echo "$module $package $program"
done)
[ -n "$missing" ] || exit 0
if ! go=$(find_go); then
    echo "control plane: no Go 1.$oldest_go or later found; this brings it: make go" >&2
    exit 1
fi
mkdir -p "$target"
trap 'rm -f "$target"/.*.$$' EXIT
echo "$missing" | while read -r module package program; do
    build "$module" "$package" "$program" </dev/null
done
