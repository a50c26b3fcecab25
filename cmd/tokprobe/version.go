package main

import "github.com/prometheus/common/version"

// versionText is what --version prints. Version, revision and build date are
// set by the linker (see the Dockerfile); a plain `go build` reports the
// revision that the toolchain stamped.
func versionText() string { return version.Print("tokprobe") }

// versionLine is the short form for the status page.
func versionLine() string {
	if version.Version == "" {
		return "development build, revision " + version.GetRevision()
	}
	return version.Version + ", revision " + version.GetRevision()
}
