# Prints the jobs ($which: not-completed, all) of the printer of $share, whose server has the configuration $conf; fails
# where it cannot say, as of the completed ones without CUPS.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
LC_ALL=C
export PATH LC_ALL
of() { testparm -s "$conf" --section-name="$1" --parameter-name="$2" 2>/dev/null; }
section=$share
[ -n "$(of "$section" printable)" ] || section=printers # where a share has no section, [printers] has one for each
[ "$(of "$section" printable)" = Yes ] || exit 1
printer=
[ "$section" = printers ] || printer=$(of "$section" 'printer name')
printer=${printer:-$share}
case $printer in *[!A-Za-z0-9._-]*) exit 1 ;; esac
case $(of "$section" printing) in
cups) # smbd asks by its library, whatever its lpq command is
    at=$(of global 'cups server')
    lpstat ${at:+-h "$at"} -W "$which" -o "$printer"
    ;;
*) [ "$which" = not-completed ] && sh -c "$(of "$section" 'lpq command' | sed "s/%p/$printer/g")" ;;
esac
