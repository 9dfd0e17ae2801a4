# shellcheck shell=bash
# Several brokers of one cluster on this machine. A script sources this after journalq-env.sh.
#
# The directory of a cluster has one directory for each broker, named by its node id: its configuration, its data and
# its log.

# Whether nobody listens at a port of this machine. The shell itself connects: no other program is needed for it.
port_is_free() {
  ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Prints the first free port from $1 on. Fails if none of a hundred is free.
free_port() {
  local port=$1
  while ! port_is_free "$port"; do
    port=$((port + 1))
    if [ "$port" -ge $(($1 + 100)) ]; then
      printf '%s: no free port from %d to %d\n' "${0##*/}" "$1" "$port" >&2
      return 1
    fi
  done
  printf '%s\n' "$port"
}

# Prints the configurations of the brokers of the cluster in directory $1, by node id.
cluster_configs() {
  local config
  for config in "$1"/broker-*/journalq.yaml; do
    [ ! -f "$config" ] || printf '%s\n' "$config"
  done
}

# Prints the address at which clients reach the broker with configuration $1.
cluster_address() {
  sed -n 's|^listeners: PLAINTEXT://||p' "$1"
}

# Prints the addresses of all brokers of the cluster in directory $1, separated by commas.
cluster_bootstrap() {
  local config addresses=
  for config in "$1"/broker-*/journalq.yaml; do
    [ -f "$config" ] || continue
    addresses=$addresses${addresses:+,}$(cluster_address "$config")
  done
  printf '%s\n' "$addresses"
}

# Writes the configurations of the brokers 1 to $2 of a new cluster in directory $1. The first founds the cluster, and
# the others join it. If one cannot be written, the cluster has none: with some, it would start as a smaller one.
cluster_configure() {
  local directory=$1 count=$2 id home first=
  local port=9092 admin_port=9644 gateway_port=8082 quorum_port=9192
  for ((id = 1; id <= count; id++)); do
    port=$(free_port "$port") || return 1
    admin_port=$(free_port "$admin_port") || return 1
    gateway_port=$(free_port "$gateway_port") || return 1
    quorum_port=$(free_port "$quorum_port") || return 1
    home=$directory/broker-$id
    mkdir -p "$home" || return 1
    cat >"$home/journalq.yaml.new" <<TEXT || return 1
# Broker $id of $count on this machine. All settings: conf/journalq.yaml
node.id: $id
listeners: PLAINTEXT://localhost:$port
admin.listener: localhost:$admin_port
gateway.listener: localhost:$gateway_port
quorum.listener: localhost:$quorum_port
cluster.join: [${first:+"$first"}]
data.directories: ["$home/data"]
TEXT
    : "${first:=localhost:$port}"
    port=$((port + 1)) admin_port=$((admin_port + 1)) gateway_port=$((gateway_port + 1))
    quorum_port=$((quorum_port + 1))
  done
  for ((id = 1; id <= count; id++)); do
    mv "$directory/broker-$id/journalq.yaml.new" "$directory/broker-$id/journalq.yaml" || return 1
  done
}

# Returns 0 if the broker with configuration $1 is ready, 1 if it runs but is not ready, 3 if it does not run, and another
# number if that is not known, for example because the configuration is wrong.
cluster_state() {
  local shown state=0
  shown=$("$JOURNALQ_BIN/journalq-server" status --config "$1" 2>/dev/null) || state=$?
  # A command that fails has the same exit code as a broker that is not ready, but says nothing about one.
  [ "$state" -ne 1 ] || [ -n "$shown" ] || state=4
  return "$state"
}

# Starts the broker with configuration $1, with its log beside it, unless it runs. Returns when it is ready.
cluster_start_broker() {
  local state=0 waited=0
  cluster_state "$1" || state=$?
  while [ "$state" -eq 1 ] && [ "$waited" -lt 60 ]; do
    sleep 1
    waited=$((waited + 1)) state=0
    cluster_state "$1" || state=$?
  done
  case $state in
    0)
      printf 'The broker at %s is running.\n' "$(cluster_address "$1")"
      return
      ;;
    1)
      printf '%s: the broker at %s is running, but not ready\n' "${0##*/}" "$(cluster_address "$1")" >&2
      return 1
      ;;
  esac
  # If the state is not known, this says why.
  JOURNALQ_HEAP=${JOURNALQ_HEAP:-256m} JOURNALQ_LOG_DIR=${1%/*}/log \
    "$JOURNALQ_BIN/journalq-server" start --config "$1"
}

# Starts all brokers of the cluster in directory $1. A broker joins alone; those that have joined before start together,
# because more than half of them are needed to elect a controller.
cluster_start() {
  local config failed=false job
  local -a jobs=()
  for config in "$1"/broker-*/journalq.yaml; do
    if [ -f "$config" ] && [ -d "${config%/*}/data" ]; then
      cluster_start_broker "$config" &
      jobs+=($!)
    fi
  done
  for job in "${jobs[@]+"${jobs[@]}"}"; do
    wait "$job" || failed=true
  done
  for config in "$1"/broker-*/journalq.yaml; do
    [ -f "$config" ] || continue
    [ -d "${config%/*}/data" ] || cluster_start_broker "$config" || return 1
  done
  ! $failed
}

# Stops the broker with configuration $1, unless it does not run.
cluster_stop_broker() {
  local state=0
  cluster_state "$1" || state=$?
  if [ "$state" -eq 3 ]; then
    printf 'The broker at %s is not running.\n' "$(cluster_address "$1")"
  else
    # If the state is not known, this says why.
    "$JOURNALQ_BIN/journalq-server" stop --config "$1"
  fi
}

# Stops all brokers of the cluster in directory $1.
cluster_stop() {
  local config failed=false job
  local -a jobs=()
  for config in "$1"/broker-*/journalq.yaml; do
    [ -f "$config" ] || continue
    cluster_stop_broker "$config" &
    jobs+=($!)
  done
  for job in "${jobs[@]+"${jobs[@]}"}"; do
    wait "$job" || failed=true
  done
  ! $failed
}
