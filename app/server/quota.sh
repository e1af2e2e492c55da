# The processor quota of the first smbd, of the process ids in $1 where there are any, and its throttling counts.
for folder in /proc/[0-9]*; do
    { IFS= read -r command <"$folder/comm"; } 2>/dev/null && [ "$command" = smbd ] || continue
    [ -z "$1" ] || case " $1 " in *" ${folder#/proc/} "*) ;; *) continue ;; esac
    while IFS=: read -r number names path; do
        case $number:$names in
        0:) at=/sys/fs/cgroup$path
            [ -r "$at/cpu.max" ] && { echo "limit $(cat "$at/cpu.max")"; cat "$at/cpu.stat"; } ;;
        *:cpu|*:cpu,cpuacct|*:cpuacct,cpu) at=/sys/fs/cgroup/$names$path
            [ -r "$at/cpu.cfs_quota_us" ] &&
                { echo "limit $(cat "$at/cpu.cfs_quota_us") $(cat "$at/cpu.cfs_period_us")"; cat "$at/cpu.stat"; } ;;
        esac
    done < "$folder/cgroup"
    break
done
