#!/bin/sh
# enter.sh ROOT TERMINALS USER COMMAND…: carries out a command in a root folder, with pseudo-terminals if TERMINALS is yes.
# To be started by unshare --mount: the mounts are of that namespace, and end with the command, however it ends.
root=$1 terminals=$2 user=$3
shift 3
mount -t proc proc "$root/proc" &&
    mount --bind /dev "$root/dev" &&
    mount -t tmpfs -o mode=1777 none "$root/dev/shm" || exit 1
if [ "$terminals" = yes ]; then
    mount --bind /dev/pts "$root/dev/pts" || exit 1
fi
exec chroot --userspec="$user" "$root" "$@"
