# Restores what sharebench changed. It may be run again at any time, and leaves alone what others changed.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/samba/sbin:/usr/local/samba/bin
LC_ALL=C
export PATH LC_ALL
umask 077
trap '' HUP PIPE
conflict=no
broken=no
: "${mark:=}"

section() {
    [ -z "$mark" ] || printf '\n%s %s\n' "$mark" "$1"
}

# NAME SECONDS: every step of a change acts under this lock; without it the script ends with 75.
# Descriptor 9 is left to all commands, so that the lock stands until the last one has ended, whoever killed this shell.
# The file also has the changes that were undone: a step of theirs that arrives late does nothing.
take_lock() {
    lock=/run/sharebench
    [ -d /run ] || lock=/var/run/sharebench
    mkdir -p "$lock"
    lock=$lock/$1
    { command exec 8<>"$lock"; } 2>/dev/null && flock -w "$2" 8 || no_lock
    exec 9>&8 8>&-
    trap 'flock -u 9' EXIT # also for a service that a command started, which has the descriptor too
    kept=$(grep '^undone ' "$lock" | tail -n 20)
    printf '%s\nstep %s %s\n' "$kept" "$$" "$(date +%H:%M)" >"$lock"
}

no_lock() {
    set -- $(grep '^step ' "$lock" 2>/dev/null)
    holder=$2 since=$3
    for process in /proc/[0-9]*; do
        kill -0 "$holder" 2>/dev/null && break
        [ "$process/fd/9" -ef "$lock" ] && holder=${process#/proc/}
    done
    section busy
    if [ -n "$mark" ]; then
        printf '%s %s\n' "$since" "$holder"
    elif [ -n "$since" ]; then
        echo "a step is still running since $since (pid $holder), so nothing was restored: run this again when it has ended"
    else
        echo "$lock cannot be locked, so nothing was restored: run this as root"
    fi
    section end
    exit 75
}

# CHANGE: whether it was undone
was_undone() {
    grep -q "^undone $1\$" "$lock"
}

flush() {
    sync "$1" 2>/dev/null || sync
}

sum_of() {
    if [ -f "$1" ]; then sha256sum <"$1" | cut -d' ' -f1; else echo absent; fi
}

# FILE SUM...: it must be as it was, or as sharebench wrote it
check_file() {
    checked=$1
    shift
    now=$(sum_of "$checked")
    for sum in "$@"; do
        [ "$now" = "$sum" ] && return 0
    done
    conflict=yes
    section "conflict:$checked"
    [ -n "$mark" ] || echo "somebody else changed $checked meanwhile; it now reads:"
    cat "$checked" 2>/dev/null
}

# FILE DROPIN SUM...: as check_file, but an edit of FILE that no longer names DROPIN is somebody's own, and stays
check_includer() {
    checked=$1 dropin=$2
    shift 2
    if [ -f "$checked" ] && ! grep -qF -e "$dropin" "$checked"; then return 0; fi
    check_file "$checked" "$@"
}

# FILE [TIME] <CONTENT in base64: write it beside FILE, with the owner, mode, ACL and time of FILE; rename it into place
write_file() {
    new=$1.sharebench-new
    rm -f "$new" && (set -C && : >"$new") 2>/dev/null || return 1
    if [ -f "$1" ]; then
        cp -a "$1" "$new" && base64 -d >"$new" && if [ -n "$2" ]; then touch -d "@$2" "$new"; else touch -r "$1" "$new"; fi
    else
        base64 -d >"$new" && chmod 644 "$new"
    fi && flush "$new" && mv -f "$new" "$1" || { rm -f "$new"; return 1; }
    flush "${1%/*}"
}

# FILE: it was not there
remove_file() {
    rm -f "$1" && flush "${1%/*}"
}

eased() {
    section eased
    [ -n "$mark" ] || echo "the value that was tried is no longer in effect"
}

# FILE: say so where every user may write to it
warn_open() {
    [ -n "$(find -L "$1" -prune -perm -2 2>/dev/null)" ] || return 0
    section "open:$1"
    [ -n "$mark" ] || echo "every user of this machine may write to $1, and become root by it: chmod o-w $1"
}

# NAME NOW VALUE...: a value must be as it was, or as sharebench set it; tabs and runs of blanks do not count
check_value() {
    checked=$1
    now=$(printf '%s' "$2" | tr -s '[:space:]' ' ')
    shift 2
    for value in "$@"; do
        [ "$now" = "$(printf '%s' "$value" | tr -s '[:space:]' ' ')" ] && return 0
    done
    conflict=yes
    section "conflict:$checked"
    [ -n "$mark" ] || echo "somebody else changed $checked meanwhile; it is now:"
    printf '%s\n' "$now"
}
