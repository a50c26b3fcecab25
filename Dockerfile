# Two stages: build a static binary, ship it alone. No shell, no package
# manager, no root.
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ARG REVISION=unknown
ARG DATE=unknown
# The same source and arguments give the same bytes, wherever they are built.
# Without cgo names and users are looked up in Go, so the image needs no libc.
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
      -ldflags "-s -w -buildid= \
        -X github.com/prometheus/common/version.Version=${VERSION} \
        -X github.com/prometheus/common/version.Revision=${REVISION} \
        -X github.com/prometheus/common/version.Branch=release \
        -X github.com/prometheus/common/version.BuildUser=docker \
        -X github.com/prometheus/common/version.BuildDate=${DATE}" \
      -o /out/tokprobe ./cmd/tokprobe
RUN mkdir -p /out/state

FROM scratch
LABEL org.opencontainers.image.title="tokprobe" \
      org.opencontainers.image.description="Watches LLM endpoints from the outside" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /usr/local/go/lib/time/zoneinfo.zip /usr/local/go/lib/time/zoneinfo.zip
ENV ZONEINFO=/usr/local/go/lib/time/zoneinfo.zip
COPY --from=build /out/tokprobe /tokprobe
COPY LICENSE /LICENSE
# A named volume takes its owner from the folder that it is mounted on.
COPY --from=build --chown=65532:65532 /out/state /var/lib/tokprobe
USER 65532:65532
EXPOSE 9816
ENTRYPOINT ["/tokprobe"]
CMD ["serve", "--config.file=/etc/tokprobe/tokprobe.yaml"]
