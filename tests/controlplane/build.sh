#!/bin/sh
# Builds what is missing of the real control plane, from Go modules, once.
#
#   build.sh TARGET_DIR   build into TARGET_DIR; it is then what KUBEBUILDER_ASSETS should name
#   build.sh --where      print that folder: KUBEBUILDER_ASSETS, or one per user and set of versions
#   build.sh --list       print what is to be there, one a line: programs, and folders of definitions
#   build.sh --go         print the Go that builds them, or fail
#
# With `--monitoring` before them, the newest Prometheus and Alertmanager instead
# (tests/monitoring/); FOREWARN_MONITORING then names the folder.
#
# Every folder beside this file with a go.mod is one module with its own
# dependencies, and each of its `tool` lines one program. To add a program, add
# a folder. A file `definitions` in it names definitions of custom resources
# that come as files of a module, "module pattern" a line; they are copied to
# TARGET_DIR/definitions/FOLDER. A file `flags` holds further flags of go build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$here/../../.venv
what="control plane" folder=controlplane chosen=${KUBEBUILDER_ASSETS:-} tier=cluster
if [ "${1:-}" = --monitoring ]; then
    shift
    here=$(cd "$here/../monitoring" && pwd)
    what=monitoring folder=monitoring chosen=${FOREWARN_MONITORING:-} tier=services
fi
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

# One folder a line.
defining() {
    for list in "$here"/*/definitions; do
        [ ! -f "$list" ] || basename "$(dirname "$list")"
    done
}

where() {
    # What a module has no list or flags for is not there to be read.
    versions=$(cat "$here"/*/go.mod "$here"/*/go.sum "$here"/*/definitions "$here"/*/flags \
        2>/dev/null | cksum | cut -d' ' -f1)
    echo "${chosen:-${XDG_CACHE_HOME:-$HOME/.cache}/forewarn/$folder/$versions}"
}

find_go() {
    for candidate in go "$venv/bin/go"; do
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

failed() {
    echo "$what: $1 could not be made, see above; the $tier tier cannot run in full" >&2
    exit 1
}

build() { # module package program
    started=$(date +%s)
    echo "$what: building $3 (minutes for the first, then less)"
    flags=$(cat "$here/$1/flags" 2>/dev/null || true)
    # shellcheck disable=SC2086 # flags are words
    (cd "$here/$1" && CGO_ENABLED=0 "$go" build -trimpath $flags \
        -ldflags "-s -w $(stamps "$here/$1")" -o "$target/.$3.$$" "$2") || failed "$3"
    mv "$target/.$3.$$" "$target/$3"
    echo "$what: $3 built in $(($(date +%s) - started)) s"
}

define() { # folder
    rm -rf "$target/.$1.$$" && mkdir -p "$target/.$1.$$" "$target/definitions"
    while read -r module pattern; do
        folder=$(cd "$here/$1" && "$go" mod download "$module" && "$go" list -m -f '{{.Dir}}' "$module") || failed "$1"
        # shellcheck disable=SC2086 # the pattern is to be expanded
        cp "$folder"/$pattern "$target/.$1.$$" || failed "$1"
    done <"$here/$1/definitions"
    chmod -R u+w "$target/.$1.$$" # files of the module cache are read-only
    mv "$target/.$1.$$" "$target/definitions/$1"
    echo "$what: definitions of $1 copied"
}

case "${1:-}" in
--where) where; exit ;;
--go) find_go; exit ;;
--list) programs | cut -d' ' -f3; defining | sed 's,^,definitions/,'; exit ;;
'' | -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

target=$1
missing=$(programs | while read -r module package program; do
    [ -x "$target/$program" ] || echo "$module $package $program"
done)
undefined=$(defining | while read -r folder; do
    [ -d "$target/definitions/$folder" ] || echo "$folder"
done)
[ -n "$missing$undefined" ] || exit 0
if ! go=$(find_go); then
    echo "$what: no Go 1.$oldest_go or later found; this brings it: make go" >&2
    exit 1
fi
mkdir -p "$target"
trap 'rm -rf "$target"/.*.$$' EXIT
[ -z "$missing" ] || echo "$missing" | while read -r module package program; do
    build "$module" "$package" "$program" </dev/null
done
for folder in $undefined; do
    define "$folder"
done
