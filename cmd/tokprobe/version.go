package main

import (
	"fmt"

	"github.com/prometheus/common/version"
)

// versionText is what --version prints. Version, revision and build date are
// set by the linker (see the Dockerfile); a plain `go build` reports the
// revision that the toolchain stamped.
func versionText() string {
	if version.Version == "" {
		return fmt.Sprintf("tokprobe, %s\n  go version: %s\n  platform:   %s/%s", versionLine(), version.GoVersion, version.GoOS, version.GoArch)
	}
	return version.Print("tokprobe")
}

// versionLine is the short form for the status page.
func versionLine() string {
	if version.Version == "" {
		return "development build, revision " + version.GetRevision()
	}
	return version.Version + ", revision " + version.GetRevision()
}
