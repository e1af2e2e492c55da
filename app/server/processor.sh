# Prints the nanoseconds on a processor of each child of smbd ($1) that serves clients, without its threads.
for process in $(cat "/proc/$1/task/$1/children"); do
    [ "$(cat "/proc/$process/comm")" = smbd ] && echo "$process $(cat "/proc/$process/schedstat")"
done
