# An isolation's folders on the server: find DIRECTORY, make DIRECTORY USER, remove DIRECTORY..., as_nobody PROGRAM...
me=$(id -u)
# Whether nobody but root and us can put something else in the place of what root or we have in the folder $1.
firm() {
    about=$(stat -c '%u %a %F' -- "$1" 2>/dev/null)
    case $about in "0 "*" directory" | "$me "*" directory") ;; *) return 1 ;; esac
    mode=${about#* } mode=0${mode%% *}
    [ $((mode & 022)) = 0 ] || [ $((mode & 01000)) != 0 ]
}
# The deepest folder on the way to $1, without links, from / to which all are firm: place; the next one: loose.
go_down() {
    place= loose=/ rest=${1#/}
    firm / || return
    place=/
    while [ -n "$rest" ]; do
        loose=${place%/}/${rest%%/*}
        firm "$loose" || return
        place=$loose
        case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
    done
    loose=
}
# Whether $1 lies in a folder that is firm with all above it.
lies_firm() {
    above=${1%/*}
    go_down "${above:-/}"
    [ -z "$loose" ]
}
# Run the rest as the user $1, where we are root and that is somebody else.
as() {
    user=$1
    shift
    [ "$me" != 0 ] || [ "$user" = 0 ] ||
        set -- setpriv "--reuid=$user" --regid=65534 --clear-groups --no-new-privs "$@"
    "$@"
}
# Empty this folder as the user $1; again after a second, where what was killed was still writing.
empty() {
    as "$1" find . -xdev -mindepth 1 -delete && [ -z "$(ls -A)" ] && return
    sleep 1
    as "$1" find . -xdev -mindepth 1 -delete
}
cannot() {
    echo "$1" >&2
    exit 1
}
# Remove the folder for the operations that the disk is measured by, in a folder of ours that is firm.
remove_work() {
    user=$(stat -c %u -- "$1/work")
    (cd -P -- "$1/work" && empty "$user") || exit 1
    rmdir -- "$1/work"
}
# Remove a folder that the server's users may write into, if an isolation made it.
remove_shared() {
    (
        cd -P -- "$1" || exit 1
        case $(pwd -P) in */"${1##*/}") ;; *) cannot "it is a link" ;; esac
        case $(ls -A) in '' | clients) ;; *) cannot "it holds what no isolation made" ;; esac
        user=$(stat -c %u .)
        [ "$user" != 0 ] || lies_firm "$1" || cannot "other users can put another folder in its place"
        empty "$user"
    ) || exit 1
    rmdir -- "$1"
}
# Do it again after a second, with all its checks, where something was written between emptying and removing.
again() {
    "$@" || { sleep 1 && "$@"; }
}
verb=$1
shift
case $verb in
find)
    cd -P -- "$1" 2>/dev/null || exit 3
    go_down "$(pwd -P)"
    printf '%s\n' "$me" "$(stat -c %u .)"
    if [ -z "$place" ] || [ "$(stat -c %d -- "$place")" != "$(stat -c %d .)" ]; then
        printf '%s\n' "$loose"
        exit 4
    fi
    printf '%s\n' "$place"
    [ -w "$place" ] || exit 5
    ;;
make)
    lies_firm "$1" || { echo "$loose belongs to others" >&2; exit 4; }
    umask 022
    mkdir -m 711 -- "$1" && firm "$1" && mkdir -m 700 -- "$1/work" && cat >"$1/script" || exit 1
    [ "$2" = "$me" ] || chown "$2" -- "$1/work"
    ;;
remove)
    for folder; do
        [ -e "$folder" ] || [ -L "$folder" ] || continue
        case ${folder##*/} in
        .sharebench-isolate-*-disk)
            lies_firm "$folder" && firm "$folder" || cannot "other users can put another folder in its place"
            [ ! -d "$folder/work" ] || again remove_work "$folder" || exit 1
            rm -f -- "$folder/script" && rmdir -- "$folder" || exit 1
            ;;
        .sharebench-isolate-*)
            again remove_shared "$folder" || exit 1
            ;;
        *) exit 2 ;;
        esac
    done
    ;;
as_nobody)
    command -v setpriv >/dev/null || me=
    [ "$me" != 0 ] || set -- setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"
    exec "$@"
    ;;
esac
