"""The views of `necroscope sql`: what they mean, and how they are made from the tables on disk and the journal.

`store.TABLE` is what the segments hold and `journal.TABLE` what is not sealed yet, as `store/format/tables.py` declares
them.
"""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.sense.perf.modules import IN_BRACKETS, NOT_KERNEL
from necroscope.store.format.tables import EVENTS
from necroscope.vocabulary.event import Window


@dataclass(frozen=True, slots=True)
class View:
    """A view: its columns with what they mean, and its SQL. `timed` ones have `at_ns` and obey a window."""

    name: str
    help: str
    columns: tuple[tuple[str, str], ...]
    sql: str
    timed: bool = True


_AT = (("at", "when, UTC"), ("at_ns", "the same as nanoseconds since 1970"))

_SAMPLES = """
select at_ns, cpu, pid, pid + thread as tid, comm, cgroup, event, weight, stack_id
from store.samples left join (select segment, stack, stack_id from store.stacks) using (segment, stack)
union all by name
select at_ns, cpu, pid, tid, comm, cgroup, event, weight, stack_id from journal.samples
"""
_STACKS = """
with known as (
  select stack_id, any_value(nullif(frames, '')) as frames
  from (select stack_id, frames from store.stacks union all select stack_id, frames from journal.stacks)
  group by stack_id
), split as (
  select stack_id, case when frames is null then [] else string_split(rtrim(frames, chr(30)), chr(30)) end as pairs
  from known
)
select stack_id,
  list_transform(pairs, lambda pair: split_part(pair, chr(31), 1)) as frames,
  list_transform(pairs, lambda pair: split_part(pair, chr(31), 2)) as modules
from split
"""
_NOT_KERNEL = ", ".join(f"'{module}'" for module in sorted(NOT_KERNEL))
_SECONDS = f"""
select second * 1000000000 as at_ns, cpu, event, comm, samples, kernel, weight from store.seconds
union all by name
select at_ns // 1000000000 * 1000000000 as at_ns, cpu, event, comm, count(*) as samples,
  count(*) filter (regexp_full_match(module, '{IN_BRACKETS}') and module not in ({_NOT_KERNEL})) as kernel,
  sum(weight)::bigint as weight
from journal.samples left join (
  select stack_id, split_part(split_part(frames, chr(30), -2), chr(31), 2) as module from journal.stacks
) using (stack_id)
group by 1, cpu, event, comm
"""
_SIGNALS = """
with series as (select * from store.series union all select * from journal.series),
ticks as (select * from store.ticks union all select * from journal.ticks),
changes as (select * from store.changes union all select * from journal.changes),
points as (
  select chunk, series, name, tick,
    coalesce(value, case when step is not null then (sum(step) over so_far)::double / scale end) as value
  from changes join series using (chunk, series)
  window so_far as (partition by chunk, series, name order by tick)
),
expected as (select chunk, series, name, labels, tick, at_ns from series join ticks using (chunk, source))
select e.at_ns, e.name, e.labels, p.value
from expected e asof join points p
  on e.chunk = p.chunk and e.series = p.series and e.name = p.name and e.tick >= p.tick
where p.value is not null
"""
_CORES = """
with counted as (select * from store.cores union all select * from journal.cores), whole as (
  select *, coalesce(user_ms, 0) + coalesce(system_ms, 0) + coalesce(irq_ms, 0) + coalesce(softirq_ms, 0)
    + coalesce(steal_ms, 0) + coalesce(idle_ms, 0) as total
  from counted
)
select at_ns, cpu, user_ms / total as user, system_ms / total as system, irq_ms / total as irq,
  softirq_ms / total as softirq, steal_ms / total as steal, idle_ms / total as idle, passed_ms / 1000 as seconds
from whole where total > 0
"""
_EVENTS = """
select distinct on (id) * from (select * from store.events union all select * from journal.events) order by id
"""
# One life of a cgroup: ids may be used again on old kernels, so each mkdir begins another life.
_CGROUPS = r"""
with lives as (
  select at_ns, kind, subject as path, hierarchy, cgroup, count(*) filter (kind = 'cgroup-mkdir') over so_far as life
  from events where kind in ('cgroup-mkdir', 'cgroup-rmdir', 'cgroup-release') and cgroup is not null
  window so_far as (partition by hierarchy, cgroup order by at_ns)
)
select min(at_ns) as at_ns, hierarchy, cgroup, any_value(path) as path,
  min(at_ns) filter (kind = 'cgroup-mkdir') as made_ns,
  min(at_ns) filter (kind = 'cgroup-rmdir') as removed_ns,
  min(at_ns) filter (kind = 'cgroup-release') as released_ns
from lives group by hierarchy, cgroup, life
"""
_PROCESSES = """
select at_ns, pid, start_ticks, comm, cgroup, user_ms / 1000 as user_s, system_ms / 1000 as system_s,
  run_delay_ms / 1000 as run_delay_s, rss_kib * 1024 as rss_bytes, cpu
from (select * from store.processes union all by name select * from journal.processes)
"""
_UNITS_HELP = (
    ("name", "unit"),
    ("active_state", "ActiveState"),
    ("sub_state", "SubState"),
    ("result", "how the last run ended"),
    ("restarts", "automatic restarts so far"),
    ("exit_code", "exited, killed, dumped"),
    ("exit_status", "exit status or signal"),
    ("restart_policy", "Restart="),
    ("since_start_s", "seconds since the last start"),
    ("unit_file_state", "enabled, disabled, static"),
    ("control_group", "cgroup"),
    ("main_pid", "main process, 0: none"),
    ("starts", "starts since the recorder began"),
    ("successes", "ends with success seen since then"),
    ("failures", "ends with failure seen since then"),
    ("wanted_by", "units that want or require it"),
    ("triggered_by", "timers, sockets and paths that start it"),
    ("preset", "enabled or disabled by the vendor"),
)

VIEWS = (
    View(
        "samples",
        "The profile: one row for each sample.",
        (
            *_AT,
            ("cpu", "core"),
            ("pid", "process"),
            ("tid", "thread"),
            ("comm", "name of the thread"),
            ("cgroup", "cgroup path; empty: unknown"),
            ("event", "cpu-clock, cycles"),
            ("weight", "period that the sample stands for; nanoseconds for clocks"),
            ("stack_id", "join with stacks"),
        ),
        _SAMPLES,
    ),
    View(
        "stacks",
        "Each stack once.",
        (
            ("stack_id", "content hash"),
            ("frames", "function names, outermost first"),
            ("modules", "where each function is: [kernel], libc.so.6"),
        ),
        _STACKS,
        timed=False,
    ),
    View(
        "seconds",
        "Samples of each second by core, event and thread name: the same sums as from samples, much faster.",
        (
            *_AT,
            ("cpu", "core"),
            ("event", "cpu-clock, cycles"),
            ("comm", "name of the thread"),
            ("samples", "samples"),
            ("kernel", "of these, in the kernel"),
            ("weight", "sum of weights"),
        ),
        _SECONDS,
    ),
    View(
        "signals",
        "Every value of every signal at every look; unchanged values are filled in, what was not read is absent.",
        (*_AT, ("name", "signal"), ("labels", "JSON object: labels->>'cpu'"), ("value", "value")),
        "select * from all_signals",
    ),
    View(
        "cores",
        "What each core did in the time before `at`, as shares from 0 to 1 that add up to 1; null: not known.",
        (
            *_AT,
            ("cpu", "core"),
            ("user", "programs, nice and guests included"),
            ("system", "kernel"),
            ("irq", "interrupts"),
            ("softirq", "soft interrupts"),
            ("steal", "taken by the hypervisor"),
            ("idle", "nothing to do, or waiting for I/O"),
            ("seconds", "how long that time was: a second, or an imported interval, of which this is the average"),
        ),
        _CORES,
    ),
    View(
        "events",
        "What happened.",
        (
            ("id", "hash of the event"),
            *_AT,
            ("kind", "what"),
            ("source", "who saw it"),
            ("subject", "to whom"),
            ("text", "what somebody said about it"),
            ("uncertainty_ns", "the time is right give or take this"),
            *((column.name, column.help) for column in EVENTS.columns if column.later),
        ),
        _EVENTS,
    ),
    View(
        "zombies",
        "Zombie memory cgroups by nearest live ancestor, as counted.",
        (*_AT, ("parent", "cgroup path"), ("zombies", "how many")),
        "select * from store.zombies union all by name select * from journal.zombies",
    ),
    View(
        "zombie_names",
        "Zombies by name, each when it was first seen as one; of many at once, the youngest 64.",
        (
            *_AT,
            ("path", "cgroup path that it had"),
            ("family", "the path with placeholders"),
            ("cgroup", "id, as in cgroups"),
            ("age_s", "seconds since it was made"),
            ("bytes", "memory charged to it"),
            ("pinned_by", "tmpfs, page-cache, anon, kernel; empty: not seen"),
        ),
        "select * from store.zombie_names union all by name select * from journal.zombie_names",
    ),
    View(
        "units",
        "systemd units that failed, restart, or started or ended since the look before, at every look.",
        (*_AT, *_UNITS_HELP),
        "select * from store.units union all by name select * from journal.units",
    ),
    View(
        "processes",
        "The processes that used the cores most since the look before, ten seconds earlier.",
        (
            *_AT,
            ("pid", "process"),
            ("start_ticks", "start, clock ticks after boot"),
            ("comm", "name"),
            ("cgroup", "memory cgroup"),
            ("user_s", "seconds of its code"),
            ("system_s", "seconds of the kernel for it"),
            ("run_delay_s", "seconds its threads waited for a core; null: not known"),
            ("rss_bytes", "resident memory"),
            ("cpu", "core it ran on last"),
        ),
        _PROCESSES,
    ),
    View(
        "cgroups",
        "Lives of cgroups that began or ended in the recording, from the events: removed and not released is leaked.",
        (
            *_AT,
            ("hierarchy", "number of the hierarchy; that with the memory controller is the signal memcg_hierarchy"),
            ("cgroup", "id"),
            ("path", "path"),
            ("made_ns", "when it was made; null: before the recording"),
            ("removed_ns", "when its directory was removed"),
            ("released_ns", "when the kernel freed it"),
        ),
        _CGROUPS,
    ),
)
# Views that other views are made of.
HELPERS = (("all_signals", _SIGNALS),)


def statement(view: View, window: Window | None) -> str:
    """The statement that makes the view, with the rows of the window only."""
    names = [name for name, _ in view.columns]
    chosen = ", ".join('make_timestamp_ns(at_ns) as "at"' if name == "at" else f'"{name}"' for name in names)
    where = f" where at_ns between {window[0]:d} and {window[1]:d}" if window and view.timed else ""
    return f"create view {view.name} as select {chosen} from ({view.sql}){where}"
