# Prints what waits at the printer of $share, whose server has the configuration $conf; fails where it cannot say.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
LC_ALL=C
export PATH LC_ALL
of_share() { testparm -s "$conf" --section-name="$share" --parameter-name="$1" 2>/dev/null; }
[ "$(of_share printable)" = Yes ] || exit 1
printer=$(of_share 'printer name')
printer=${printer:-$share}
case $printer in *[!A-Za-z0-9._-]*) exit 1 ;; esac
asks=$(of_share 'lpq command')
case $asks in
'') lpstat -o "$printer" ;; # with CUPS smbd asks by its library
*) sh -c "$(printf '%s' "$asks" | sed "s/%p/$printer/g")" ;;
esac
