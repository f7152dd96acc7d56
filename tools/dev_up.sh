# The `up` command of ./dev, which sources this file.

readonly UP_DATA=.errand
readonly UP_PROMPT="What is in README.md?"
readonly UP_FIRST_PORT=7300
readonly UP_PORTS=100

up_usage() {
  cat <<'END'
Usage: ./dev up [--once]

Builds the release configuration, starts a server on an embedded store in ./.errand (on port 7300,
or the next free one), and runs a first agent with tools in this terminal, on the built-in demo
model. Then it serves until Ctrl-C. --once ends after that run, with its exit code.
END
}

up_free_port() {
  local port
  for ((port = UP_FIRST_PORT; port < UP_FIRST_PORT + UP_PORTS; port++)); do
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%s\n' "$port"
      return
    fi
  done
  die "no port is free from $UP_FIRST_PORT on."
}

# Ends the server in the ordinary way, once, whatever led here.
up_stop() {
  trap - EXIT
  trap '' INT TERM
  if [[ -n ${up_server:-} ]] && kill -TERM "$up_server" 2>/dev/null; then
    wait "$up_server" || true
  fi
}

# Starts the server in a process group of its own, so that Ctrl-C reaches it through up_stop alone.
# Returns once it accepts requests; its ready line is in up_ready.
up_start_server() {
  local port=$1 log=$UP_DATA/server.log
  mkdir -p "$UP_DATA"
  set -m
  coproc UP_SERVER {
    exec build/bin/errand serve --listen "127.0.0.1:$port" --data "$UP_DATA" 2>"$log"
  }
  set +m
  up_server=$UP_SERVER_PID
  local output
  exec {output}<&"${UP_SERVER[0]}"
  if ! read -r up_ready <&"$output"; then
    cat "$log" >&2
    wait "$up_server" || true
    die "the server did not start; its log is above."
  fi
}

command_up() {
  if wants_help "$@"; then
    up_usage
    return
  fi
  local once=false
  case ${1:-} in
    "") ;;
    --once) once=true ;;
    *) usage_error "up knows no option '$1'" ;;
  esac
  ensure_tools
  build release errand >&2

  local port url up_server="" up_ready="" code=0
  port=$(up_free_port)
  trap up_stop EXIT
  trap 'exit 130' INT TERM
  up_start_server "$port"
  url="http://127.0.0.1:$port"
  printf 'Errand serves on %s, with its data in %s.\n\n' "$url" "$UP_DATA"
  printf '$ errand run --model demo --files . "%s"\n' "$UP_PROMPT"
  build/bin/errand run --model demo --files . "$UP_PROMPT" || code=$?
  if $once; then
    exit "$code"
  fi
  cat <<END

What to try next:
  build/bin/errand run --files . "Which files are here?"   another tool, in another terminal
  build/bin/errand runs list                               every run so far
  docs/guide/demo-model.md                                 what the model understands
  $UP_DATA/credentials                                      the key, for curl and the SDKs

Serving until Ctrl-C.
END
  wait "$up_server"
}
