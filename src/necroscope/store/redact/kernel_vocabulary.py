"""Words that kernels give to threads, work queues, interrupt handlers, events and files; the same on every machine."""

from __future__ import annotations

_WORKS = """
acpi_thermal_pm amd_iommu_v2 async ata_sff blkcg_punt_bio btrfs-cache btrfs-compressed-write btrfs-delalloc
btrfs-delayed-meta btrfs-endio btrfs-endio-meta btrfs-endio-write btrfs-fixup btrfs-flush_delalloc
btrfs-freespace-write btrfs-qgroup-rescan btrfs-readahead btrfs-worker ceph-inode ceph-msgr cfg80211
cgroup_bpf_destroy cgroup_destroy cgroup_free cgroup_offline cgroup_pidlist_destroy cgroup_release cgwb_release cifsd
cifsiod cpuset_migrate_mm cryptd devfreq_wq dio dm_bufio_cache dying edac-poller ena events events_bh events_freezable
events_freezable_power_efficient events_freezable_pwr_efficient events_highpri events_long events_power_efficient
events_unbound evict ext4-rsv-conversion flush fscache_object fscache_operation fsnotify_mark fsverity_read_queue gve
hci0 i915 i915-unordered i915_flip ib-comp-unb-wq ib-comp-wq ib_addr ib_mcast inet_frag_wq iommu iou_exit ipoib_wq
ipv6_addrconf isolated iw_cm_wq kafs kblockd kcopyd kcryptd kcryptd_io kdmflush kintegrityd kmpath_handlerd
kmpath_rdacd kmpathd ksmbd-io kstrp kthrotld kverityd kvfree_rcu_reclaim led_workqueue loop loop0 md md_bitmap md_misc
mei_me mld mlx4 mlx4_en mlx5_cmd mlx5_health mlx5e mm_percpu_wq mm_vmstat mptcp nbd0-recv netns nfsiod nvme-auth-wq
nvme-delete-wq nvme-reset-wq nvme-wq nvme_tcp_wq nvmet-wq ocfs2_wq pencrypt_parallel pencrypt_serial pm
quota_events_unbound rcu_gp rcu_par_gp rcu_tasks rdma_cm rpciod scsi_tmf_0 scsi_tmf_1 scsi_wq_0 slub_flushwq
sock_diag_events stats sync_wq target_completion tls-strp tpm_dev_wq ttm uas usb_hub_wq vfio vfio-irqfd-cleanup vhost
virtio_vsock vsock-loopback writeback xenbus xfs-blockgc xfs-buf xfs-cil xfs-conv xfs-eofblocks xfs-inodegc xfs-log
xfs-reclaim xfs-sync xfs_mru_cache xfsalloc xprtiod zswap-shrink zswap1
"""
_THREADS = """
devfreq_wq ecryptfs-kthrea edac-poller hwrng ipmi-ssif kauditd kblockd kcompactd kdevtmpfs khugepaged khungtaskd
kintegrityd kmemleak kmmpd krfcommd ksgxd ksmd kstrp kswapd ktest kthreadd kthrotld kworker/dying mm_percpu_wq netns
nfsd nfsv4.1-svc oom_reaper pool_workqueue_release psimon rcu_bh rcu_exp_gp_kthread_worker
rcu_exp_par_gp_kthread_worker rcu_gp rcu_par_gp rcu_preempt rcu_sched rcu_tasks_kthread rcu_tasks_rude_
rcu_tasks_rude_kthread rcu_tasks_trace rcu_tasks_trace_kthread rpciod slub_flushwq watchdog/ watchdogd writeback
xfs_mru_cache xfsalloc xprtiod zswap-shrink
"""
_INTERRUPTS = """
a acpi aer aerdrv ahci amdgpu arch arm async ata b bnxt c card cciss combined comp config control ctrl d default dmar
e edac efa ehci ena eno enp ens eth event events evtq f fp g ged gerror gic gpio guest gve hcd hda hpsa hv hvc i ib
ice idma idxd igb igc input intel intx ioat ioatdma ipi iwlwifi ixgbe kvm lo lpfc me megasas mei mgmnt mlx mpt msi
msix n np nvidia nvme ohci output p pages parport pci pcie pciehp piix pl pme pmu pn ptimer pvscsi q qla queue req
request rtc rx s sas sata sci sd serial smartpqi smbus smmu snd thermal thunderbolt timer tty ttyama ttys tx txrx uart
uhci usb vfio vhost virtio vmci vmw vmxnet vtimer wlan xen xhci xx xxx
"""
_EVENTS = """
L1-dcache-load-misses L1-dcache-loads L1-dcache-stores L1-icache-load-misses LLC-load-misses LLC-loads
LLC-store-misses LLC-stores alignment-faults block:block_bio_queue block:block_rq_complete block:block_rq_insert
block:block_rq_issue bpf-output branch-instructions branch-load-misses branch-loads branch-misses branches bus-cycles
cache-misses cache-references cgroup-switches cgroup:cgroup_attach_task cgroup:cgroup_destroy_root
cgroup:cgroup_freeze cgroup:cgroup_mkdir cgroup:cgroup_release cgroup:cgroup_rename cgroup:cgroup_rmdir
cgroup:cgroup_setup_root cgroup:cgroup_transfer_tasks cgroup:cgroup_unfreeze compaction:mm_compaction_begin
context-switches cpu-clock cpu-cycles cpu-migrations cpu_cycles cs cycles dTLB-load-misses dTLB-loads dTLB-stores
dummy emulation-faults exceptions:page_fault_kernel exceptions:page_fault_user faults iTLB-load-misses iTLB-loads
inst_retired instructions irq:irq_handler_entry irq:irq_handler_exit irq:softirq_entry irq:softirq_exit
irq:softirq_raise irq:tasklet_entry kmem:kfree kmem:kmalloc kmem:kmem_cache_alloc kmem:kmem_cache_free
kmem:mm_page_alloc kmem:mm_page_free lock:contention_begin lock:contention_end major-faults mem-loads mem-loads-aux
mem-stores migrate:mm_migrate_pages migrations minor-faults napi:napi_poll net:net_dev_queue net:net_dev_xmit
net:netif_receive_skb node-load-misses node-loads oom:mark_victim oom:oom_score_adj_update page-faults
power:cpu_frequency power:cpu_idle raw_syscalls:sys_enter raw_syscalls:sys_exit ref-cycles sched:sched_blocked_reason
sched:sched_migrate_task sched:sched_move_numa sched:sched_pi_setprio sched:sched_process_exec
sched:sched_process_exit sched:sched_process_fork sched:sched_process_free sched:sched_process_wait
sched:sched_stat_blocked sched:sched_stat_iowait sched:sched_stat_runtime sched:sched_stat_sleep sched:sched_stat_wait
sched:sched_stick_numa sched:sched_swap_numa sched:sched_switch sched:sched_wakeup sched:sched_wakeup_new
sched:sched_waking skb:kfree_skb slots stalled-cycles-backend stalled-cycles-frontend task-clock
timer:hrtimer_expire_entry tlb:tlb_flush topdown-bad-spec topdown-be-bound topdown-fe-bound topdown-retiring
vmscan:mm_vmscan_direct_reclaim_begin vmscan:mm_vmscan_direct_reclaim_end workqueue:workqueue_execute_end
workqueue:workqueue_execute_start writeback:writeback_start writeback:writeback_written
"""
_FILE_NAMES = """
cgroup cgroups cpu debug dev fs hung_task_timeout_secs interrupts io irq kernel kmsg loadavg meminfo memory mountinfo
net panic pressure proc schedstat self slabinfo softirqs softnet_stat stat sys sysrq-trigger tracing uptime vm vmstat
"""

WORKS = frozenset(_WORKS.split())
"""Work queues, as they stand behind the name of a worker: `kworker/0:1-events`."""
THREADS = frozenset(_THREADS.split())
"""Threads whose names have no number."""
INTERRUPTS = frozenset(_INTERRUPTS.split())
"""Pieces of the names of interrupt handlers, in lower case: drivers, buses, and what a queue is for."""
EVENTS = frozenset(_EVENTS.split())
"""Events of perf: the generic ones, and tracepoints of this and other recorders."""
FILE_NAMES = frozenset(_FILE_NAMES.split())
"""Parts of the paths of the kernel's own files that logs and reports name."""
