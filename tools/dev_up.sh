# The `up` command of ./dev, which sources this file.

readonly UP_DATA=.errand
readonly UP_PROMPT="What is in README.md?"
readonly UP_FIRST_PORT=7300
readonly UP_PORTS=100
readonly UP_PROGRESS_SECONDS=15  # between two lines where nothing can be written over

up_usage() {
  cat <<'END'
Usage: ./dev up [--once]

Builds the release configuration, starts a server on an embedded store in ./.errand (on port 7300,
or the next free one), and runs a first agent with tools in this terminal, on the built-in demo
model. Then it serves until Ctrl-C. --once ends after that run, with its exit code.
END
}

# Turns what ninja says into one line that is written over, or a line now and then where stderr is
# no terminal. The lines themselves go to the file.
up_show_progress() {
  local log=$1 line next=0 shown=""
  : >"$log"
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    # Step 0 is ninja's own look at what there is to do.
    if [[ ! $line =~ ^\[([1-9][0-9]*)/([0-9]+)\] ]]; then continue; fi
    shown="Building ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} ..."
    if [[ -t 2 ]]; then
      printf '\r\033[K%s' "$shown" >&2
    elif ((SECONDS >= next)); then
      printf '%s\n' "$shown" >&2
      next=$((SECONDS + UP_PROGRESS_SECONDS))
    fi
  done
  if [[ -t 2 && -n $shown ]]; then printf '\r\033[K' >&2; fi
}

# Builds the server. Of a build that fails, what the compiler said is shown, and no more.
up_build() {
  local log=build/up.log
  if [[ ! -x build/bin/errand ]]; then
    printf 'Building Errand. The first time takes some minutes.\n' >&2
  fi
  lock_build release
  configure release
  if ! NINJA_STATUS='[%f/%t] ' ninja -C build/release errand 2>&1 | up_show_progress "$log"; then
    sed -n '/^FAILED: /,$p' "$log" >&2
    die "the build failed; all that it said is in $log."
  fi
  unlock_build
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

# Every command works as it stands, in another terminal at the root of the repository.
up_print_tour() {
  cat <<'END'

Try these in another terminal, in this folder:
  build/bin/errand run --model demo --files docs "Which files are here?"
  build/bin/errand runs list
  build/bin/errand models

The guide is in docs/guide; begin with docs/guide/quick-start.md.
Serving until Ctrl-C.
END
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
  up_build

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
  up_print_tour
  wait "$up_server"
}
