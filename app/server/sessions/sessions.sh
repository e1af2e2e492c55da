# Prints two readings of what each session of the smbd on a port does, and then whose they are; reads only.
# POSIX sh; the caller sets its variables before it: mark, port, conf (where the smbd does not show which it was started
# with), seconds (between the readings). It starts few programs: each costs the server as much as reading fifty
# processes.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/samba/sbin:/usr/local/samba/bin
LC_ALL=C
export PATH LC_ALL

section() {
    printf '\n%s %s\n' "$mark" "$1"
}

# Finds the smbd that has the listening socket of the port. Its children have the same name in older versions: they are
# passed over before anything is listed.
find_smbd() {
    inodes=$(ss -Htlne "sport = :$port" | sed -n 's/.* ino:\([0-9]*\) .*/socket:[\1]/p')
    [ -n "$inodes" ] || return
    for file in $(grep -lsx smbd /proc/[0-9]*/comm); do
        process=${file%/comm}
        { IFS= read -r stat <"$process/stat"; } 2>/dev/null || continue
        set -- ${stat##*) }
        { IFS= read -r parent <"/proc/$2/comm"; } 2>/dev/null && [ "$parent" = smbd ] && continue
        ls -l "$process/fd" | grep -qF -e "$inodes" && smbd=${process#/proc/} && return
    done
}

# The smb.conf that it was started with; nothing where it takes its own. Asked of another one, smbstatus would make its
# databases.
find_conf() {
    tr '\000' '\n' <"/proc/$smbd/cmdline" |
        sed -n '/^\(-s\|--configfile\)$/{n;p;};s/^--configfile=//p;s/^-s\//\//p'
}

# first or last: the counters of the connections, of the server, and of each process that smbd started.
reading() {
    { IFS= read -r children <"/proc/$smbd/task/$smbd/children"; } 2>/dev/null
    files=
    for process in $children; do
        files="$files /proc/$process/stat /proc/$process/io"
    done
    # All at one moment, as far as that can be: each is divided by the same time.
    sockets=$(ss -Htin "sport = :$port")
    section "$1.counters"
    grep -s '' /proc/uptime /proc/stat /proc/net/dev /proc/diskstats $cards $files
    section "$1.sockets"
    printf '%s\n' "$sockets"
    [ -n "$profiled" ] || return
    section "$1.profile"
    # In lines that are not too long.
    smbstatus ${conf:+-s "$conf"} -P --json |
        awk -v RS='}' 'NR > 1 { print last "}" } { last = $0 } END { print last }'
}

# SOCKETS, SESSIONS: prints the process of each socket, where there are more of them than sessions: smbstatus tells one
# connection of each, and ss reads the files of all processes for this.
owners() {
    difference=0
    while IFS= read -r line; do
        case $line in
        *"(ipv"*) difference=$((difference - 1)) ;;
        ESTAB*) difference=$((difference + 1)) ;;
        esac
    done <<END
$1
$2
END
    [ "$difference" -le 0 ] || ss -Htnp state established "sport = :$port"
}

# The lines of the sessions, and then how many files and locks each process holds. The tables are printed much faster
# than JSON, and with numbers for users they have no blanks within a column.
holders() {
    smbstatus ${conf:+-s "$conf"} -n -B | awk '
        /^Locked files:/ { kind = "files" }
        /^Byte range locks:/ { kind = "locks" }
        /^PID +Username/ { print "listed" }
        $1 !~ /^([0-9]+:)?[0-9]+$/ { next }
        kind { count[kind " " $1]++; next }
        { print }
        END { for (name in count) print name, count[name] }'
}

# The names of the users that the lines of the sessions have numbers of.
users() {
    numbers=
    while read -r process number rest; do
        case "$process $numbers " in
        listed* | files* | locks* | *" $number "*) ;;
        *) numbers="$numbers $number" ;;
        esac
    done
    [ -z "$numbers" ] || getent passwd $numbers
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
    shown=$(find_conf)
    conf=${shown:-$conf}
    grep -Eiqs '^[[:blank:]]*smbd[[:blank:]]*profiling' "${conf:-/etc/samba/smb.conf}" && profiled=yes
    for device in /sys/class/net/*/device; do
        cards="$cards ${device%device}speed"
    done
    reading first
    sleep "$seconds"
    reading last
    section sessions
    sessions=$(holders)
    printf '%s\n' "$sessions"
    section users
    printf '%s\n' "$sessions" | users
    section owners
    owners "$sockets" "$sessions"
    section times
    times
    section end
}

main </dev/null 2>/dev/null
exit 0
