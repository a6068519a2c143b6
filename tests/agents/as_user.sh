#!/bin/sh
# Run a command as an ordinary user; needs root: unshare -m tests/agents/as_user.sh COMMAND...
# In a mount namespace of its own, /root holds nothing but the interpreters that it may have.
set -e
user=12345
mount --make-rprivate /
if [ -d /root/.pyenv ]; then
    kept=$(mktemp -d)
    mount --bind /root/.pyenv "$kept"
    mount -t tmpfs -o mode=755 none /root
    mkdir /root/.pyenv
    mount --bind "$kept" /root/.pyenv
fi
home=$(mktemp -d)
[ -z "$NUMBA_CACHE_DIR" ] || cp -r "$NUMBA_CACHE_DIR" "$home/cache"
chown -R $user:$user "$home"
exec setpriv --reuid $user --regid $user --clear-groups \
    env -i PATH=/usr/bin:/bin HOME="$home" NUMBA_CACHE_DIR="$home/cache" "$@"
