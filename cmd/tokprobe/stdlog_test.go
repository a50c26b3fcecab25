package main

import (
	"bytes"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestStdLogQuotesNothing: an endpoint that sends a second answer to one request
// has it quoted in net/http's own log line, key and all.
func TestStdLogQuotesNothing(t *testing.T) {
	var out syncBuffer
	before := log.Writer()
	defer log.SetOutput(before)
	log.SetOutput(stdLog{&out})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 1024))
		answer := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Echo: sk-planted-key\r\n\r\n"
		_, _ = c.Write([]byte(answer))
		time.Sleep(50 * time.Millisecond)
		_, _ = c.Write([]byte(answer))
		_, _ = c.Read(make([]byte, 1024))
	}()
	transport := &http.Transport{}
	req, _ := http.NewRequest(http.MethodGet, "http://"+ln.Addr().String(), nil)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for range 200 {
		if strings.Contains(out.String(), "\n") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := out.String(); !strings.Contains(got, "Unsolicited response") || strings.Contains(got, "planted") {
		t.Errorf("logged %q", got)
	}
}

// TestStdLogBound holds the length of a line.
func TestStdLogBound(t *testing.T) {
	var out bytes.Buffer
	long := strings.Repeat("x", 5000) + "\n"
	if n, err := (stdLog{&out}).Write([]byte(long)); n != len(long) || err != nil || out.Len() != maxStdLine+1 {
		t.Errorf("wrote %d of %d (%v)", out.Len(), n, err)
	}
}
