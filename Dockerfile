# docker build -t sunlake .
# docker run --rm -v lake:/lake sunlake run /etc/sunlake/pipelines/sample.toml
# Of August 2026, for all processors. Tag and digest change together.
ARG RUST_IMAGE=rust:1.95-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082
ARG BASE_IMAGE=debian:bookworm-slim@sha256:abd67ffcfa541b485a3dff59865ab629aa048a6c613e639d36e7456b0b229241

FROM ${RUST_IMAGE} AS build
# ring and zstd build C; jemalloc also wants make. Python collects the licences.
RUN { command -v cc && command -v make && command -v python3; } >/dev/null \
    || { apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make python3; }
WORKDIR /build
# What it depends on is most of the build, and a layer of its own: it is built again when Cargo.lock changes.
# Cargo.toml names the benches; .cargo has the allocator's settings.
COPY Cargo.toml Cargo.lock ./
COPY .cargo .cargo
COPY benches benches
RUN mkdir src && echo 'fn main() {}' > src/main.rs && touch src/lib.rs \
    && cargo build --release --locked --bin sunlake \
    && rm -r src
COPY . .
RUN touch src/lib.rs src/main.rs && cargo build --release --locked --bin sunlake \
    && target/release/sunlake man man \
    && mkdir completions && target/release/sunlake completions bash > completions/sunlake \
    && .ci/notices THIRD-PARTY-NOTICES.txt

FROM ${BASE_IMAGE}
# Root certificates, for https to the API.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --create-home sunlake && install -d -o sunlake -g sunlake /lake
COPY --from=build /build/target/release/sunlake /usr/local/bin/sunlake
COPY --from=build /build/completions/sunlake /usr/share/bash-completion/completions/sunlake
COPY --from=build /build/man /usr/local/share/man/man1
COPY pipelines /etc/sunlake/pipelines
COPY --from=build /build/THIRD-PARTY-NOTICES.txt /usr/share/doc/sunlake/
COPY LICENSE /usr/share/doc/sunlake/LICENSE
USER sunlake
WORKDIR /home/sunlake
# The lake, the request counts of the account and the keys of `serve` outlive the container here.
ENV SUNLAKE_LAKE=/lake/florida SUNLAKE_STATE=/lake/state SUNLAKE_KEYS=/lake/keys.toml
VOLUME /lake
EXPOSE 8080
# SIGTERM pauses a run, and ends a server when it has answered.
STOPSIGNAL SIGTERM
ENTRYPOINT ["sunlake"]
CMD ["--help"]
