# Prints two readings of what each session of the smbd on a port does, and then whose they are; reads only.
# POSIX sh; the caller sets its variables before it: mark, port, conf (where the smbd does not show which it was started
# with), seconds (between the readings), requests (whether they are counted: each reading then starts smbstatus, too). It starts few programs, since each costs the server as much as reading fifty
# processes does, and smbstatus, which loads all libraries of Samba, as much as twenty others: it is started once.
# Texts of many lines are split into words, not read line by line: sh reads a file byte by byte.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/samba/sbin:/usr/local/samba/bin
LC_ALL=C
export PATH LC_ALL

section() {
    printf '\n%s %s\n' "$mark" "$1"
}

# The number of the effective user of this shell.
user_number() {
    while read -r name real effective others; do
        [ "$name" = Uid: ] && printf '%s\n' "$effective" && return
    done <"/proc/$$/status"
}

# Whether what is printed has the link of one of the listening sockets: words are those of their lines in /proc/net/tcp,
# whose tenth and 17 words each have the number of the socket.
has_socket() {
    links=$1
    shift
    while [ "$#" -ge 17 ]; do
        case $links in
        *"socket:[${10}]"*) return 0 ;;
        esac
        shift 17
    done
    return 1
}

# Finds the smbd that has the listening socket (state 0A) of the port. Its children have the same name in older
# versions: they are passed over before anything is listed.
find_smbd() {
    local_port=$(printf '%04X' "$port")
    listening=$(grep -hs "^ *[0-9]*: [0-9A-F]*:$local_port [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6)
    [ -n "$listening" ] || return
    for file in $(grep -lsx smbd /proc/[0-9]*/comm); do
        process=${file%/comm}
        { IFS= read -r stat <"$process/stat"; } 2>/dev/null || continue
        set -- ${stat##*) }
        { IFS= read -r parent <"/proc/$2/comm"; } 2>/dev/null && [ "$parent" = smbd ] && continue
        has_socket "$(readlink "$process"/fd/*)" $listening && smbd=${process#/proc/} && return
    done
}

# The smb.conf that it was started with; nothing where it takes its own. Asked of another one, smbstatus would make its
# databases.
find_conf() {
    sed -zn '/^\(-s\|--configfile\)$/{n;p;};s/^--configfile=//p;s/^-s\//\//p' "/proc/$smbd/cmdline"
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

# SOCKETS: prints three sections. The lines of the sessions, and then how many files and locks each process holds: the
# tables are printed much faster than JSON, and with numbers for users they have no blanks within a column. The names of
# the users that these lines have numbers of. The process of each socket, where there are more of them than sessions:
# smbstatus tells one connection of each, and ss reads the files of all processes for this.
holders() {
    connections=0
    for word in $1; do
        [ "$word" != ESTAB ] || connections=$((connections + 1))
    done
    section sessions
    smbstatus ${conf:+-s "$conf"} -n -B | awk -v mark="$mark" -v port="$port" -v connections="$connections" '
        FILENAME == "/etc/passwd" { split($0, user, ":"); names[user[3]] = $0; next }
        /^Locked files:/ { kind = "files" }
        /^Byte range locks:/ { kind = "locks" }
        /^PID +Username/ { print "listed" }
        $1 !~ /^([0-9]+:)?[0-9]+$/ { next }
        kind { count[kind " " $1]++; next }
        { print; numbers[$2] }
        /\(ipv/ { connections-- }
        END {
            for (name in count) print name, count[name]
            print "\n" mark " users"
            for (number in numbers)
                if (number in names) print names[number]
                else others = others " " number
            fflush()
            if (others) system("getent passwd" others)
            print "\n" mark " owners"
            fflush()
            if (connections > 0) system("ss -Htnp state established \"sport = :" port "\"")
        }' /etc/passwd -
}

main() {
    section user
    user_number
    for program in ss smbstatus; do
        command -v "$program" >/dev/null || { section missing; printf '%s\n' "$program"; section end; return; }
    done
    find_smbd
    section smbd
    printf '%s\n' "$smbd"
    [ -n "$smbd" ] || { section end; return; }
    shown=$(find_conf)
    conf=${shown:-$conf}
    [ -n "$requests" ] && grep -Eiqs '^[[:blank:]]*smbd[[:blank:]]*profiling' "${conf:-/etc/samba/smb.conf}" &&
        profiled=yes
    for device in /sys/class/net/*/device; do
        cards="$cards ${device%device}speed"
    done
    reading first
    sleep "$seconds"
    reading last
    # Its children end with it: there would seem to be nobody. One that ended and was not waited for has no program.
    [ -e "/proc/$smbd/exe" ] || { section gone; printf '%s\n' "$smbd"; section end; return; }
    holders "$sockets"
    section times
    times
    section end
}

main </dev/null 2>/dev/null
exit 0
