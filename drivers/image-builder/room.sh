# Process 1 of new mount, PID, UTS and IPC namespaces. Makes a root of its own that holds the machine's programs (read-only) and
# one folder of the job, leaves the machine's file system for good, gives up capabilities and becomes the given program.
#
#   room.sh FOLDER KIND HOSTNAME CAPABILITIES [SOURCE TARGET] -- PROGRAM ARGUMENT...
#
# FOLDER is the job's: `room/` is where the root is made, `etc/` becomes its /etc, `image/` its /mnt/image, and `claim` says
# which process this is. KIND is `shell` (the image gets /dev and /proc) or `tool` (a file or folder to read, /source; a folder to write, /output).
set -eu
umask 022
# The lock is held by whoever waits for this process.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
PATH=/usr/sbin:/usr/bin:/sbin:/bin
folder=$1 kind=$2 name=$3 capabilities=$4
shift 4
source='' target=''
while [ "$1" != -- ]; do
  if [ -z "$source" ]; then source=$1; else target=$1; fi
  shift
done
shift

# The machine's /proc is still there: it shows the numbers by which the machine knows this process.
read -r stat </proc/self/stat
read -r boot </proc/sys/kernel/random/boot_id
after_name=${stat##*) }
pid=${stat%% *}
# Field 22 of all is field 20 after the name.
start=$(printf '%s\n' "$after_name" | cut -d ' ' -f 20)
printf '{"pid":%s,"start_time":"%s","boot_id":"%s"}\n' "$pid" "$start" "$boot" >"$folder/claim.new"
mv -f "$folder/claim.new" "$folder/claim"

hostname "$name"

read_only() {
  mount --bind "$1" "$2"
  mount -o remount,bind,ro,nosuid,nodev "$2"
}

root=$folder/room
mount -t tmpfs -o mode=755,nosuid,nodev,size=16m room "$root"
cd "$root"
mkdir -p usr etc dev proc tmp root run/sshd mnt/image var/log var/empty old
: >var/log/lastlog
: >var/log/wtmp
chmod 1777 tmp
read_only /usr usr
for entry in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$entry" ]; then
    ln -s "$(readlink "/$entry")" "$entry"
  elif [ -d "/$entry" ]; then
    mkdir "$entry"
    read_only "/$entry" "$entry"
  fi
done
for entry in ld.so.cache ld.so.conf ld.so.conf.d alternatives; do
  [ ! -e "/etc/$entry" ] || cp -a "/etc/$entry" etc/
done
if [ -d /etc/ssl/certs ]; then
  mkdir -p etc/ssl/certs
  read_only /etc/ssl/certs etc/ssl/certs
fi
cp -R "$folder/etc/." etc/

# Device nodes of an image are kept but open nothing here.
mount --bind "$folder/image" mnt/image
mount -o remount,bind,nodev mnt/image
if [ -n "$source" ]; then
  if [ -d "$source" ]; then mkdir source; else : >source; fi
  read_only "$source" source
fi
if [ -n "$target" ]; then
  mkdir output
  mount --bind "$target" output
  mount -o remount,bind,nosuid,nodev,noexec output
fi

mount -t tmpfs -o mode=755,nosuid,nodev,noexec,size=64k dev dev
for node in null zero full random urandom tty; do
  : >"dev/$node"
  mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5,nosuid,noexec devpts dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev,size=256m shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr

mount -t proc -o nosuid,nodev,noexec proc proc
for entry in sys sysrq-trigger irq bus fs acpi scsi; do
  [ ! -e "proc/$entry" ] || { mount --bind "proc/$entry" "proc/$entry" && mount -o remount,bind,ro,nosuid,nodev,noexec "proc/$entry"; }
done
for entry in kcore kmsg keys timer_list sched_debug; do
  [ ! -e "proc/$entry" ] || mount --bind /dev/null "proc/$entry"
done

# What is done in the new root alone. Links in the image lead nowhere else any more: that root is all there is.
inside='
  kind=$1 capabilities=$2
  shift 2
  if [ "$kind" = shell ]; then
    mount --rbind /dev /mnt/image/image-root/dev
    mount --rbind /proc /mnt/image/image-root/proc
  fi
  exec setpriv --inh-caps=-all --bounding-set "$capabilities" -- "$@"
'
if pivot_root . old 2>/dev/null; then
  cd /
  umount -l old
  rmdir old
  exec sh -euc "$inside" sh "$kind" "$capabilities" "$@"
fi
# The seccomp profile of containers forbids that. A root that is moved over the old one hides it for good from whoever may not
# unmount: no `..` leads below it, out of whatever is left by chroot.
rmdir old
# Without a note in /run, which cannot be written there.
mount --no-mtab --move . /
exec chroot . sh -euc "$inside" sh "$kind" "$capabilities" "$@"
