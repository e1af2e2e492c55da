# Prints, once a second until nobody listens, what a server is doing; reads /proc and nothing else.
# Variables set in front of it: mark, names (an expression for grep), root (a process of the server, if known),
# memory_every (seconds).
LC_ALL=C
export LC_ALL
[ -n "$root" ] || root=$(grep -ls -E "$names" /proc/[0-9]*/stat | head -n 1 | sed 's,/proc/,,; s,/stat,,')
# the control group of that process: its own folder under cgroup v2, or that of the cpu controller
group=
if [ -r "/proc/$root/cgroup" ]; then
    for line in $(sed -n -e 's/^0::/unified:/p' -e 's/^[0-9]*:\(cpu\|cpu,cpuacct\|cpuacct,cpu\):/cpu:/p' "/proc/$root/cgroup"); do
        for folder in /sys/fs/cgroup /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
            [ -r "$folder${line#*:}/cpu.stat" ] && grep -q nr_periods "$folder${line#*:}/cpu.stat" && group="$folder${line#*:}/cpu.stat"
        done
    done
fi
turn=0
while
    printf '%s uptime\n' "$mark" && cat /proc/uptime &&
    printf '%s cpu\n' "$mark" && head -n 1 /proc/stat
do
    printf '%s processes\n' "$mark"; grep -hs -E "$names" /proc/[0-9]*/stat
    printf '%s interfaces\n' "$mark"; cat /proc/net/dev
    printf '%s disks\n' "$mark"; cat /proc/diskstats
    if [ $((turn % memory_every)) = 0 ]; then
        printf '%s memory\n' "$mark"
        grep -s -e '^Pss:' -e '^Private_Clean:' -e '^Private_Dirty:' /dev/null \
            $(grep -ls -E "$names" /proc/[0-9]*/stat | sed 's,/stat$,/smaps_rollup,')
    fi
    [ -z "$group" ] || { printf '%s group\n' "$mark"; cat "$group"; }
    printf '%s end\n' "$mark"
    turn=$((turn + 1))
    sleep 1
done 2>/dev/null
