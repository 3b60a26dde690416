"""A pair for each mechanism: stacks (and facts) that show it, and near misses that must not.

Stacks are as perf writes them for Linux 4.19 to 6.18, outermost first, without the frames of user code.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_SYS = "entry_SYSCALL_64_after_hwframe;do_syscall_64"
_OLD = "entry_SYSCALL_64_after_hwframe;do_syscall_64"
_READ = f"{_SYS};ksys_read;vfs_read;seq_read_iter;seq_read_iter"
_FAULT = "asm_exc_page_fault;exc_page_fault;handle_mm_fault;__handle_mm_fault"
_WORK = "ret_from_fork_asm;ret_from_fork;kthread;worker_thread;process_one_work"
_KTHREAD = "ret_from_fork_asm;ret_from_fork;kthread"
_IRQ = "asm_common_interrupt;common_interrupt;irq_exit_rcu;__irq_exit_rcu;handle_softirqs"
_CHARGE = "filemap_add_folio;__mem_cgroup_charge;charge_memcg;try_charge_memcg;try_to_free_mem_cgroup_pages"
_RECLAIM = f"{_SYS};do_preadv;vfs_readv;filemap_read;{_CHARGE};do_try_to_free_pages;shrink_node"
_OPEN = f"{_SYS};do_sys_openat2;do_filp_open;path_openat"
_EXEC = f"{_SYS};__x64_sys_execve;do_execveat_common.isra.0;bprm_execve"


@dataclass(frozen=True)
class Pair:
    """Stacks as folded text; each counts once."""

    fires: tuple[str, ...]
    near: tuple[str, ...]
    facts: dict[str, float] = field(default_factory=dict)
    near_facts: dict[str, float] = field(default_factory=dict)


PAIRS: dict[str, Pair] = {
    "zombie-memcg": Pair(
        # recorded on 6.18 with 8,103 zombies, in about these shares
        (f"{_RECLAIM};mem_cgroup_iter",) * 4
        + (f"{_RECLAIM};shrink_lruvec",) * 2
        + (f"{_RECLAIM}", f"{_RECLAIM};mem_cgroup_iter;css_next_descendant_pre", f"{_RECLAIM};shrink_slab"),
        (f"{_RECLAIM};mem_cgroup_iter",) * 4 + (f"{_RECLAIM};shrink_lruvec",) * 2,
        {"zombies": 8_103},
        {"zombies": 40},
    ),
    "cgroup-directories": Pair(
        (
            f"{_SYS};__x64_sys_getdents64;iterate_dir;kernfs_fop_readdir",
            f"{_OPEN};link_path_walk.part.0.constprop.0;walk_component;__lookup_slow;kernfs_iop_lookup",
            f"{_SYS};ksys_read;vfs_read;seq_read_iter;cgroup_seqfile_show;memory_stat_show",
        ),
        (
            f"{_SYS};__x64_sys_getdents64;iterate_dir;ext4_readdir",
            *(f"{_OPEN};link_path_walk;walk_component;lookup_fast",) * 3,
        ),
        {"directories": 4_000, "zombies": 10},
    ),
    "cgroup-stat-flush": Pair(
        (
            f"{_READ};cgroup_seqfile_show;memory_stat_show;cgroup_rstat_flush;cgroup_rstat_flush_locked",
            f"{_WORK};flush_memcg_stats_dwork;css_rstat_flush;mem_cgroup_css_rstat_flush",
        ),
        (f"{_READ};cgroup_seqfile_show;memory_stat_show",),
        {"tracked": 3_000, "directories": 3, "zombies": 9},
        {"tracked": 3_000, "directories": 3, "zombies": 9},
    ),
    "memcg-reclaim": Pair(
        (f"{_RECLAIM};shrink_lruvec;shrink_inactive_list;shrink_folio_list",) * 3
        + (f"{_RECLAIM};shrink_lruvec;shrink_inactive_list;isolate_lru_folios", f"{_RECLAIM};mem_cgroup_iter"),
        (f"{_FAULT};__alloc_pages_slowpath.constprop.0;try_to_free_pages;shrink_node;shrink_lruvec;shrink_folio_list",),
        {"zombies": 12, "vmstat_pgscan_direct": 90_000},
        {"zombies": 12},
    ),
    "cgroup-churn": Pair(
        (
            f"{_SYS};do_mkdirat;vfs_mkdir;kernfs_iop_mkdir;cgroup_mkdir;cgroup_apply_control_enable",
            f"{_WORK};css_free_rwork_fn",
        ),
        (f"{_SYS};do_mkdirat;vfs_mkdir;ext4_mkdir",),
    ),
    "percpu-allocation": Pair(
        (
            f"{_SYS};bpf;map_create;array_map_alloc;pcpu_alloc_noprof;pcpu_find_block_fit",
            f"{_WORK};pcpu_balance_workfn",
        ),
        (f"{_SYS};bpf;map_create;array_map_alloc;__kmalloc",),
    ),
    "direct-reclaim": Pair(
        (
            f"{_FAULT};do_anonymous_page;__alloc_pages_slowpath.constprop.0;try_to_free_pages;shrink_node;shrink_lruvec;"
            "shrink_inactive_list;shrink_folio_list",
        ),
        (f"{_RECLAIM};shrink_lruvec;shrink_inactive_list;shrink_folio_list",),
        {"vmstat_allocstall": 40, "zombies": 3},
    ),
    "kswapd-spin": Pair(
        (f"{_KTHREAD};kswapd;balance_pgdat;shrink_node;shrink_lruvec;shrink_inactive_list;shrink_page_list",),
        (f"{_KTHREAD};kcompactd;kcompactd_do_work;compact_zone",),
        {"vmstat_pgscan_kswapd": 70_000, "zombies": 3},
    ),
    "swap-thrash": Pair(
        (f"{_FAULT};do_swap_page;swapin_readahead;swap_readpage", f"{_FAULT};do_swap_page;swap_read_folio"),
        (f"{_FAULT};do_anonymous_page;clear_page_erms",),
        {"vmstat_pswpin": 900, "vmstat_pswpout": 900},
    ),
    "compaction": Pair(
        (
            f"{_FAULT};do_huge_pmd_anonymous_page;__alloc_pages_slowpath.constprop.0;__alloc_pages_direct_compact;"
            "try_to_compact_pages;compact_zone_order;isolate_freepages_block",
            f"{_KTHREAD};kcompactd;kcompactd_do_work;isolate_migratepages_block",
        ),
        (f"{_KTHREAD};ksm_scan_thread", f"{_FAULT};do_numa_page;migrate_misplaced_page;migrate_pages"),
        {"vmstat_compact_migrate_scanned": 40_000},
    ),
    "huge-page-work": Pair(
        (
            f"{_FAULT};do_huge_pmd_anonymous_page;clear_huge_page;clear_page_erms",
            f"{_KTHREAD};khugepaged;collapse_huge_page",
        ),
        (f"{_FAULT};do_anonymous_page;clear_page_erms",),
        {"vmstat_thp_fault_alloc": 300},
    ),
    "page-fault-storm": Pair(
        (
            f"{_FAULT};do_anonymous_page;vma_alloc_folio_noprof;clear_page_erms",
            f"{_FAULT};do_fault;filemap_map_pages",
            "page_fault;do_page_fault;__do_page_fault;handle_mm_fault;__handle_mm_fault",
        ),
        (f"{_FAULT};do_anonymous_page;clear_page_erms",),
        {"vmstat_pgfault_lift": 12.0},
        {"vmstat_pgfault_lift": 1.0},
    ),
    "smaps-walk": Pair(
        (
            f"{_READ};show_smap;smap_gather_stats;walk_page_vma;__walk_page_range;walk_pgd_range;smaps_pte_range",
            f"{_SYS};ksys_read;vfs_read;seq_read;show_smaps_rollup;smap_gather_stats",
        ),
        (f"{_READ};show_map_vma", f"{_READ};do_task_stat"),
        {"kernel_share": 0.97},
    ),
    "tlb-shootdown": Pair(
        (
            f"{_SYS};__x64_sys_munmap;__vm_munmap;do_vmi_align_munmap;tlb_finish_mmu;flush_tlb_mm_range;smp_call_function_many_cond",
            f"{_SYS};__x64_sys_madvise;do_madvise;zap_page_range_single;tlb_finish_mmu;native_flush_tlb_others;smp_call_function_many",
        ),
        (f"{_SYS};__x64_sys_munmap;__vm_munmap;do_vmi_align_munmap;unmap_region;free_pgtables",),
        {"cores": 16},
    ),
    "address-space-teardown": Pair(
        (f"{_SYS};__x64_sys_exit_group;do_group_exit;do_exit;mmput;exit_mmap;unmap_vmas;unmap_page_range",) * 2
        + (f"{_SYS};__x64_sys_munmap;do_munmap;unmap_region;zap_pte_range",),
        (f"{_SYS};__x64_sys_exit_group;do_group_exit;do_exit;mmput;exit_mmap;unmap_vmas;unmap_page_range",),
        {"execs": 0.5, "kernel_share": 0.99},
        {"execs": 900.0, "kernel_share": 0.99},
    ),
    "fork-copy": Pair(
        (f"{_SYS};__do_sys_clone;kernel_clone;copy_process;dup_mm;dup_mmap;copy_page_range",),
        (f"{_SYS};__do_sys_clone;kernel_clone;copy_process;dup_task_struct",),
        {"execs": 22.0, "seconds_per_start": 0.042},
        {"execs": 900.0, "seconds_per_start": 0.001},
    ),
    "numa-balancing": Pair(
        (
            f"{_FAULT};do_numa_page;migrate_misplaced_folio;migrate_pages",
            "exit_to_user_mode_prepare;task_work_run;task_numa_work;change_prot_numa",
        ),
        ("exit_to_user_mode_prepare;task_work_run;____fput;__fput",),
        {"vmstat_numa_pages_migrated": 50_000},
    ),
    "same-page-merging": Pair(
        (f"{_KTHREAD};ksm_scan_thread;cmp_and_merge_page;memcmp_pages",), (f"{_KTHREAD};khugepaged",)
    ),
    "memory-pinning": Pair(
        (
            f"{_SYS};__x64_sys_ioctl;ib_umem_get;pin_user_pages_fast;gup_fast_fallback",
            f"{_SYS};__x64_sys_mlock;do_mlock;__mm_populate",
        ),
        (f"{_EXEC};load_elf_binary;copy_strings;get_arg_page;__get_user_pages",),
    ),
    "drop-caches": Pair(
        (
            f"{_SYS};ksys_write;vfs_write;proc_sys_call_handler;drop_caches_sysctl_handler;iterate_supers;drop_pagecache_sb;invalidate_mapping_pages",
        ),
        (f"{_SYS};__x64_sys_fadvise64;vfs_fadvise;invalidate_mapping_pages",),
    ),
    "slab-shrink": Pair(
        (
            f"{_FAULT};try_to_free_pages;shrink_node;shrink_slab;do_shrink_slab;super_cache_scan;prune_icache_sb;inode_lru_isolate",
        )
        * 2,
        (f"{_SYS};ksys_write;drop_caches_sysctl_handler;drop_slab;shrink_slab;do_shrink_slab;super_cache_scan",),
        {"vmstat_slabs_scanned": 80_000, "vmstat_allocstall": 3},
    ),
    "vmap-purge": Pair(
        (
            f"{_WORK};drain_vmap_area_work;__purge_vmap_area_lazy",
            f"{_SYS};bpf;bpf_prog_load;_vm_unmap_aliases;purge_vmap_area_lazy",
        ),
        (f"{_SYS};bpf;bpf_prog_load;bpf_check",),
    ),
    "truncation": Pair(
        (
            f"{_SYS};do_unlinkat;iput;evict;shmem_evict_inode;shmem_undo_range",
            f"{_SYS};do_truncate;truncate_inode_pages_range",
        ),
        (f"{_SYS};do_unlinkat;vfs_unlink;ext4_unlink",),
    ),
    "dentry-walk": Pair(
        (
            f"{_SYS};vfs_statx;filename_lookup;path_lookupat;walk_component;lookup_fast;__d_lookup_rcu",
            f"{_SYS};vfs_statx;filename_lookup;path_lookupat;walk_component;__lookup_slow;d_alloc_parallel;d_alloc",
            f"{_SYS};do_rmdir;vfs_rmdir;shrink_dcache_parent;d_walk",
        ),
        (f"{_SYS};do_unlinkat;filename_lookup;path_lookupat;rwsem_down_write_slowpath;osq_lock",) * 2
        + (f"{_OPEN};link_path_walk;proc_pid_lookup",),
        {"execs": 2.0, "cores": 4},
        {"execs": 2.0, "cores": 4},
    ),
    "directory-read": Pair(
        (
            f"{_SYS};__x64_sys_getdents64;iterate_dir;ext4_readdir;ext4_htree_fill_tree;ext4_htree_store_dirent",
            f"{_SYS};__x64_sys_getdents64;iterate_dir;ext4_readdir;call_filldir;filldir64",
            f"{_SYS};__x64_sys_getdents64;iterate_dir;xfs_readdir;xfs_dir2_leaf_getdents",
        ),
        (
            f"{_SYS};__x64_sys_getdents64;iterate_dir;dcache_readdir;filldir64",
            f"{_SYS};__x64_sys_getdents64;iterate_dir;proc_pid_readdir;proc_fill_cache;filldir64",
            f"{_SYS};vfs_statx;filename_lookup;path_lookupat;walk_component;lookup_fast",
        ),
        {"kernel_share": 0.9},
    ),
    "mapping-churn": Pair(
        (
            f"{_SYS};__x64_sys_mprotect;do_mprotect_pkey;mprotect_fixup;vma_modify_flags",
            f"{_SYS};__x64_sys_munmap;__vm_munmap;do_vmi_munmap;do_vmi_align_munmap;vms_gather_munmap_vmas",
            f"{_FAULT};do_anonymous_page",
        ),
        (f"{_EXEC};load_elf_binary;elf_load;vm_mmap_pgoff;do_mmap",),
        {"execs": 1.0, "kernel_share": 0.9},
        {"execs": 1.0},
    ),
    "file-churn": Pair(
        (
            f"{_OPEN};open_last_lookups;lookup_open.isra.0;ext4_create;__ext4_new_inode",
            f"{_SYS};__x64_sys_unlink;do_unlinkat;evict;ext4_evict_inode",
            *(f"{_OPEN};link_path_walk",) * 2,
        ),
        # opened over and over, and one in ten deleted: looking up is what takes the time
        (f"{_SYS};__x64_sys_unlink;do_unlinkat;evict;ext4_evict_inode", *(f"{_OPEN};d_lookup;__d_lookup",) * 9),
        {"kernel_share": 0.9},
    ),
    "fsnotify-children": Pair(
        (f"{_SYS};__x64_sys_inotify_add_watch;fsnotify_recalc_mask;__fsnotify_update_child_dentry_flags",),
        (f"{_SYS};__x64_sys_inotify_add_watch;user_path_at_empty;filename_lookup",),
    ),
    "mount-table-walk": Pair(
        (f"{_READ};m_show;show_mountinfo;seq_path_root", f"{_SYS};__x64_sys_unshare;copy_mnt_ns;copy_tree"),
        (f"{_READ};m_show;show_map_vma",),
        {"kernel_share": 0.9},
    ),
    "proc-scan": Pair(
        (
            f"{_SYS};__x64_sys_getdents64;iterate_dir;proc_pid_readdir;next_tgid",
            f"{_READ};proc_single_show;do_task_stat;thread_group_cputime_adjusted",
            f"{_SYS};__x64_sys_readlink;do_readlinkat;proc_pid_readlink;d_path;prepend_path",
            f"{_SYS};__x64_sys_getdents64;iterate_dir;proc_readfd_common;proc_fill_cache;tid_fd_update_inode",
        ),
        (
            f"{_READ};show_smap;smap_gather_stats",
            # its own threads' times, asked for through a clock
            f"{_SYS};__x64_sys_clock_gettime;process_cpu_clock_get;posix_cpu_clock_get;thread_group_cputime",
        ),
    ),
    "slabinfo-read": Pair(
        (f"{_READ};slab_show;get_slabinfo;count_partial;_raw_spin_unlock_irqrestore",),
        (f"{_READ};show_stat",),
    ),
    "kernel-symbols-read": Pair(
        (
            f"{_READ};s_next;update_iter;kallsyms_expand_symbol.constprop.0",
            *(f"{_READ};s_show;seq_printf;vsnprintf",) * 3,
        ),
        (f"{_READ};s_show;seq_printf;vsnprintf",),
    ),
    "writeback": Pair(
        (f"{_WORK};wb_workfn;wb_writeback;writeback_sb_inodes;__writeback_single_inode;do_writepages;ext4_writepages",),
        (f"{_SYS};ksys_write;vfs_write;generic_perform_write;copy_page_from_iter_atomic",),
    ),
    "block-search": Pair(
        (f"{_SYS};vfs_fallocate;ext4_fallocate;ext4_mb_new_blocks;ext4_mb_regular_allocator;ext4_mb_good_group",),
        (f"{_SYS};vfs_fallocate;ext4_fallocate;ext4_mb_new_blocks;ext4_mb_use_preallocated",),
    ),
    "exec-storm": Pair(
        (
            f"{_EXEC};load_elf_binary;elf_load",
            f"{_SYS};__do_sys_clone;kernel_clone;copy_process;dup_mm;dup_mmap;copy_page_range",
            f"{_SYS};__x64_sys_exit_group;do_group_exit;do_exit;mmput;exit_mmap;unmap_vmas;unmap_page_range",
            f"{_FAULT};do_fault;filemap_map_pages",
        ),
        (f"{_SYS};__do_sys_clone;kernel_clone;copy_process;dup_mm;dup_mmap;copy_page_range",),
        {"execs": 700.0, "pids": 900, "vmstat_pgfault_lift": 9.0},
        {"execs": 0.4, "pids": 1},
    ),
    "lock-contention": Pair(
        (
            f"{_SYS};do_unlinkat;lock_two;_raw_spin_lock;native_queued_spin_lock_slowpath",
            f"{_SYS};do_unlinkat;rwsem_down_write_slowpath;osq_lock",
            f"{_SYS};vm_mmap_pgoff;down_write_killable;rwsem_down_write_slowpath;rwsem_spin_on_owner",
            f"{_OPEN};link_path_walk",
        ),
        (f"{_SYS};do_unlinkat;_raw_spin_lock", f"{_SYS};do_unlinkat;down_write"),
        {"cores": 2},
        {"cores": 2},
    ),
    "futex-contention": Pair(
        (
            f"{_SYS};__x64_sys_futex;do_futex;futex_wait;futex_wait_setup",
            f"{_SYS};__x64_sys_futex;do_futex;futex_wake;wake_up_q",
        ),
        (f"{_SYS};__x64_sys_futex;do_futex;futex_wake;_raw_spin_lock;native_queued_spin_lock_slowpath",),
        {"cpu_context_switches_lift": 8, "cores": 8},
        {"cores": 8},
    ),
    "cpu-quota-walk": Pair(
        (
            "asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;__hrtimer_run_queues;sched_cfs_period_timer;distribute_cfs_runtime;unthrottle_cfs_rq;walk_tg_tree_from",
        ),
        ("asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;__hrtimer_run_queues;hrtimer_wakeup",),
        {"throttle_throttled_seconds": 3.0},
    ),
    "load-balance-walk": Pair(
        (
            f"{_IRQ};run_rebalance_domains;update_blocked_averages",
            f"{_IRQ};sched_balance_softirq;sched_balance_update_blocked_averages",
        ),
        (f"{_IRQ};net_rx_action;__napi_poll",),
    ),
    "rcu-callbacks": Pair(
        (f"{_IRQ};rcu_core_si;rcu_core;rcu_do_batch;kmem_cache_free",),
        (f"{_IRQ};net_rx_action;__napi_poll;process_backlog",),
    ),
    "timer-storm": Pair(
        (
            f"{_IRQ};run_timer_softirq;__run_timers;call_timer_fn",
            "asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;__hrtimer_run_queues;hrtimer_wakeup",
        ),
        (
            "asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;__hrtimer_run_queues;tick_nohz_handler;update_process_times",
        ),
    ),
    "interrupt-storm": Pair(
        (
            "asm_common_interrupt;common_interrupt;__common_interrupt;handle_edge_irq;handle_irq_event;__handle_irq_event_percpu;some_driver_irq",
        ),
        (
            "asm_common_interrupt;common_interrupt;__common_interrupt;handle_edge_irq;handle_irq_event;__handle_irq_event_percpu;some_driver_irq",
        ),
        {"core_irq": 0.6},
        {"core_irq": 0.005},
    ),
    "softirq-flood": Pair(
        (
            f"{_IRQ};net_rx_action;__napi_poll;process_backlog;__netif_receive_skb_core;ip_rcv;udp_rcv",
            f"{_KTHREAD};smpboot_thread_fn;run_ksoftirqd;handle_softirqs;net_rx_action",
        ),
        (f"{_IRQ};rcu_core;rcu_do_batch",),
        {"core_softirq": 0.8, "softnet_processed_packets_lift": 400.0},
    ),
    "conntrack-walk": Pair(
        (
            f"{_WORK};gc_worker",
            f"{_IRQ};net_rx_action;__napi_poll;ip_rcv;nf_hook_slow;nf_conntrack_in;__nf_conntrack_find_get",
        ),
        (f"{_IRQ};net_rx_action;__napi_poll;ip_rcv;nf_hook_slow;nf_conntrack_in",),
    ),
    "firewall-rules-walk": Pair(
        (
            f"{_IRQ};net_rx_action;__napi_poll;ip_rcv;nf_hook_slow;ipt_do_table",
            f"{_IRQ};net_rx_action;ip_rcv;nf_hook_slow;nft_do_chain",
        ),
        (f"{_IRQ};net_rx_action;__napi_poll;ip_rcv;nf_hook_slow",),
    ),
    "socket-table-walk": Pair(
        (
            f"{_READ};tcp_seq_next;established_get_first",
            f"{_SYS};netlink_dump;inet_diag_dump;tcp_diag_dump",
            f"{_READ};unix_seq_show;seq_printf;vsnprintf",
        ),
        (f"{_READ};sockstat_seq_show",),
    ),
    "neighbour-table": Pair(
        (f"{_SYS};tcp_connect;ip_finish_output2;__neigh_create;___neigh_create;neigh_alloc;neigh_forced_gc",),
        (f"{_SYS};tcp_connect;ip_finish_output2;neigh_resolve_output",),
    ),
    "route-table-walk": Pair(
        (
            f"{_SYS};netlink_dump;rtnl_dump_ifinfo;rtnl_fill_ifinfo;dev_get_stats",
            f"{_WORK};cleanup_net;fib_flush;fib_table_flush",
            f"{_READ};fib_route_seq_show;seq_printf;vsnprintf",
        ),
        (f"{_SYS};netlink_dump;inet_diag_dump",),
    ),
    "slow-console": Pair(
        (
            f"{_SYS};devkmsg_write;vprintk_emit;console_unlock;console_flush_all;univ8250_console_write;serial8250_console_write;wait_for_xmitr",
        ),
        (f"{_SYS};devkmsg_write;vprintk_emit;vprintk_store",),
    ),
    "oom-scan": Pair(
        (
            f"{_FAULT};__alloc_pages_slowpath;out_of_memory;select_bad_process;oom_evaluate_task",
            f"{_FAULT};out_of_memory;oom_kill_process;dump_header",
        ),
        (f"{_FAULT};__alloc_pages_slowpath;out_of_memory",),
        {"oom_kills": 4},
        {"oom_kills": 0},
    ),
    "bpf-overhead": Pair(
        (
            f"{_SYS};trace_call_bpf;bpf_prog_6deef7357e7b4530_on_entry",
            "schedule;__schedule;bpf_trace_run4;bpf_prog_a1b2c3_switch",
        ),
        (f"{_SYS};bpf;bpf_prog_load;bpf_check;do_check_common",),
    ),
    "audit-rules": Pair(
        (f"{_SYS};syscall_exit_work;__audit_syscall_exit;audit_filter_syscall;audit_filter_rules.constprop.0",),
        (f"{_SYS};syscall_exit_work",),
    ),
    "profiling-overhead": Pair(
        (
            "asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;perf_swevent_hrtimer;perf_event_output_forward;perf_callchain_user",
        ),
        ("asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;perf_swevent_hrtimer",),
    ),
    "stop-machine": Pair(
        (
            f"{_KTHREAD};smpboot_thread_fn;cpu_stopper_thread;multi_cpu_stop",
            f"{_SYS};bpf;jump_label_update;text_poke_bp_batch",
        ),
        (f"{_KTHREAD};smpboot_thread_fn;cpu_stopper_thread;migration_cpu_stop",),
    ),
}
