#!/usr/bin/env bash
# Runs a Citus cluster on this machine for tests of a distributed database: a coordinator and two workers, on separate ports and in a
# separate directory.
#
#   scripts/citus.sh up              starts it, if the extension is installed, and prints the coordinator's DATABASE_URL=…
#   scripts/citus.sh database NAME   creates a database on all three servers and registers the workers in it
#   scripts/citus.sh check           reports missing packages
#   scripts/citus.sh down            stops it and removes its data
#
# Progress goes to standard error. CITUS_DIR and CITUS_PORT set the directory and the coordinator's port; the
# workers use the next two ports.
set -euo pipefail

dir=${CITUS_DIR:-/var/tmp/model-proxy-citus}
port=${CITUS_PORT:-54340}
nodes=(coordinator worker1 worker2)

say() { echo "citus: $*" >&2; }
fail() { say "$*"; exit 1; }
pg_bin() { find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1; }
# Sets HOME, because the coordinator connects to workers through libpq, which reads certificates from there.
as_postgres() { (cd "$dir" && HOME=$dir setpriv --reuid=postgres --regid=postgres --init-groups "$@"); }
port_of() { echo $((port + $1)); }
# Runs psql on a node. Arguments: number of the node from 0, database, options of psql.
sql() { psql -h 127.0.0.1 -p "$(port_of "$1")" -U postgres -d "$2" -qAt -v ON_ERROR_STOP=1 "${@:3}"; }

check_installed() {
  local missing=() extensions
  [ -n "$(pg_bin)" ] && [ -x "$(pg_bin)/postgres" ] || fail "PostgreSQL is not installed: scripts/services.sh up installs it"
  [ "$(id -u)" = 0 ] || fail "must run as root: PostgreSQL's servers run as user postgres"
  extensions=$("$(pg_bin)/pg_config" --sharedir 2>/dev/null || echo "/usr/share/postgresql/$(basename "$(dirname "$(pg_bin)")")")/extension
  for extension in citus vector; do
    [ -f "$extensions/$extension.control" ] || missing+=("$extension")
  done
  [ ${#missing[@]} -eq 0 ] ||
    fail "not installed in $extensions: ${missing[*]} (docs/production.md says how Citus is built; scripts/services.sh up builds pgvector)"
}

start_node() {
  local name=${nodes[$1]}
  if [ ! -f "$dir/$name/PG_VERSION" ]; then
    install -d -m 0755 "$dir"
    install -d -m 0700 -o postgres -g postgres "$dir/$name"
    as_postgres "$(pg_bin)/initdb" -D "$dir/$name" -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >/dev/null
    cat >>"$dir/$name/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $(port_of "$1")
unix_socket_directories = '$dir/$name'
shared_preload_libraries = 'citus'
# Each backend of the coordinator may open a few connections to each node, including itself.
max_connections = 300
# Workers commit transactions over several nodes in two phases.
max_prepared_transactions = 300
# Citus has a background process per database.
max_worker_processes = 64
shared_buffers = 128MB
citus.enable_statistics_collection = off
CONF
  fi
  as_postgres "$(pg_bin)/pg_ctl" -D "$dir/$name" status >/dev/null 2>&1 ||
    as_postgres "$(pg_bin)/pg_ctl" -D "$dir/$name" -l "$dir/$name/server.log" -w -t 30 start >/dev/null
}

# One at a time: each creates roles on the workers.
create_database() {
  exec 9>"$dir/lock"
  flock 9
  for node in 0 1 2; do
    sql "$node" postgres -c "set citus.enable_create_database_propagation = off" -c "create database $1"
    sql "$node" "$1" -c 'create extension citus'
  done
  sql 0 "$1" >/dev/null \
    -c "select citus_set_coordinator_host('127.0.0.1', $(port_of 0))" \
    -c "select citus_add_node('127.0.0.1', $(port_of 1)), citus_add_node('127.0.0.1', $(port_of 2))"
}

up() {
  check_installed
  for node in 0 1 2; do start_node "$node"; done
  [ -n "$(sql 0 postgres -c "select 1 from pg_database where datname = 'model_proxy'")" ] || create_database model_proxy
  echo "DATABASE_URL=postgres://postgres@127.0.0.1:$port/model_proxy"
}

down() {
  for name in "${nodes[@]}"; do
    [ -f "$dir/$name/postmaster.pid" ] && as_postgres "$(pg_bin)/pg_ctl" -D "$dir/$name" -m immediate -w stop >/dev/null
  done
  rm -rf "$dir"
}

case "${1:-}" in
  up) up ;;
  database) [[ "${2:-}" =~ ^[a-z0-9_]+$ ]] || fail 'usage: scripts/citus.sh database NAME'; create_database "$2" ;;
  check) check_installed ;;
  down) down ;;
  *) echo "usage: scripts/citus.sh up|database NAME|check|down" >&2; exit 2 ;;
esac
