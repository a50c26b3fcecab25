package probe

import (
	"errors"
	"net"
	"strings"
	"syscall"
)

// isExhausted says whether err is a resource of this machine that ran out: file
// descriptors, ports, memory. It says nothing about the service.
func isExhausted(err error) bool {
	for _, no := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		// The resolver keeps only the words of what went wrong below it.
		if errors.Is(err, no) || strings.Contains(err.Error(), no.Error()) {
			return true
		}
	}
	// No local port is left. For an IPv6 address the same number says that
	// this machine has no such address family.
	var op *net.OpError
	if !errors.As(err, &op) || !errors.Is(err, syscall.EADDRNOTAVAIL) {
		return false
	}
	to, ok := op.Addr.(*net.TCPAddr)
	return ok && to.IP.To4() != nil
}

func exhausted(err error) failure {
	return failure{Internal, "this machine has run out of a resource: " + err.Error()}
}

// isOversized says whether net/http gave up on headers beyond the bound of our
// transports. Its error has no type.
func isOversized(err error) bool {
	return strings.Contains(err.Error(), "server response headers exceeded")
}
