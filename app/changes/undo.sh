# What this script needs to put things back; it may be run again at any time, and touches nothing that others changed.
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

take_lock() {
    command -v flock >/dev/null 2>&1 && [ -w /run ] || return 0
    exec 9>/run/sharebench.lock && flock -w 15 9
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
    [ -n "$mark" ] || echo "$checked was changed by somebody else meanwhile; it now reads:"
    cat "$checked" 2>/dev/null
}

# FILE OWNER MODE MTIME <CONTENT in base64: written beside it, and then put in its place
write_file() {
    new=$1.sharebench-new
    rm -f "$new"
    if [ -f "$1" ]; then cp -a "$1" "$new" || return 1; fi
    base64 -d >"$new" && chown "$2" "$new" && chmod "$3" "$new" && touch -d "@$4" "$new" || return 1
    sync "$new" 2>/dev/null || sync
    mv -f "$new" "$1" && { sync "${1%/*}" 2>/dev/null || sync; }
}

# FILE: it was not there
remove_file() {
    rm -f "$1" "$1.sharebench-new"
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
    [ -n "$mark" ] || echo "$checked was changed by somebody else meanwhile; it is now:"
    printf '%s\n' "$now"
}

