#!/usr/bin/env bash
# Runs a PostgreSQL with pgvector and a Redis for tests and benchmarks, on separate ports and in a separate directory.
#
#   scripts/services.sh up      starts them (and installs missing packages) and prints DATABASE_URL=… and REDIS_URL=…, one per line
#   scripts/services.sh down    stops them and removes their data
#
# Uses `docker compose` if a Docker engine is running, otherwise Debian's packages (as root). Progress goes to standard error.
# SERVICES_DIR, SERVICES_PG_PORT and SERVICES_REDIS_PORT set the directory and the ports.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=${SERVICES_DIR:-/var/tmp/model-proxy-services}
pg_port=${SERVICES_PG_PORT:-54320}
redis_port=${SERVICES_REDIS_PORT:-63790}
pgvector_version=0.8.0

say() { echo "services: $*" >&2; }
fail() { say "$*"; exit 1; }
docker_answers() { command -v docker >/dev/null && timeout 5 docker info >/dev/null 2>&1; }
compose() {
  POSTGRES_PORT=$pg_port REDIS_PORT=$redis_port docker compose -p model-proxy-services -f "$here/docker-compose.yml" "$@" >&2
}
# Prints a secret that compose created at its first start.
made() {
  docker compose -p model-proxy-services -f "$here/docker-compose.yml" run --rm --entrypoint cat secrets "/secrets/$1" 2>/dev/null
}
pg_bin() { find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1; }
as_postgres() { (cd "$dir" && setpriv --reuid=postgres --regid=postgres --init-groups "$@"); }

# Prints the mirror of Debian's packages that this machine uses.
debian_mirror() { apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' | grep -v security | head -n 1; }

install_packages() {
  local wanted=()
  [ -n "$(pg_bin)" ] && [ -x "$(pg_bin)/postgres" ] || wanted+=(postgresql)
  command -v redis-server >/dev/null || wanted+=(redis-server)
  [ ${#wanted[@]} -eq 0 ] && return
  [ "$(id -u)" = 0 ] || fail "needs root to install: ${wanted[*]}"
  say "installing ${wanted[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  # Prevents Debian's default cluster on the default port.
  mkdir -p /etc/postgresql-common/createcluster.d
  echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/model-proxy.conf
  apt-get install -y -qq --no-install-recommends "${wanted[@]}" >&2
}

# Debian 12 has no pgvector package. The next release's source package builds against the installed server in seconds.
install_pgvector() {
  local major sharedir work
  major=$(basename "$(dirname "$(pg_bin)")")
  sharedir=$("$(pg_bin)/pg_config" --sharedir 2>/dev/null || echo "/usr/share/postgresql/$major")
  [ -f "$sharedir/extension/vector.control" ] && return
  [ "$(id -u)" = 0 ] || fail "needs root to install pgvector"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  if apt-get install -y -qq --no-install-recommends "postgresql-$major-pgvector" >&2 2>/dev/null; then return; fi
  say "building pgvector $pgvector_version for PostgreSQL $major"
  apt-get install -y -qq --no-install-recommends "postgresql-server-dev-$major" build-essential dpkg-dev ca-certificates >&2
  work=$(mktemp -d)
  printf 'Types: deb-src\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
    "$(debian_mirror)" >/etc/apt/sources.list.d/model-proxy-pgvector.sources
  apt-get update -qq >&2
  (cd "$work" && apt-get source -qq --only-source pgvector >&2 && cd pgvector-*/ &&
    make -s with_llvm=no OPTFLAGS= PG_CONFIG="$(pg_bin)/pg_config" >&2 &&
    make -s with_llvm=no OPTFLAGS= PG_CONFIG="$(pg_bin)/pg_config" install >&2)
  rm -rf "$work" /etc/apt/sources.list.d/model-proxy-pgvector.sources
}

start_postgres() {
  if [ ! -f "$dir/postgres/PG_VERSION" ]; then
    install -d -m 0755 "$dir"
    install -d -m 0700 -o postgres -g postgres "$dir/postgres"
    as_postgres "$(pg_bin)/initdb" -D "$dir/postgres" -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 >&2
    cat >>"$dir/postgres/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $pg_port
unix_socket_directories = '$dir/postgres'
max_connections = 300
shared_buffers = 256MB
log_min_messages = fatal
CONF
  fi
  if ! as_postgres "$(pg_bin)/pg_ctl" -D "$dir/postgres" status >/dev/null 2>&1; then
    as_postgres "$(pg_bin)/pg_ctl" -D "$dir/postgres" -l "$dir/postgres/server.log" -w -t 30 start >&2
  fi
  as_postgres psql -h 127.0.0.1 -p "$pg_port" -U postgres -qAtc "select 1 from pg_database where datname = 'model_proxy'" | grep -q 1 ||
    as_postgres psql -h 127.0.0.1 -p "$pg_port" -U postgres -qc 'create database model_proxy' >&2
}

start_redis() {
  redis-cli -h 127.0.0.1 -p "$redis_port" ping 2>/dev/null | grep -q PONG && return
  mkdir -p "$dir/redis"
  redis-server --port "$redis_port" --bind 127.0.0.1 --dir "$dir/redis" --daemonize yes --save '' --appendonly no \
    --pidfile "$dir/redis/redis.pid" --logfile "$dir/redis/redis.log" >&2
  for _ in $(seq 1 50); do
    redis-cli -h 127.0.0.1 -p "$redis_port" ping 2>/dev/null | grep -q PONG && return
    sleep 0.1
  done
  fail "Redis did not answer on port $redis_port; see $dir/redis/redis.log"
}

up() {
  if docker_answers; then
    compose up -d --wait postgres redis
    echo "DATABASE_URL=$(made database_url | sed "s/@postgres:5432/@127.0.0.1:$pg_port/")"
    echo "REDIS_URL=$(made redis_url | sed "s/@redis:6379/@127.0.0.1:$redis_port/")"
  else
    install_packages
    install_pgvector
    start_postgres
    start_redis
    echo "DATABASE_URL=postgres://postgres@127.0.0.1:$pg_port/model_proxy"
    echo "REDIS_URL=redis://127.0.0.1:$redis_port"
  fi
}

down() {
  if docker_answers; then
    compose down -v
    return
  fi
  [ -f "$dir/postgres/postmaster.pid" ] && as_postgres "$(pg_bin)/pg_ctl" -D "$dir/postgres" -m fast -w stop >&2
  [ -f "$dir/redis/redis.pid" ] && redis-cli -h 127.0.0.1 -p "$redis_port" shutdown nosave >&2
  rm -rf "$dir"
}

case "${1:-}" in
  up) up ;;
  down) down ;;
  *) echo "usage: scripts/services.sh up|down" >&2; exit 2 ;;
esac
