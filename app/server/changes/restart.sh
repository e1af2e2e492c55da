# Who would start the smbd of $conf again: prints its pid, its unit, its parent and its service.
pid=$(smbcontrol -s "$conf" smbd ping 2>/dev/null | sed -n 's/^PONG from pid //p' | head -n 1)
section pid
echo "$pid"
[ -n "$pid" ] || { section end; return; }
unit=$(sed -n 's#^.*/\([^/]*\.service\)$#\1#p' "/proc/$pid/cgroup" | head -n 1)
if [ -n "$unit" ] && [ "$(systemctl show --property=MainPID "$unit" 2>/dev/null)" = "MainPID=$pid" ]; then
    section unit
    echo "$unit"
fi
section parent
cat "/proc/$(sed 's/^.*) . //; s/ .*//' "/proc/$pid/stat")/comm"
for name in smbd samba smb; do
    [ -x "/etc/init.d/$name" ] && service "$name" status >/dev/null 2>&1 || continue
    [ "$(smbd -b | sed -n 's/^ *CONFIGFILE: //p')" = "$conf" ] || continue
    section service
    echo "$name"
    break
done
