# syntax=docker/dockerfile:1

FROM oven/bun:1.4.5-slim AS dependencies
WORKDIR /app
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --production --ignore-scripts
COPY scripts/write-sbom.ts scripts/
RUN bun scripts/write-sbom.ts > sbom.cdx.json

FROM oven/bun:1.4.5-slim
# The container's loopback cannot be reached from outside. The command that runs it decides which ports are published.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    SHUTDOWN_DELAY_MS=5000 \
    OPERATOR_COMMAND=model-proxy
# A volume mounted here takes over its owner.
RUN install -d -o bun -g bun -m 0700 /data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=dependencies /app/sbom.cdx.json ./
COPY package.json LICENSE ./
COPY sql sql
COPY scripts/set-provider-key.sh scripts/
COPY .env.example ./
# The operators' commands: docker compose exec proxy model-proxy create-project acme
RUN printf '#!/bin/sh\nexec bun /app/src/process/server.ts "$@"\n' > /usr/local/bin/model-proxy && chmod 755 /usr/local/bin/model-proxy
COPY src src
# The model of the local embedder, and what runs it.
COPY vendor vendor
RUN bun src/process/server.ts embedder:install
# The dashboard's pages are built once, here.
COPY tsconfig.json ./
COPY scripts/build-dashboard.ts scripts/
RUN bun scripts/build-dashboard.ts
USER bun
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["bun", "-e", "const answer = await fetch(`http://127.0.0.1:${process.env.PORT}/livez`); process.exit(answer.ok ? 0 : 1)"]
CMD ["bun", "src/process/server.ts"]
