# Prints what must be known before a setting of this server is changed; reads only. Its variables: mark, conf, dropin, undo.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/samba/sbin:/usr/local/samba/bin
LC_ALL=C
export PATH LC_ALL

section() {
    printf '\n%s %s\n' "$mark" "$1"
}

show_file() {
    section "real:$1"
    readlink -f "$1"
    [ -f "$1" ] || return 0
    section "meta:$1"
    stat -L -c '%u %a %h %.9Y' "$1"
    section "content:$1"
    base64 <"$1"
}

managers() {
    section managers
    [ -d /etc/openmediavault ] && echo "openmediavault writes smb.conf from its own database"
    [ -d /etc/zentyal ] && echo "Zentyal writes smb.conf from its own database"
    [ -e /opt/rockstor ] && echo "Rockstor writes smb.conf from its own database"
    { [ -e /usr/bin/midclt ] || [ -e /usr/local/bin/midclt ]; } && echo "TrueNAS writes smb.conf from its own database"
    [ -e /etc/synoinfo.conf ] && echo "Synology DSM writes smb.conf from its own database"
    [ -e /etc/unraid-version ] && echo "Unraid writes smb.conf from its own database"
    grep -Eiqs 'ansible managed|managed by (puppet|chef|salt|ansible)|puppet' "$conf" &&
        echo "a configuration manager (Ansible, Puppet, Chef or Salt) has its mark in $conf"
    for process in /proc/[0-9]*; do
        { IFS= read -r command <"$process/comm"; } 2>/dev/null || continue
        case $command in
        tuned) echo "tuned sets kernel and disk settings: $(tuned-adm active 2>/dev/null)" ;;
        bpftune) echo "bpftune sets kernel settings, and stops tuning what others set until it is restarted" ;;
        esac
    done
    if command -v systemctl >/dev/null 2>&1 && systemctl -q is-active irqbalance 2>/dev/null; then
        echo "irqbalance moves the network card's interrupts"
    fi
}

look() {
    section uid
    id -u
    section machine
    printf '%s %s\n' "$(uname -n)" "$(cat /etc/machine-id 2>/dev/null)"
    section missing
    for tool in base64 sha256sum stat readlink touch chmod mv ln flock find $tools; do
        command -v "$tool" >/dev/null 2>&1 || echo "$tool"
    done
    section undo
    { [ -e "$undo" ] || [ -h "$undo" ]; } && echo $(($(date +%s) - $(stat -c %Y "$undo")))
    [ -z "$conf" ] || show_file "$conf"
    [ -z "$dropin" ] || show_file "$dropin"
    managers
    section end
}

look </dev/null 2>/dev/null
