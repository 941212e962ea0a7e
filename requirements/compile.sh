#!/bin/sh
# Pins and hashes every requirement list. All lists agree on versions because
# each is constrained by the widest one (train).
set -eu
cd "$(dirname "$0")/.."
compile() {
    out=$1; shift
    uv pip compile --quiet --generate-hashes --no-emit-index-url --universal --python-version 3.11 \
        --custom-compile-command 'make requirements' --output-file "requirements/$out.txt" "$@"
}
compile train -c requirements/choices.in --extra remediation --extra train pyproject.toml requirements/dev.in
compile dev -c requirements/train.txt --extra remediation pyproject.toml requirements/dev.in
compile demo -c requirements/train.txt --extra remediation pyproject.toml requirements/build.in
compile node -c requirements/train.txt pyproject.toml
# The image that trains: no tests, no webhook.
compile training -c requirements/train.txt --extra train pyproject.toml
compile bootstrap requirements/bootstrap.in
# The images: what builds the wheel, and the webhook without the node's model runtime.
compile build -c requirements/train.txt requirements/build.in
compile remediation -c requirements/train.txt --extra remediation pyproject.toml \
    --no-emit-package onnxruntime --no-emit-package numpy --no-emit-package flatbuffers --no-emit-package protobuf
compile go requirements/go.in
# A node's packages as old as pyproject.toml allows, with the test tools of today.
grep -E '^(pytest|hypothesis|onnx)==' requirements/train.txt | tr -d '\\' |
    compile oldest --resolution lowest-direct pyproject.toml -
