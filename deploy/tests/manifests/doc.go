// Package manifests renders deploy/kubernetes and loads deploy/compose with the
// libraries that kubectl, the Prometheus operator and docker compose are made
// of. It is a module of its own so that these stay out of the program's:
//
//	cd deploy/tests && go test -count=1 ./...
//
// -count=1 since go keeps results while no file of the module changes, and what
// is tested here lies outside of it.
package manifests
