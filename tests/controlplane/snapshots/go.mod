module forewarn.dev/controlplane/snapshots

go 1.26.0

require github.com/kubernetes-csi/external-snapshotter/client/v8 v8.7.0 // indirect
