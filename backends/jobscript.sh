# The fixed part of every job script. The lines above set: code, memory_kib, time_limit_s, grace_s, is_own(), start().
# Files beside this script, all written by rename or link:
#   pid      "PID START BOOT" of this supervisor; made by link(2), so that of two starts of one job only one goes on
#   command  "PID START MILLISECONDS" of the command, written before the command is executed
#   cancel   made by whoever wants the job to end; this script does the rest
#   exit     how the command ended: lines of "name value"; its room on the disk is taken before the command starts,
#            so that a job that filled the disk can still be told
# START is field 22 of /proc/PID/stat (proc(5)): together with PID and BOOT it names one process for ever.
# shellcheck shell=sh disable=SC2154
set -u
umask 077
LC_ALL=C
export LC_ALL
trap : HUP INT QUIT TERM USR1 USR2

case $0 in */*) dir=${0%/*} ;; *) dir=. ;; esac
dir=$(CDPATH='' cd -- "$dir" && pwd -P) && cd -- "$dir" || exit 70
key=${dir##*/}

# Sets `state` and `start` of process $1; false when it is gone.
look_at() {
    state=gone start=
    { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
    case $line in *') '*) ;; *) line=$(cat "/proc/$1/stat" 2>/dev/null) ;; esac
    # shellcheck disable=SC2086
    set -- ${line##*') '}
    state=${1:-gone} start=${20:-}
}

# Sets `now`: hundredths of a second since the machine started; no clock change disturbs it.
read_clock() {
    read -r now _ </proc/uptime
    now=${now%.*}${now#*.}
}

note() {
    printf '\nlabhand: %s\n' "$1" >>out.log
}

claim() {
    look_at $$
    boot=-
    { read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
    printf '%s %s %s\n' "$$" "$start" "$boot" >"pid.$$" || exit 73
    ln -- "pid.$$" pid 2>"ln.$$"
    claimed=$?
    [ -e pid ] || cat "ln.$$" >&2
    rm -f -- "pid.$$" "ln.$$"
    return "$claimed"
}

# Links to the code: not what is hidden, an environment, a cache, or written by the job itself.
link_code() {
    [ -n "$code" ] || return 0
    [ -d "$code" ] || { note "the code directory $code is not on this machine"; return 1; }
    set --
    for entry in "$code"/*; do
        name=${entry##*/}
        case $name in __pycache__ | node_modules | *.egg-info) continue ;; esac
        if is_own "$name" || [ -e "$entry/pyvenv.cfg" ] || [ ! -e "$entry" ]; then continue; fi
        set -- "$@" "$entry"
    done
    [ "$#" -eq 0 ] || ln -s -- "$@" work/
}

start_command() {
    started=$(date +%s%N)
    case $started in *[!0-9]*) started=$(date +%s)000 ;; *) started=${started%??????} ;; esac
    reset=
    env --default-signal=INT,QUIT true 2>/dev/null && reset=--default-signal=INT,QUIT
    (
        exec >>out.log 2>&1 </dev/null
        look_at self
        printf '%s %s %s\n' "${line%% *}" "$start" "$started" >command.tmp && mv -f command.tmp command || exit 73
        umask 022
        # shellcheck disable=SC3045
        ulimit -c 0
        # shellcheck disable=SC3045
        [ -z "$memory_kib" ] || ulimit -d "$memory_kib" || echo 'labhand: the memory limit could not be set'
        cd work && start
    ) &
    child=$!
    look_at "$child"
    child_start=$start
}

running() {
    look_at "$child" && [ "$start" = "$child_start" ] && [ "$state" != Z ] && [ "$state" != X ]
}

# Prints the resident memory in KiB of the command's group, session and descendants, then their ids.
members() {
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v root="$child" -v page="$page_kib" '
        $1 + 0 > 0 {
            pid = $1 + 0
            sub(/^.*\) /, "")
            split($0, field, " ")
            if (field[1] == "Z" || field[1] == "X") next
            parent[pid] = field[2]
            resident[pid] = field[22] * page
            if (pid == root || field[3] == root || field[4] == root) member[pid] = 1
        }
        END {
            do {
                grown = 0
                for (pid in parent) if (!(pid in member) && parent[pid] in member) { member[pid] = 1; grown = 1 }
            } while (grown)
            for (pid in member) { total += resident[pid]; ids = ids " " pid }
            printf "%d%s\n", total, ids
        }'
}

# Prints the ids of processes that left the session but carry this job in their environment.
strays() {
    # shellcheck disable=SC2013
    for path in $(grep -lF -e "LABHAND_ATTEMPT_DIR=$dir" /proc/[0-9]*/environ 2>/dev/null); do
        tr '\000' '\n' <"$path" 2>/dev/null | grep -qxF -e "LABHAND_ATTEMPT_DIR=$dir" || continue
        path=${path%/environ}
        look_at "${path#/proc/}" && [ "$state" != Z ] && printf ' %s' "${path#/proc/}"
    done
}

everyone() {
    ids=$(members)
    case $ids in *' '*) ids=${ids#* } ;; *) ids= ;; esac
    extra=$(strays)
    # shellcheck disable=SC2086
    ids=$(printf '%s\n' $ids $extra | sort -un)
}

kill_tree() {
    everyone
    # shellcheck disable=SC2086
    [ -z "$ids" ] || kill -s "$1" $ids 2>/dev/null
}

# True when the job holds more than its limit. Shared pages count once (PSS) before anything is killed.
over_memory() {
    # shellcheck disable=SC2046
    set -- $(members)
    used=$1
    [ "$used" -gt "$memory_kib" ] || return 1
    shift
    exact=$(for id; do cat "/proc/$id/smaps_rollup"; done 2>/dev/null |
        awk '/^Pss:/ { sum += $2; seen = 1 } END { if (seen) printf "%d", sum }')
    used=${exact:-$used}
    [ "$used" -gt "$memory_kib" ]
}

sizes() {
    awk -v a="$1" -v b="$2" 'BEGIN {
        unit = "GiB"; scale = 1048576
        if (b < scale) { unit = "MiB"; scale = 1024 }
        printf "%.2f %s > %.2f %s", a / scale, unit, b / scale, unit
    }'
}

# Asks the job to end for reason $1, told in the log as $2; whatever is left after the grace is killed.
end_job() {
    cause=$1
    note "$2"
    kill_tree TERM
    kill_at=$((now + grace_s * 100))
}

check_memory() {
    [ "$now" -ge "$sample_at" ] || return 0
    looked=$now
    if over_memory; then
        cause=memory
        note "memory limit exceeded ($(sizes "$used" "$memory_kib")), job killed"
        kill_tree KILL
        kill_at=$((now + 20))
    fi
    # At most a fiftieth of the time is spent on looking: a look at a busy machine's processes takes longer.
    read_clock
    cost=$(((now - looked) * 50))
    pace $((now - began)) 10 5 200
    [ "$cost" -le "$paced" ] || pace "$cost" 1 5 1000
    sample_at=$((now + paced))
}

# Sets `paced` to $1 / $2 within $3 and $4: short jobs are looked at often, long ones rarely.
pace() {
    paced=$(($1 / $2))
    if [ "$paced" -lt "$3" ]; then paced=$3; elif [ "$paced" -gt "$4" ]; then paced=$4; fi
}

nap() {
    if [ "$1" -lt 10 ]; then sleep "0.0$1"; else sleep "0.$1"; fi 2>/dev/null || sleep 1
}

supervise() {
    cause=end kill_at=''
    sample_at=$began
    while running; do
        read_clock
        pace $((now - began)) 20 2 50
        if [ -n "$kill_at" ]; then
            paced=5
            if [ "$now" -ge "$kill_at" ]; then
                kill_tree KILL
                kill_at=$((now + 20))
            fi
        elif [ -e cancel ]; then
            end_job cancel 'job cancelled'
        elif [ -n "$time_limit_s" ] && [ $((now - began)) -ge $((time_limit_s * 100)) ]; then
            end_job time "time limit exceeded ($time_limit_s s), job ended"
        elif [ -n "$memory_kib" ]; then
            check_memory
            pace $((now - began)) 20 2 50
        fi
        nap "$paced"
    done
}

# Sets `result` to how the command ended. `wait` can't tell exit 137 from SIGKILL; the text of `jobs` can
# ("Done(137)" or "Exit 137" against "Killed"), and where a shell shows no text for it, it was a signal.
read_result() {
    jobs -l 1<>jobs.tmp
    wait "$child"
    code=$?
    text=
    read -r text <jobs.tmp
    rm -f jobs.tmp
    case $text in *"$child "*) text=${text#*"$child "} ;; *) text= ;; esac
    case $text in
        'Done('*) text=${text#'Done('}; result="code ${text%%')'*}" ;;
        'Exit '*) text=${text#'Exit '}; result="code ${text%%' '*}" ;;
        Done*) result='code 0' ;;
        '') if [ "$code" -gt 128 ]; then result="signal $((code - 128))"; else result="code $code"; fi ;;
        *) result="signal ${text%%  *}" ;;
    esac
}

# Ends what the command left behind, so that a job that has ended holds no memory and no GPU.
sweep() {
    everyone
    [ -n "$ids" ] || return 0
    read_clock
    if [ -z "$kill_at" ]; then
        kill_tree TERM
        kill_at=$((now + 200))
    fi
    give_up=$((kill_at + 500))
    while [ -n "$ids" ] && [ "$now" -lt "$give_up" ]; do
        nap 5
        read_clock
        everyone
        # shellcheck disable=SC2086
        [ -z "$ids" ] || [ "$now" -lt "$kill_at" ] || kill -s KILL $ids 2>/dev/null
    done
}

record() {
    printf 'cause %s\n%s\nstarted %s\nended %s\n' "$cause" "$result" "$started" "$ended" 1<>exit.tmp &&
        mv -f exit.tmp exit
}

command -v setsid >/dev/null || { echo 'the command setsid (util-linux) is not on this machine' >&2; exit 69; }
mkdir -p work tmp home && : >>out.log || exit 73
claim || exit 0
printf '%1024s\n' '' >jobs.tmp && printf '%1024s\n' '' >exit.tmp
exec </dev/null >/dev/null 2>&1

page_kib=$(($(getconf PAGESIZE || echo 4096) / 1024))
kill_at='' child=0
read_clock
began=$now
if link_code; then
    start_command
    supervise
    read_clock
    read_result
    ended=$((started + (now - began) * 10))
    sweep
else
    cause=end result='code 126' started=$(date +%s)000
    ended=$started
fi
rm -rf tmp
tries=0
until record || [ "$tries" -ge 720 ]; do
    tries=$((tries + 1))
    sleep 5
done
