# What testparm says of the smb.conf in $old with the lines in $dropin, both in base64, and its value of $name.
umask 077
file=$(mktemp) && exec 3<>"$file" && rm -f "$file" || exit 1
file=$(mktemp) && exec 4<>"$file" && rm -f "$file" || exit 1
copy=/proc/self/fd/3
printf '%s' "$old" | base64 -d >&3
printf '\n[global]\n    include = /proc/self/fd/4\n' >&3
printf '%s' "$dropin" | base64 -d >&4
section testparm.err
testparm -s $copy 2>&1 >/dev/null
code=$?
section testparm.rc
echo $code
section effective
testparm -s --parameter-name="$name" ${share:+--section-name="$share"} $copy 2>/dev/null
code=$?
section effective.rc
echo $code
