# Prints, every so often until nobody listens, what a server is doing; reads /proc and nothing else.
# Variables set in front of it: mark, names (an expression for grep), root (a process of the server, if known),
# memory_every (samples), pause (seconds between two samples).
LC_ALL=C
export LC_ALL
[ -n "$root" ] || root=$(grep -ls -E "$names" /proc/[0-9]*/stat | head -n 1 | sed 's,/proc/,,; s,/stat,,')
# the control group of that process: its own folder under cgroup v2, or that of the cpu controller
group=
if [ -r "/proc/$root/cgroup" ]; then
    v1=$(sed -n 's/^[0-9]*:\(cpu\|cpu,cpuacct\|cpuacct,cpu\)://p' "/proc/$root/cgroup")
    v2=$(sed -n 's/^0:://p' "/proc/$root/cgroup")
    for file in ${v1:+"/sys/fs/cgroup/cpu$v1/cpu.stat" "/sys/fs/cgroup/cpu,cpuacct$v1/cpu.stat"} "/sys/fs/cgroup$v2/cpu.stat"; do
        [ -z "$group" ] && [ -r "$file" ] && grep -q nr_periods "$file" && group=$file
    done
fi
turn=0
while
    printf '%s uptime\n' "$mark" && cat /proc/uptime &&
    printf '%s cpu\n' "$mark" && head -n 1 /proc/stat
do
    printf '%s processes\n' "$mark"; grep -hs -E "$names" /proc/[0-9]*/stat
    # the kernel's own threads, which are children of number 2: their time added up
    printf '%s kernel\n' "$mark"
    grep -hs -E '\) [A-Z] 2 ' /proc/[0-9]*/stat | awk '{ sub(/.*\) /, ""); ticks += $12 + $13 } END { print ticks + 0 }'
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
    sleep "$pause"
done 2>/dev/null
