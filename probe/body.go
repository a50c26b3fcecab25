package probe

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"time"

	"tokprobe/probe/wire"
)

// stampedBody stamps every read of the network with the time it returned. It
// lies under the decompressor and the decoder, so that neither's work is part
// of any measured time.
type stampedBody struct {
	r     io.Reader
	t0    time.Time
	at    time.Duration // since t0: when the latest read returned
	reads int           // reads so far; two events of one read have the same
}

// Read implements io.Reader.
func (b *stampedBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.at = time.Since(b.t0)
	b.reads++
	return n, err
}

// decoded returns r without the given Content-Encoding. We ask for none, yet
// some servers compress whatever they send.
func decoded(r io.Reader, encoding string) (io.Reader, error) {
	switch e := strings.ToLower(strings.TrimSpace(encoding)); e {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip", "deflate":
		return &inflater{src: bufio.NewReader(r), gzip: e != "deflate"}, nil
	default:
		return nil, &wire.FormatError{What: "Content-Encoding " + oneLine(encoding, 40) + ", which was not asked for and cannot be read"}
	}
}

// inflater opens the compressed stream with its first read, as that blocks
// until the server sends something.
type inflater struct {
	src  *bufio.Reader
	gzip bool
	z    io.Reader
	err  error
}

// Read implements io.Reader.
func (i *inflater) Read(p []byte) (int, error) {
	if i.z == nil && i.err == nil {
		i.z, i.err = i.open()
	}
	if i.err != nil {
		return 0, i.err
	}
	return i.z.Read(p)
}

func (i *inflater) open() (io.Reader, error) {
	if i.gzip {
		return gzip.NewReader(i.src)
	}
	// "deflate" is zlib by the standard and bare deflate by habit of some
	// servers. A zlib header is a multiple of 31 with method 8.
	head, err := i.src.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(i.src)
	}
	return flate.NewReader(i.src), nil
}
