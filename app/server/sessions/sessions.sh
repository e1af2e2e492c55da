# Prints two readings of what each session of the smbd on a port does, and then whose they are; reads only.
# POSIX sh; the caller sets its variables before it: mark, port, conf (empty: the one that this smbd was started with),
# seconds (between the readings). It starts few programs: each costs the server as much as reading fifty processes.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/samba/sbin:/usr/local/samba/bin
LC_ALL=C
export PATH LC_ALL

section() {
    printf '\n%s %s\n' "$mark" "$1"
}

# Finds the smbd that has the listening socket of the port. Its children have the same name in older versions: they are
# passed over before anything is listed.
find_smbd() {
    sockets=$(ss -Htlne "sport = :$port" | sed -n 's/.* ino:\([0-9]*\) .*/socket:[\1]/p')
    [ -n "$sockets" ] || return
    for file in $(grep -lsx smbd /proc/[0-9]*/comm); do
        process=${file%/comm}
        { IFS= read -r stat <"$process/stat"; } 2>/dev/null || continue
        set -- ${stat##*) }
        { IFS= read -r parent <"/proc/$2/comm"; } 2>/dev/null && [ "$parent" = smbd ] && continue
        ls -l "$process/fd" | grep -qF -e "$sockets" && smbd=${process#/proc/} && return
    done
}

# The smb.conf that it was started with; nothing where it takes its own.
find_conf() {
    tr '\000' '\n' <"/proc/$smbd/cmdline" |
        sed -n '/^\(-s\|--configfile\)$/{n;p;};s/^--configfile=//p;s/^-s\//\//p'
}

# first or last: the counters of the server, and of each process that smbd started.
reading() {
    { IFS= read -r children <"/proc/$smbd/task/$smbd/children"; } 2>/dev/null
    files=
    for process in $children; do
        files="$files /proc/$process/stat /proc/$process/io"
    done
    section "$1.sockets"
    ss -Htin state established "sport = :$port"
    section "$1.counters"
    grep -s '' /proc/uptime /proc/stat /proc/net/dev /proc/diskstats $files
    [ -z "$profiled" ] || { section "$1.profile"; samba -P --json; }
}

# OPTION...: what smbstatus prints, in lines that are not too long.
samba() {
    smbstatus ${conf:+-s "$conf"} "$@" | awk -v RS='}' 'NR > 1 { print last "}" } { last = $0 } END { print last }'
}

# The sessions as smbstatus prints them, and the number of open files and locks of each process: an open file takes a
# thousand bytes there. An open file and a lock begin with their process; a file that has locks names one later on.
# Before Samba 4.17 there is no JSON, and the tables are passed on.
holders() {
    smbstatus ${conf:+-s "$conf"} -B --json | awk -v RS='}' '
        /"tcons": *\{/ { part = "tcons" }
        /"open_files": *\{/ { part = "files" }
        /"byte_range_locks": *\{/ { part = "locks" }
        part == "" { print $0 "}" }
        part ~ /files|locks/ && match($0, /\{"server_id": *\{"pid": *"[0-9]+/) {
            process = substr($0, RSTART, RLENGTH)
            sub(/.*"/, "", process)
            count[part " " process]++
        }
        END { printf "\n%s held\n", mark; for (name in count) print name, count[name] }' mark="$mark"
}

main() {
    section user
    id -u
    for program in ss smbstatus; do
        command -v "$program" >/dev/null || { section missing; printf '%s\n' "$program"; section end; return; }
    done
    find_smbd
    section smbd
    printf '%s\n' "$smbd"
    [ -n "$smbd" ] || { section end; return; }
    [ -n "$conf" ] || conf=$(find_conf)
    grep -Eiqs '^[[:blank:]]*smbd[[:blank:]]*profiling' "${conf:-/etc/samba/smb.conf}" && profiled=yes
    for device in /sys/class/net/*/device; do
        cards="$cards ${device%device}speed"
    done
    section cards
    grep -s '' /dev/null $cards
    reading first
    sleep "$seconds"
    reading last
    section sessions
    holders
    section times
    times
    section end
}

main </dev/null 2>/dev/null
exit 0
