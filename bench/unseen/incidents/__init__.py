"""All incidents, by name. What is true of each is written down in TRUTHS.json."""

from __future__ import annotations

from collections.abc import Callable

from bench.unseen.incidents import controls, kernel_paths, memory_groups, user_space
from bench.unseen.stage import Stage

INCIDENTS: dict[str, Callable[[Stage], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        user_space.short_encoder,
        user_space.two_disturbances,
        user_space.misnamed_container,
        controls.ever_the_same,
        kernel_paths.dropped_caches,
        controls.out_of_quota,
        kernel_paths.big_delete,
        controls.disk_timeout,
        memory_groups.tenant_statistics,
        kernel_paths.process_lister,
        controls.another_core,
        user_space.crowd,
        controls.busy_and_broken,
        user_space.kernel_like_name,
        user_space.python_job,
        controls.own_work,
        kernel_paths.steered_packets,
        kernel_paths.thundering_herd,
        controls.polite_batch,
        user_space.made_code,
        user_space.twin_workers,
        controls.long_over,
        kernel_paths.mount_lister,
        kernel_paths.connection_lister,
        controls.stuck_task,
        user_space.short_lived,
        kernel_paths.relay,
        controls.own_limit,
        memory_groups.page_cache_limit,
        user_space.shared_guilt,
        controls.all_is_well,
        kernel_paths.flipped_protection,
        kernel_paths.compaction,
        controls.high_mark,
        kernel_paths.kernel_random,
        kernel_paths.big_exit,
        memory_groups.left_behind,
        kernel_paths.slab_statistics,
        controls.quiet_log,
        user_space.second_of_two,
        kernel_paths.snapshot_forks,
        controls.minute_later,
        kernel_paths.memory_exporter,
        controls.batch_throughout,
        kernel_paths.watch_again,
        controls.bad_sector,
        kernel_paths.merging,
        controls.paused_container,
        kernel_paths.pinned_buffers,
        controls.sync_storm,
        kernel_paths.spool_lister,
    )
}
