# syntax=docker/dockerfile:1
# Two images: the program alone (the default), and with the sentence model (--target sentence-model). Each is the one file that `bun run
# build` creates, the C library, and nothing else: no shell, no package manager, no other program.

# The program for the image's platform, built on the builder's.
FROM --platform=$BUILDPLATFORM oven/bun:1.4.5-slim AS build
WORKDIR /app
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --production --ignore-scripts
COPY LICENSE README.md .env.example tsconfig.json ./
COPY scripts/build-dashboard.ts scripts/build-binary.ts scripts/write-sbom.ts scripts/
COPY scripts/npm scripts/npm
COPY sql sql
COPY src src
ARG TARGETARCH
RUN bun run build --target "linux-$(echo "$TARGETARCH" | sed s/amd64/x64/)" && mv dist/npm/linux-*/model-proxy /usr/local/bin/

# The libraries that the program loads, with their packages' names for scanners. glibc loads libgcc when a thread ends early.
FROM oven/bun:1.4.5-slim AS base
COPY --from=build /usr/local/bin/model-proxy /usr/local/bin/
WORKDIR /base
RUN cp --parents -L $(ldd /usr/local/bin/model-proxy | grep -o '/[^ ]*') "$(ldconfig -p | grep -o '/.*/libgcc_s.so.1')" /etc/os-release . \
    && mkdir -p var/lib/dpkg/status.d \
    && for package in libc6 libgcc-s1; do \
        dpkg-query --status "$package" > "var/lib/dpkg/status.d/$package" && cp --parents -L "/usr/share/doc/$package/copyright" . ; \
    done \
    && echo 'bun:x:1000:1000::/data:/sbin/nologin' > etc/passwd \
    && echo 'bun:x:1000:' > etc/group \
    && echo 'hosts: files dns' > etc/nsswitch.conf \
    && install -d -m 1777 tmp \
    && install -d -m 0700 /data

FROM build AS sbom
COPY --from=base /base/var/lib/dpkg/status.d base
RUN bun scripts/write-sbom.ts --base base > sbom.cdx.json

FROM scratch AS program
COPY --from=base /base /
# A volume mounted here takes over its owner.
COPY --from=base --chown=1000:1000 /data /data
COPY --from=build /usr/local/bin/model-proxy /usr/local/bin/
COPY --from=sbom /app/sbom.cdx.json /app/LICENSE /usr/share/model-proxy/
# The container's loopback cannot be reached from outside. The command that runs it decides which ports are published.
ENV PATH=/usr/local/bin \
    NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    SHUTDOWN_DELAY_MS=5000 \
    OPERATOR_COMMAND=model-proxy
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["model-proxy", "healthcheck"]
CMD ["model-proxy"]

# The model of the local embedder, and its runtime.
FROM base AS model
COPY vendor/all-minilm-l6-v2 /model/usr/share/model-proxy/all-minilm-l6-v2
WORKDIR /model
RUN model-proxy embedder:install --to usr/share/model-proxy/all-minilm-l6-v2 \
    && cp --parents -L $(find usr -name '*.node' -exec ldd {} + | grep -o '=> /[^ ]*' | grep -o '/.*' | grep -v ^/model/ | sort -u) . \
    && mkdir -p var/lib/dpkg/status.d \
    && dpkg-query --status libstdc++6 > var/lib/dpkg/status.d/libstdc++6

FROM sbom AS model-sbom
COPY --from=model /model/usr/share/model-proxy/all-minilm-l6-v2/runtime/node_modules node_modules
COPY --from=model /model/var/lib/dpkg/status.d base
RUN bun scripts/write-sbom.ts --base base > sbom.cdx.json

FROM program AS sentence-model
COPY --from=model /model /
COPY --from=model-sbom /app/sbom.cdx.json /usr/share/model-proxy/
ENV EMBEDDER=local \
    EMBEDDINGS_PATH=/usr/share/model-proxy/all-minilm-l6-v2

FROM program
