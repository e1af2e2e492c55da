# Prints, once a second until nobody listens, what a server is doing; reads /proc and nothing else.
# Variables set in front of it: mark, names (an expression for grep), memory_every (seconds).
LC_ALL=C
export LC_ALL
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
    printf '%s end\n' "$mark"
    turn=$((turn + 1))
    sleep 1
done 2>/dev/null
