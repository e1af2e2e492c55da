# Prints what a file server knows about itself, in sections that each begin with a line "$mark NAME".
# POSIX sh; reads only; the caller sets its variables before it: mark, only (counters,
# or nothing), window (seconds), samba (yes or no), conf, port, share, folder, client, server, files, counters.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/samba/sbin:/usr/local/samba/bin
LC_ALL=C
export PATH LC_ALL

newline='
'
blank=$(printf '\037')

section() {
    printf '\n%s %s\n' "$mark" "$1"
}

# NAME COMMAND...: standard output as NAME, standard error as NAME.err, exit code as NAME.rc
record() {
    name=$1
    shift
    section "$name"
    errors=$("$@" 2>&1 >&3)
    code=$?
    section "$name.rc"
    printf '%s\n' "$code"
    section "$name.err"
    printf '%s\n' "$errors"
} 3>&1

first_line() {
    { IFS= read -r line <"$1" && printf '%s\n' "$line"; } 2>/dev/null
}

has() {
    command -v "$1" >/dev/null 2>&1
}

contents() {
    printf '%s\n' "$1" | while IFS= read -r file; do
        [ -r "$file" ] || continue
        section "file:$file"
        cat "$file" 2>/dev/null
    done
}

# What the CPUs do before this script gives them work, when the caller wants to know.
window() {
    [ "$window" -gt 0 ] || return 0
    section stat.first
    cat /proc/stat
    sleep "$window"
    section stat.last
    cat /proc/stat
}

network() {
    outward=
    inward=
    if has ip; then
        outward=$(ip -o route get "$client" 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p')
        inward=$(ip -o addr show to "$server" 2>/dev/null | sed -n 's/^[0-9]*: *\([^ ]*\).*/\1/p' | head -n 1)
    fi
    section outward
    printf '%s\n' "$outward"
    section inward
    printf '%s\n' "$inward"
    section interfaces
    for device in /sys/class/net/*/device; do
        device=${device%/device}
        [ "$(first_line "$device/operstate")" = up ] && printf '%s\n' "${device##*/}"
    done
    [ -n "$outward" ] || return 0
    for item in speed duplex mtu statistics/rx_errors statistics/tx_errors statistics/rx_dropped statistics/tx_dropped; do
        section "nic:$item"
        first_line "/sys/class/net/$outward/$item"
    done
    section nic:driver
    driver=$(readlink "/sys/class/net/$outward/device/driver")
    printf '%s\n' "${driver##*/}"
    section nic:firmware
    has ethtool && ethtool -i "$outward" 2>/dev/null | sed -n 's/^firmware-version: *//p' | grep -v '^N/A$'
    section nic:offloads
    has ethtool && ethtool -k "$outward" 2>/dev/null | grep -E '^(tcp-segmentation|generic-segmentation|generic-receive)-offload:'
    has tc && record shaper tc -j qdisc show dev "$outward"
}

running_smbds() {
    section processes
    for process in /proc/[0-9]*; do
        { IFS= read -r command <"$process/comm"; } 2>/dev/null || continue
        case $command in
        smbd*)
            words=$(tr '\000' '\037' <"$process/cmdline" 2>/dev/null)
            # Another look asks smbd for its version or its folders: that serves nobody.
            case $words in *"$blank"-[bV]"$blank"*) continue ;; esac
            printf '%s\n' "$words"
            ;;
        esac
    done
}

# FILE: prints it, or each folder above it, where every user may write to it (in a folder: without the sticky bit).
writable_by_all() {
    set -- "$1" "$(readlink -f "$1")"
    [ "$1" != "$2" ] || shift
    for file in "$@"; do
        while [ "${file#/*/}" != "$file" ]; do
            file=${file%/*}
            set -- "$@" "$file"
        done
    done
    find -L "$@" -prune -perm -2 \( -type f -o ! -perm -1000 \)
}

# FILE: prints, for each name of a file in it that smbd makes from the client (%m, %I …), the files that are there.
files_per_client() {
    sed -n 's/^[[:blank:]]*\([Ii][Nn][Cc][Ll][Uu][Dd][Ee]\|[Cc][Oo][Nn][Ff][Ii][Gg][[:blank:]]*[Ff][Ii][Ll][Ee]\)[[:blank:]]*=[[:blank:]]*//p' "$1" |
        sed 's/[[:space:]]*$//' | grep % | sort -u | while IFS= read -r name; do
        section "clients:$name"
        pattern=$(printf '%s\n' "$name" | sed 's/%\$([^)]*)/*/g;s/%./*/g')
        (
            # Without separators a name with blanks is one pattern.
            IFS=
            for file in $pattern; do [ -f "$file" ] && printf '%s\n' "$file"; done
        ) | head -n 200
    done
}

# FILE: prints it and every file that it includes, each in a section of its own; adds to $writable what all may write to.
configuration_files() {
    waiting=$1
    depth=0
    while [ -n "$waiting" ] && [ "$depth" -lt 40 ]; do
        depth=$((depth + 1))
        current=${waiting%%"$newline"*}
        waiting=${waiting#"$current"}
        waiting=${waiting#"$newline"}
        [ -f "$current" ] || continue
        if [ ! -r "$current" ]; then
            section "unreadable:$current"
            continue
        fi
        section "mode:$current"
        stat -L -c %a "$current"
        section "conf:$current"
        cat "$current"
        writable=$writable$(writable_by_all "$current")"
"
        grep -Eiq '^[[:blank:]]*(include|config[[:blank:]]*file)[[:blank:]]*=' "$current" || continue
        included=$(sed -n 's/^[[:blank:]]*[Ii][Nn][Cc][Ll][Uu][Dd][Ee][[:blank:]]*=[[:blank:]]*//p' "$current")
        waiting=$(printf '%s\n%s\n' "$waiting" "$included" | sed '/^$/d')
        files_per_client "$current"
    done
}

parameter() {
    testparm -s --parameter-name="$1" ${2:+--section-name="$2"} "$conf" 2>/dev/null
}

# Makes $conf the file that smbd reads in place of it (config file), as often as one names another that is there.
follow_config_files() {
    followed=0
    while [ "$followed" -lt 10 ] && grep -Eiqs '^[[:blank:]]*(config[[:blank:]]*file|include)[[:blank:]]*=' "$conf"; do
        followed=$((followed + 1))
        next=$(parameter 'config file')
        case $next in '' | *%* | "$conf") return ;; esac
        [ -f "$next" ] || return
        configuration_files "$conf"
        conf=$next
    done
}

# Prints each smbd of root's, or of this user's, that serves: its folder in /proc and the smb.conf that it was started with.
serving_smbds() {
    user=$(id -u)
    for process in /proc/[0-9]*; do
        { IFS= read -r command <"$process/comm"; } 2>/dev/null && [ "$command" = smbd ] || continue
        words=$(tr '\000' '\n' <"$process/cmdline")
        case $words in smbd:*) continue ;; esac
        case $(stat -c %u "$process") in 0 | "$user") ;; *) continue ;; esac
        printf '%s %s\n' "$process" "$(named_configuration "$words")"
    done
}

# WORDS, one a line: prints the smb.conf that an smbd was given by them.
named_configuration() {
    printf '%s\n' "$1" | {
        given=
        previous=
        while IFS= read -r word; do
            case $previous in -s | --configfile) given=$word ;; esac
            case $word in
            --configfile=*) given=${word#*=} ;;
            -s/*) given=${word#-s} ;;
            esac
            previous=$word
        done
        printf '%s\n' "${given:-$default}"
    }
}

# Prints each smb.conf that one of $smbds was started with and that has $port.
serving_the_port() {
    printf '%s\n' "$smbds" | sed 's/^[^ ]* //' | sort -u | while IFS= read -r conf; do
        # testparm takes a while: it is not asked of a file that names ports, not this one, and leads to nothing else.
        grep -Eiqs 'smb[[:blank:]]*ports' "$conf" &&
            ! grep -Eiqs "$port|include|config[[:blank:]]*backend|%" "$conf" && continue
        case " $(parameter 'smb ports' | tr ',:\t' '   ') " in *" $port "*) printf '%s\n' "$conf" ;; esac
    done
}

# Prints the program of that one of $smbds that was started with $conf: a server may have several versions beside one
# another. One of a container is passed over: it does not run here, and is not ours to run.
its_program() {
    here=$(stat -L -c %d:%i /)
    printf '%s\n' "$smbds" | while IFS=' ' read -r process given; do
        [ "$given" = "$conf" ] || continue
        [ "$(stat -L -c %d:%i "$process/root/")" = "$here" ] || continue
        readlink "$process/exe"
        return
    done
}

# Makes the smbd and the testparm that belong to $conf those that are asked.
use_its_programs() {
    program=$(its_program)
    [ -n "$program" ] && [ -x "$program" ] && [ "${program##*/}" = smbd ] || return
    [ "$program" != "$(readlink -f "$(command -v smbd)")" ] || return
    [ -z "$(writable_by_all "$program")" ] || return
    case $(stat -c %u "$program") in 0 | "$(id -u)") ;; *) return ;; esac
    PATH=${program%/*}:${program%/*/smbd}/bin:$PATH
    build=$(smbd -b 2>/dev/null)
}

configuration() {
    build=$(smbd -b 2>/dev/null)
    default=$(printf '%s\n' "$build" | sed -n 's/^ *CONFIGFILE: *//p')
    smbds=$(serving_smbds)
    [ -n "$conf" ] || [ -z "$port" ] || conf=$(serving_the_port)
    [ -n "$conf" ] && [ "$(printf '%s\n' "$conf" | wc -l)" -eq 1 ] || conf=$default
    use_its_programs
    section build
    printf '%s\n' "$build"
    section version
    smbd -V
    started=$conf
    writable=
    section conf.started
    printf '%s\n' "$started"
    has testparm && [ -n "$conf" ] && follow_config_files
    section conf
    printf '%s\n' "$conf"
    [ -n "$conf" ] || return 0
    configuration_files "$conf"
    section writable
    printf '%s' "$writable" | sort -u
    modules=$(printf '%s\n' "$build" | sed -n 's/^ *MODULESDIR: *//p')
    section modules
    [ -n "$modules" ] && ls "$modules/vfs" 2>/dev/null
    has testparm || return 0
    record testparm testparm -sv "$conf"
    record scopes testparm --show-all-parameters
    settings=$(testparm -s "$conf" 2>/dev/null)
    remote=$(awk '$3 ~ /^(nfs|cifs|smb|autofs|fuse)/ { print $2 }' /proc/self/mounts)
    missing_accounts
    smbds_interfaces
    [ "$folders" != yes ] || missing_folders
    [ -n "$share" ] || return 0
    [ -n "$folder" ] || folder=$(parameter path "$share" | sed "s|%S|$share|g")
}

sessions() {
    if grep -Eiqs '^[[:blank:]]*(include|config[[:blank:]]*backend)[[:blank:]]*=[[:blank:]]*registry|^[[:blank:]]*registry[[:blank:]]*shares' "$conf"; then
        has net && record registry net -s "$conf" conf list
    fi
    # Asked of a configuration that no smbd runs with, these two would make its databases.
    served=$(printf '%s\n' "$running" | grep -F -e "$started")
    [ "$started" = "$default" ] && served=$served$(printf '%s\n' "$running" | grep -v -e '^smbd:' -e "$blank-s" -e configfile)
    if [ -z "$served" ]; then
        section serving
        [ -z "$port" ] || serving_the_port
        return
    fi
    has smbstatus && record smbstatus smbstatus -s "$conf" --json
    has smbcontrol && record debuglevel smbcontrol -t 1 -s "$conf" smbd debuglevel
}

# Prints the lines that name accounts, or files of them, which this machine does not have: "guest account = NAME".
missing_accounts() {
    section accounts.missing
    printf '%s\n' "$settings" |
        sed -n 's/^[[:blank:]]*\(guest account\|force user\|force group\) = /\1 = /p' | sort -u | head -n 20 |
        while IFS= read -r line; do
            name=${line#* = }
            case $name in *%* | '') continue ;; esac
            database=passwd
            case $line in 'force group'*) database=group name=${name#+} ;; esac
            has getent || continue
            getent "$database" -- "$name" >/dev/null
            # 2 is for a name that is not there, in place of a server of accounts that does not answer.
            [ $? -ne 2 ] || printf '%s\n' "$line"
        done
    printf '%s\n' "$settings" |
        sed -n 's/^[[:blank:]]*\(username map\|root directory\|passdb backend\) = /\1 = /p' |
        while IFS= read -r line; do
            path=${line#* = }
            case $path in
            *%* | '') continue ;;
            tdbsam:/* | smbpasswd:/*) path=${path#*:} path=${path%/*} ;;
            /*) [ ! -f "$path" ] || continue ;;
            *) continue ;;
            esac
            ! is_missing "$path" || printf '%s\n' "$line"
        done
}

# Prints the addresses of interfaces that are up, where smbd listens on those alone that its configuration names.
smbds_interfaces() {
    printf '%s\n' "$settings" | grep -q '^[[:blank:]]*bind interfaces only = Yes' || return 0
    has ip || return 0
    # An smbd that runs in a network of its own has other interfaces.
    own_network=$(readlink /proc/self/ns/net)
    its_networks=$(printf '%s\n' "$smbds" | while IFS=' ' read -r process given; do
        [ "$given" != "$started" ] || readlink "$process/ns/net"
    done | sort -u)
    case $its_networks in '' | "$own_network") ;; *) return 0 ;; esac
    record addresses ip -o addr show up
    section hosts
    cat /etc/hosts 2>/dev/null
}

# Prints the paths of shares that are not there, and those of smbd itself that it cannot make: it makes the last folder
# of some, and the file of its log.
missing_folders() {
    section folders.missing
    printf '%s\n' "$settings" | sed -n -e 's/^[[:blank:]]*path = //p' -e 's/^[[:blank:]]*private dir = //p' |
        sort -u | head -n 500 |
        while IFS= read -r path; do
            case $path in *%* | '') continue ;; esac
            ! is_missing "$path" || printf '%s\n' "$path"
        done
    printf '%s\n' "$settings" |
        sed -n -e 's/^[[:blank:]]*[lsc][a-z]* directory = //p' -e 's/^[[:blank:]]*ncalrpc dir = //p' \
            -e 's/^[[:blank:]]*log file = //p' |
        while IFS= read -r path; do
            case ${path%/*} in *%* | '') continue ;; /*) ;; *) continue ;; esac
            ! is_missing "${path%/*}" || printf '%s\n' "$path"
        done
}

# Whether there is no such folder. One below a mount from another machine is passed over: to ask for it may take minutes
# if that machine is gone.
is_missing() {
    if printf '%s\n' "$remote" | { while IFS= read -r mount; do
        case $1/ in "${mount:-/none}"/*) exit 0 ;; esac
    done; exit 1; }; then
        return 1
    fi
    case $(ls -d "$1/." 2>&1 >/dev/null) in
    *'No such file'* | *'Not a directory'* | *'Too many levels'*) return 0 ;;
    esac
    return 1
}

# Prints what a block device is made of, one line a layer from the top: NAME KIND and what belongs to it.
layers() {
    [ "$depth" -lt 8 ] || return 0
    depth=$((depth + 1))
    device=$1
    [ -d "$device/queue" ] || [ ! -e "$device/partition" ] || device=${device%/*}
    if [ -r "$device/md/level" ]; then
        printf '%s %s of %s disks\n' "${device##*/}" "$(first_line "$device/md/level")" "$(first_line "$device/md/raid_disks")"
    elif [ -r "$device/dm/uuid" ]; then
        printf '%s %s\n' "$(first_line "$device/dm/name")" "$(sed 's/-.*//' "$device/dm/uuid")"
    else
        model=$(first_line "$device/device/model")
        printf '%s disk %s\n' "${device##*/}" "$model"
    fi
    for below in "$device"/slaves/*; do
        [ -e "$below" ] && layers "$(readlink -f "$below")"
    done
    depth=$((depth - 1))
}

# FOLDER: prints its mode and path, and before it those of each folder above it, from the root on.
rights() {
    above=$(readlink -f "$1")
    below=
    while [ -n "$above" ]; do
        below="$above
$below"
        above=${above%/*}
    done
    printf '%s' "$below" | while IFS= read -r above; do
        printf '%s %s\n' "$(ls -Lld "$above/" | sed 's/ .*//')" "$above"
    done
}

filesystem() {
    section folder
    printf '%s\n' "$folder"
    [ -n "$folder" ] || return 0
    # One that is not there, in place of one that only this user may not see.
    section folder.missing
    case $(ls -d "$folder/." 2>&1 >/dev/null) in
    *'No such file'*) [ -h "$folder" ] && printf 'link\n' || printf 'yes\n' ;;
    *'Not a directory'*) [ -e "$folder" ] && printf 'file\n' || printf 'yes\n' ;;
    *'Too many levels'*) printf 'loop\n' ;;
    *'Stale file'* | *'not connected'* | *'Input/output'*) printf 'gone\n' ;;
    esac
    section folder.rights
    rights "$folder"
    record df df -Pk "$folder"
    section realpath
    readlink -f "$folder"
    section mounts
    cat /proc/self/mounts 2>/dev/null
    if [ "$samba" = yes ]; then
        section names
        ls -A "$folder" 2>/dev/null | head -n 2000
    fi
    source=$(df -P "$folder" 2>/dev/null | sed -n '2s/ .*//p')
    case $source in
    /dev/*)
        block=$(readlink -f "/sys/class/block/$(basename "$(readlink -f "$source")")")
        section disk:layers
        depth=0
        layers "$block"
        [ -d "$block/queue" ] || block=${block%/*}
        for item in rotational scheduler read_ahead_kb; do
            section "disk:$item"
            first_line "$block/queue/$item"
        done
        ;;
    *)
        pool=${source%%/*}
        has zpool && [ -n "$pool" ] && record zpool zpool list -v -H "$pool"
        ;;
    esac
}

main() {
    if [ "$only" = counters ]; then
        contents "$counters"
        section end
        return
    fi
    window
    section uname
    uname -sr
    contents "$files"
    network
    if [ "$samba" = yes ]; then
        processes=$(running_smbds)
        printf '%s\n' "$processes"
        running=$(printf '%s\n' "$processes" | sed "/^$mark/d;/^ *$/d")
        configuration
        [ -n "$conf" ] && sessions
    fi
    filesystem
    contents "$counters"
    section end
}

main </dev/null 2>/dev/null
exit 0
