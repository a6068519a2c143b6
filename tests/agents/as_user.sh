#!/bin/sh
# Run a command as an ordinary user; needs root: unshare -m tests/agents/as_user.sh COMMAND...
# It runs in a copy of this repository, with our .venv and compiled code, so that neither the owner
# of our files nor the mode of a directory above them matters. Mounts end with the namespace.
set -e
user=12345
root=$(cd "$(dirname "$0")/../.." && pwd)
home=$(mktemp -d)
copy=$home/copy
mount --make-rprivate /
mkdir -p "$copy/.venv"
tar -C "$root" --exclude=./.venv --exclude=./.git -cf - . | tar -C "$copy" -xf -
[ -z "$NUMBA_CACHE_DIR" ] || cp -r "$NUMBA_CACHE_DIR" "$home/cache"
chown -R $user:$user "$home"
mount --bind "$root/.venv" "$copy/.venv"
as_user() {
    setpriv --reuid $user --regid $user --clear-groups \
        env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$home" \
        ${NUMBA_CACHE_DIR:+NUMBA_CACHE_DIR="$home/cache"} "$@"
}
cd "$copy"
if ! as_user .venv/bin/python -c '' 2>/dev/null; then
    # Our interpreter is in the home of root: there is nothing else in it any more.
    pythons=$(dirname "$("$root/.venv/bin/python" -c 'import sys; print(sys.base_prefix)')")
    kept=$(mktemp -d)
    mount --bind "$pythons" "$kept"
    mount -t tmpfs -o mode=755 none "/$(echo "$pythons" | cut -d/ -f2)"
    mkdir -p "$pythons"
    mount --bind "$kept" "$pythons"
fi
status=0
as_user "$@" || status=$?
cd /
umount "$copy/.venv"
rm -rf "$home"
exit $status
