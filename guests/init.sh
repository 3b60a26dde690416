#!/bin/busybox sh
# The first program of a guest. Begins in the initial file system, goes on as the same script in the real one, runs the
# job, writes what the job left onto a disk, and ends the guest. Disks are told apart by their serial numbers.
#
#   root   the system             job    a tar archive: what to run (./run) and what that needs
#   left   empty: gets a tar archive of /out: status, output, kmsg, and whatever the job wrote there
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

disk() {
    for one in /sys/block/vd*; do
        [ "$(cat "$one/serial")" = "$1" ] && echo "/dev/${one##*/}" && return
    done
}

begin() {
    /bin/busybox --install -s /bin
    mount -t proc none /proc
    mount -t sysfs none /sys
    mount -t devtmpfs none /dev
    while read -r module; do insmod "/modules/$module" || echo "init: $module"; done </modules/order
    tries=0
    until [ -n "$(disk root)" ] || [ $tries = 100 ]; do tries=$((tries + 1)); sleep 0.1; done
    mount -t ext4 "$(disk root)" /root || exec reboot -f
    cp /init /root/init
    umount /proc
    mount --move /sys /root/sys
    mount --move /dev /root/dev
    exec switch_root /root /bin/busybox sh /init system
}

mount_cgroups() {
    if [ "$1" = v2 ]; then
        mount -t cgroup2 none /sys/fs/cgroup
        for one in cpu memory pids io; do echo "+$one" >/sys/fs/cgroup/cgroup.subtree_control; done
        return
    fi
    mount -t tmpfs none /sys/fs/cgroup
    for one in memory cpu,cpuacct pids perf_event; do
        mkdir "/sys/fs/cgroup/$one" && mount -t cgroup -o "$one" none "/sys/fs/cgroup/$one"
    done
}

system() {
    # Where Debian's own programs come first.
    mkdir -p /opt/busybox
    PATH=$PATH:/opt/busybox
    /bin/busybox --install -s /opt/busybox
    mount -t proc none /proc
    for one in /tmp /run; do mount -t tmpfs none $one; done
    mkdir -p /dev/shm && mount -t tmpfs none /dev/shm
    mount -t tracefs none /sys/kernel/tracing
    cgroups=$(sed -n 's/.*guest\.cgroups=\([^ ]*\).*/\1/p' /proc/cmdline)
    mount_cgroups "${cgroups:-v2}" 2>/dev/null
    echo on >/proc/sys/kernel/printk_devkmsg
    # An interrupt takes long by an emulated machine's clock: perf would sample ever more seldom.
    echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
    ip link set lo up
    hostname guest
    mkdir -p /job /out
    tar -x -C /job -f "$(disk job)"
    cd /job && ./run >/out/output 2>&1 </dev/null
    echo $? >/out/status
    # Reading it never ends; what is there comes at once.
    timeout 2 cat /dev/kmsg >/out/kmsg
    tar -c -C /out -f "$(disk left)" .
    sync
    reboot -f
}

if [ "$1" = system ]; then system; else begin; fi
