/*
 * Everything that works in an incident: one program, copied under many names.
 *
 *   NAME [-c CPU] [-r PRIORITY] [-n NICE] [-i] [-g CGROUP.PROCS]... BEHAVIOUR ARGUMENT...
 *
 * -i: of the idle class.
 *
 * It prints "ready" when it has set up, then reads cues from its standard input: "go SECONDS" has it work for that
 * long and print "done"; "late" has a `serve` print how late it was since it was asked before (the latest, and the
 * sum, in seconds). It ends with its standard input, or with the process that started it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define MIB (1UL << 20)

static char **args;
static int arg_count;
static double until;
static char scratch[1 << 16];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap(double seconds)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
	nanosleep(&t, NULL);
}

static long number(int index)
{
	if (index >= arg_count) {
		fprintf(stderr, "argument %d is missing\n", index);
		exit(1);
	}
	return atol(args[index]);
}

static volatile uint64_t sink;

__attribute__((noinline)) static void compute(int rounds)
{
	uint64_t x = sink + 88172645463325252ULL;
	for (int i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

/* A line from standard input; 0 when it ended. */
static int cue(char *line, int size)
{
	return fgets(line, size, stdin) != NULL;
}

/* Cue by cue: what `work` does, for as long as it is told. */
static void on_cues(void (*work)(void))
{
	char line[128];
	double seconds;
	say("ready");
	while (cue(line, sizeof line))
		if (sscanf(line, "go %lf", &seconds) == 1) {
			until = now() + seconds;
			work();
			say("done");
		}
}

static int more(void)
{
	return now() < until;
}

/* ---- in user space ---- */

static void spin(void)
{
	while (more())
		compute(20000);
}

static void renamed_spin(void)
{
	prctl(PR_SET_NAME, args[0]);
	spin();
}

static void *spin_thread(void *unused)
{
	(void)unused;
	spin();
	return NULL;
}

static void spin_threads(void)
{
	pthread_t threads[64];
	long count = number(0);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, spin_thread, NULL);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* Computes, rests, computes: MILLISECONDS MILLISECONDS. */
static void bursts(void)
{
	while (more()) {
		double end = now() + number(0) / 1e3;
		while (now() < end)
			compute(20000);
		nap(number(1) / 1e3);
	}
}

/* mov rcx, rdi; 1: imul rax, rax, 31; add rax, rcx; dec rcx; jnz 1b; ret */
static const unsigned char LOOP[] = {0x48, 0x89, 0xf9, 0x48, 0x6b, 0xc0, 0x1f, 0x48, 0x01,
				     0xc8, 0x48, 0xff, 0xc9, 0x75, 0xf4, 0xc3};

static void made_code(void)
{
	unsigned char *code = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		fail("mmap");
	for (int at = 0; more(); at = (at + 512) % (15 * (int)PAGE)) {
		memcpy(code + at, LOOP, sizeof LOOP);
		((uint64_t (*)(uint64_t))(code + at))(400000);
	}
	munmap(code, 16 * PAGE);
}

/* Children that compute for a while and end, one after the other: PATH MILLISECONDS. */
static void children(void)
{
	while (more()) {
		pid_t child = vfork();
		if (child == 0) {
			execl(args[0], args[0], "burn", args[1], (char *)NULL);
			_exit(127);
		}
		waitpid(child, NULL, 0);
	}
}

static void burn(void)
{
	double end = cpu_now() + number(0) / 1e3;
	while (cpu_now() < end)
		compute(20000);
}

/* ---- a service: every PERIOD microseconds it needs WORK microseconds of a core ---- */

static void append(int file, size_t size)
{
	if (write(file, scratch, size) < 0 || fsync(file) < 0)
		fail("append");
}

/* PERIOD WORK [PATH]: with PATH it also appends to that file, and waits until the disk has it. */
static void serve(void)
{
	int journal = -1;
	if (arg_count > 2 && (journal = open(args[2], O_CREAT | O_WRONLY | O_APPEND, 0600)) < 0)
		fail(args[2]);
	double period = number(0) / 1e6, work = number(1) / 1e6, due = now() + period, worst = 0, sum = 0;
	char line[64];
	struct pollfd in = {0, POLLIN, 0};
	say("ready");
	for (;;) {
		double wait = due - now();
		if (wait > 0)
			nap(wait);
		double needed = cpu_now() + work;
		while (cpu_now() < needed)
			compute(4000);
		if (journal >= 0)
			append(journal, PAGE);
		double late = now() - due - work;
		if (late > worst)
			worst = late;
		if (late > 0.002)
			sum += late;
		due = now() > due + period ? now() + period : due + period;
		if (poll(&in, 1, 0) > 0) {
			if (!cue(line, sizeof line))
				return;
			printf("%.3f %.3f\n", worst, sum);
			fflush(stdout);
			worst = sum = 0;
		}
	}
}

static void sleepers(void)
{
	char line[64];
	for (long i = number(0); i > 0; i--) {
		pid_t child = fork();
		if (child < 0)
			fail("fork");
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	say("ready");
	while (cue(line, sizeof line))
		;
}

/* The parent of a vfork sleeps without interruption until its child is through: SECONDS. */
static void stuck(void)
{
	pid_t child = vfork();
	if (child == 0) {
		nap(number(0));
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* ---- memory ---- */

static char *region(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

static char *touched(size_t size)
{
	char *memory = region(size);
	for (size_t at = 0; at < size; at += PAGE)
		memory[at] = 1;
	return memory;
}

/* A process of MIBIBYTES forks, and the child ends at once. */
static void fork_on(void)
{
	while (more()) {
		pid_t child = fork();
		if (child < 0)
			fail("fork");
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

static void forks(void)
{
	touched(number(0) * MIB);
	on_cues(fork_on);
}

/* Locks MIBIBYTES of touched memory, and unlocks them. */
static char *locked_memory;

static void lock_on(void)
{
	size_t size = number(0) * MIB;
	while (more())
		if (mlock(locked_memory, size) < 0 || munlock(locked_memory, size) < 0)
			fail("mlock");
}

static void locks(void)
{
	locked_memory = touched(number(0) * MIB);
	on_cues(lock_on);
}

/* MIBIBYTES that the kernel may merge: of two pages, one is like many others and one is like no other. */
static void alike(void)
{
	char line[64];
	size_t size = number(0) * MIB;
	char *memory = region(size);
	if (madvise(memory, size, MADV_MERGEABLE) < 0)
		fail("madvise");
	for (size_t at = 0; at < size; at += PAGE)
		*(size_t *)(memory + at) = at / PAGE % 2 ? at : 1;
	say("ready");
	while (cue(line, sizeof line))
		;
}

/* Reads a mapped file through, again and again: PATH. */
static void refault(void)
{
	int file = open(args[0], O_RDONLY);
	struct stat status;
	if (file < 0 || fstat(file, &status) < 0)
		fail(args[0]);
	volatile char *memory = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, file, 0);
	madvise((void *)memory, status.st_size, MADV_RANDOM);
	for (off_t at = 0; more(); at = (at + PAGE) % status.st_size)
		sink += memory[at];
	munmap((void *)memory, status.st_size);
	close(file);
}

/* Reads a file through, again and again: PATH. */
static void reread(void)
{
	while (more()) {
		int file = open(args[0], O_RDONLY);
		if (file < 0)
			fail(args[0]);
		while (more() && read(file, scratch, sizeof scratch) > 0)
			;
		close(file);
	}
}

static void touch_slowly(void)
{
	size_t size = number(0) * MIB;
	char *memory = region(size);
	for (size_t at = 0; more(); at = (at + PAGE) % size)
		memory[at] = 1;
	munmap(memory, size);
}

/* Touches MIBIBYTES, and gives them back to the kernel without unmapping them, again and again. */
static void reset_arena(void)
{
	size_t size = number(0) * MIB;
	char *memory = region(size);
	while (more()) {
		for (size_t at = 0; at < size; at += PAGE)
			memory[at] = 1;
		madvise(memory, size, MADV_DONTNEED);
	}
	munmap(memory, size);
}

/* Asks which pages of a mapped file are in memory, again and again: PATH. */
static void residency(void)
{
	int file = open(args[0], O_RDONLY);
	struct stat status;
	if (file < 0 || fstat(file, &status) < 0)
		fail(args[0]);
	char *memory = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, file, 0);
	for (off_t at = 0; more(); at = (at + sizeof scratch * PAGE) % status.st_size)
		if (mincore(memory + at, sizeof scratch * PAGE, (unsigned char *)scratch) < 0)
			fail("mincore");
	munmap(memory, status.st_size);
	close(file);
}

/* Copies the largest mapping of process PID, again and again. */
static void copy_memory(void)
{
	static char taken[MIB];
	char path[64], line[512];
	unsigned long from, to, start = 0, size = 0;
	snprintf(path, sizeof path, "/proc/%s/maps", args[0]);
	FILE *maps = fopen(path, "r");
	if (maps == NULL)
		fail(path);
	while (fgets(line, sizeof line, maps) != NULL)
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from > size)
			start = from, size = to - from;
	fclose(maps);
	for (size_t at = 0; more(); at = (at + sizeof taken) % (size / MIB * MIB)) {
		struct iovec here = {taken, sizeof taken}, there = {(void *)(start + at), sizeof taken};
		if (process_vm_readv(atoi(args[0]), &here, 1, &there, 1, 0) < 0)
			fail("process_vm_readv");
	}
}

/* Threads that touch MIBIBYTES, then they are held until it is killed: the end is what costs. */
static char *held_memory;
static size_t held_size;

static void *fill_part(void *part)
{
	size_t from = held_size / 8 * (size_t)part;
	for (size_t at = from; at < from + held_size / 8; at += PAGE)
		held_memory[at] = 1;
	return NULL;
}

static void hold(void)
{
	pthread_t threads[8];
	char line[64];
	cpu_set_t own, all;
	held_size = number(0) * MIB;
	held_memory = region(held_size);
	sched_getaffinity(0, sizeof own, &own);
	memset(&all, 0xff, sizeof all);
	sched_setaffinity(0, sizeof all, &all);
	for (size_t i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, fill_part, (void *)i);
	for (size_t i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	sched_setaffinity(0, sizeof own, &own);
	say("ready");
	if (cue(line, sizeof line)) {
		/* This core has to do it, and "done" comes from the end itself. */
		_exit(0);
	}
}

/* Changes what may be done with many small mappings, back and forth. */
static void protect(void)
{
	enum { COUNT = 4000 };
	char *memory = region(COUNT * 2 * PAGE);
	for (int i = 0; i < COUNT; i++)
		memory[i * 2 * PAGE] = 1;
	while (more())
		for (int i = 0; i < COUNT && more(); i++) {
			mprotect(memory + i * 2 * PAGE, PAGE, PROT_READ);
			mprotect(memory + i * 2 * PAGE, PAGE, PROT_READ | PROT_WRITE);
		}
	munmap(memory, COUNT * 2 * PAGE);
}

/* Writes WORD to the file PATH again and again. */
static void rewrite(void)
{
	while (more()) {
		int file = open(args[0], O_WRONLY);
		if (file < 0 || write(file, args[1], strlen(args[1])) < 0)
			fail(args[0]);
		close(file);
	}
}

/* ---- files ---- */

/* Asks for COUNT names that do not exist in folder PATH: the kernel remembers each. */
static void ask_names(void)
{
	char path[512], line[64];
	struct stat status;
	long count = number(1);
	for (long i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/session-%lx-%ld", args[0], i * 2654435761L, i);
		stat(path, &status);
	}
	say("ready");
	while (cue(line, sizeof line))
		;
}

/* COUNT files of MIBIBYTES each in folder PATH. Eight processes write them. */
static void fill_folder(void)
{
	char path[512];
	long count = number(1), size = number(2);
	memset(scratch, 7, sizeof scratch);
	for (int worker = 0; worker < 8; worker++)
		if (fork() == 0) {
			for (long i = worker; i < count; i += 8) {
				snprintf(path, sizeof path, "%s/part-%05ld", args[0], i);
				int file = open(path, O_CREAT | O_WRONLY, 0600);
				for (long at = 0; at < size * (long)MIB; at += sizeof scratch)
					if (write(file, scratch, sizeof scratch) < 0)
						fail(path);
				close(file);
			}
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	say("ready");
}

/* Removes every file of folder PATH, as long as there are any. */
static void empty_folder(void)
{
	DIR *folder = opendir(args[0]);
	struct dirent *entry;
	if (folder == NULL)
		fail(args[0]);
	while ((entry = readdir(folder)) != NULL)
		unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
}

static void drain(int folder, const char *path)
{
	int file = openat(folder, path, O_RDONLY);
	if (file < 0)
		return;
	while (read(file, scratch, sizeof scratch) > 0)
		;
	close(file);
}

/* Reads file NAME of every folder below PATH, again and again. */
static void read_each(void)
{
	char path[512];
	while (more()) {
		DIR *folder = opendir(args[0]);
		struct dirent *entry;
		if (folder == NULL)
			fail(args[0]);
		while (more() && (entry = readdir(folder)) != NULL)
			if (entry->d_name[0] != '.')
				for (int i = 1; i < arg_count; i++) {
					snprintf(path, sizeof path, "%s/%s", entry->d_name, args[i]);
					drain(dirfd(folder), path);
				}
		closedir(folder);
	}
}

/* Makes a file in folder PATH and deletes it, again and again. */
static void churn(void)
{
	char path[512];
	for (long i = 0; more(); i++) {
		snprintf(path, sizeof path, "%s/lock-%ld", args[0], i);
		int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (file < 0 || close(file) < 0 || unlink(path) < 0)
			fail(path);
	}
}

/* Makes a folder below PATH and removes it, again and again. */
static void churn_folders(void)
{
	char path[512];
	for (long i = 0; more(); i++) {
		snprintf(path, sizeof path, "%s/run-%ld", args[0], i);
		if (mkdir(path, 0755) < 0 || rmdir(path) < 0)
			fail(path);
	}
}

static int lock_byte(int file, short type, off_t at)
{
	struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
	return fcntl(file, F_SETLK, &range);
}

/* Holds locks on COUNT single bytes of the file PATH; takes one more behind them and lets it go, again and again. */
static int locked_file;

static void range_on(void)
{
	while (more())
		if (lock_byte(locked_file, F_WRLCK, 2 * number(1)) < 0 || lock_byte(locked_file, F_UNLCK, 2 * number(1)) < 0)
			fail("fcntl");
}

static void ranges(void)
{
	locked_file = open(args[0], O_CREAT | O_RDWR, 0600);
	for (long i = number(1) - 1; i >= 0; i--)
		if (lock_byte(locked_file, F_WRLCK, 2 * i) < 0)
			fail("fcntl");
	on_cues(range_on);
}

/* Lists folder PATH, again and again. */
static void list(void)
{
	while (more()) {
		int folder = open(args[0], O_RDONLY | O_DIRECTORY);
		if (folder < 0)
			fail(args[0]);
		while (more() && syscall(SYS_getdents64, folder, scratch, sizeof scratch) > 0)
			;
		close(folder);
	}
}

/* Watches folder PATH, and no more, again and again. */
static void watch(void)
{
	int events = inotify_init1(IN_NONBLOCK);
	while (more()) {
		int mark = inotify_add_watch(events, args[0], IN_CREATE | IN_DELETE | IN_MODIFY);
		if (mark < 0)
			fail("inotify_add_watch");
		inotify_rm_watch(events, mark);
		while (read(events, scratch, sizeof scratch) > 0)
			;
	}
	close(events);
}

/* Appends BYTES to a file of its own in folder PATH, and waits until the disk has them, again and again. */
static void sync_on(void)
{
	char path[512];
	snprintf(path, sizeof path, "%s/segment-%d", args[0], getpid());
	int file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
	if (file < 0)
		fail(path);
	while (more())
		append(file, number(1));
	close(file);
	unlink(path);
}

/* Reads one file through, again and again: PATH. */
static void read_one(void)
{
	while (more())
		drain(AT_FDCWD, args[0]);
}

/* COUNT folders below PATH, then one more every MILLISECONDS. */
static void make_folders(void)
{
	char path[512], line[64];
	long count = number(1), i = 0;
	struct pollfd in = {0, POLLIN, 0};
	for (;; i++) {
		snprintf(path, sizeof path, "%s/tenant-%06ld", args[0], i);
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			fail(path);
		if (i == count)
			say("ready");
		if (i >= count && poll(&in, 1, number(2)) > 0 && !cue(line, sizeof line))
			return;
	}
}

/* Mounts of its own, COUNT of them in folder PATH, and their list read again and again. */
static void mounts_made(void)
{
	char path[512], line[64];
	double seconds;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		fail("unshare");
	if (mount("volumes", args[0], "tmpfs", 0, NULL) < 0)
		fail("mount");
	for (long i = 0; i < number(1); i++) {
		snprintf(path, sizeof path, "%s/volume-%05ld", args[0], i);
		mkdir(path, 0755);
		if (mount(args[0], path, NULL, MS_BIND, NULL) < 0)
			fail(path);
	}
	say("ready");
	while (cue(line, sizeof line))
		if (sscanf(line, "go %lf", &seconds) == 1) {
			until = now() + seconds;
			while (more())
				drain(AT_FDCWD, "/proc/self/mountinfo");
			say("done");
		}
}

/* Cgroups that are made, left with a file of tmpfs that pins them, and removed: CGROUPS FILES COUNT MILLISECONDS. */
static void leave_behind(void)
{
	char group[512], procs[600], path[512], line[64], own[32];
	long count = number(2);
	struct pollfd in = {0, POLLIN, 0};
	snprintf(own, sizeof own, "%s/cgroup.procs", args[0]);
	for (long i = 0;; i++) {
		snprintf(group, sizeof group, "%s/injected-%06ld", args[0], i);
		snprintf(procs, sizeof procs, "%s/cgroup.procs", group);
		snprintf(path, sizeof path, "%s/state-%06ld", args[1], i);
		if (mkdir(group, 0755) < 0)
			fail(group);
		pid_t child = fork();
		if (child == 0) {
			int join = open(procs, O_WRONLY);
			if (join < 0 || write(join, "0", 1) < 0)
				_exit(1);
			int file = open(path, O_CREAT | O_WRONLY, 0600);
			_exit(write(file, scratch, PAGE) < 0);
		}
		waitpid(child, NULL, 0);
		while (rmdir(group) < 0 && errno == EBUSY)
			nap(0.0002);
		if (i == count)
			say("ready");
		if (i >= count && poll(&in, 1, number(3)) > 0 && !cue(line, sizeof line))
			return;
	}
}

/* ---- each other ---- */

/* A byte goes to a child and back. */
static int to_child[2], from_child[2];

static void ping_pong(void)
{
	char byte = 1;
	if (pipe(to_child) < 0 || pipe(from_child) < 0)
		fail("pipe");
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to_child[1]);
		while (read(to_child[0], &byte, 1) == 1)
			if (write(from_child[1], &byte, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(to_child[0]);
	while (more())
		if (write(to_child[1], &byte, 1) != 1 || read(from_child[0], &byte, 1) != 1)
			fail("pipe");
	close(to_child[1]);
	waitpid(child, NULL, 0);
	close(from_child[0]);
	close(from_child[1]);
}

/* Threads that wake each other all the time, all of them at once: COUNT. */
static atomic_int turn, over;

static void *woken(void *unused)
{
	(void)unused;
	while (!atomic_load(&over)) {
		int seen = atomic_load(&turn);
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		atomic_fetch_add(&turn, 1);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1 << 20, NULL, NULL, 0);
		if (!more())
			atomic_store(&over, 1);
	}
	return NULL;
}

static void wake_all(void)
{
	pthread_t threads[128];
	long count = number(0);
	atomic_store(&over, 0);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, woken, NULL);
	while (!atomic_load(&over)) {
		atomic_fetch_add(&turn, 1);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1 << 20, NULL, NULL, 0);
		nap(0.02);
	}
	for (int i = 0; i < 100; i++) {
		atomic_fetch_add(&turn, 1);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1 << 20, NULL, NULL, 0);
		nap(0.001);
	}
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* A signal to itself, again and again. */
static void caught(int unused)
{
	(void)unused;
	sink++;
}

static void signals(void)
{
	signal(SIGUSR1, caught);
	while (more())
		for (int i = 0; i < 64; i++)
			raise(SIGUSR1);
}

static void many_files(rlim_t wanted)
{
	struct rlimit files = {wanted, wanted};
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		fail("setrlimit");
}

/* Asks for the state of COUNT descriptors at which nothing happens, again and again. */
static void poll_all(void)
{
	long count = number(0);
	struct pollfd *all = calloc(count, sizeof *all);
	many_files(count + 50);
	for (long i = 0; i < count; i++)
		if ((all[i] = (struct pollfd){eventfd(0, 0), POLLIN, 0}).fd < 0)
			fail("eventfd");
	while (more())
		poll(all, count, 0);
	for (long i = 0; i < count; i++)
		close(all[i].fd);
	free(all);
}

/* ---- network ---- */

/* COUNT routes in a network of its own, and their list read again and again. */
static void routes(void)
{
	long count = number(0);
	if (unshare(CLONE_NEWNET) < 0)
		fail("unshare");
	FILE *batch = popen("ip -batch -", "w");
	for (long i = 0; batch != NULL && i < count; i++)
		fprintf(batch, "route add blackhole 10.%ld.%ld.%ld/32\n", i >> 16 & 255, i >> 8 & 255, i & 255);
	if (batch == NULL || pclose(batch) != 0)
		fail("ip");
	args[0] = "/proc/self/net/route";
	on_cues(read_one);
}

static struct sockaddr_in local(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* Datagrams of BYTES to ourselves that nobody reads. */
static void blast(void)
{
	struct sockaddr_in to = local(18125 + getpid() % 10000);
	int sender = socket(AF_INET, SOCK_DGRAM, 0), taker = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(taker, (struct sockaddr *)&to, sizeof to) < 0)
		fail("bind");
	while (more())
		for (int i = 0; i < 32; i++)
			sendto(sender, scratch, number(0), MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
	close(sender);
	close(taker);
}

/* COUNT connections to ourselves, kept open. */
static void connections(void)
{
	char line[64];
	struct rlimit files = {200000, 200000};
	struct sockaddr_in to;
	int listener = -1;
	long count = number(0);
	if (setrlimit(RLIMIT_NOFILE, &files) < 0) {
		getrlimit(RLIMIT_NOFILE, &files);
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
		if (count * 2 + 50 > (long)files.rlim_cur)
			count = files.rlim_cur / 2 - 50;
	}
	for (long i = 0; i < count; i++) {
		if (i % 20000 == 0) {
			listener = socket(AF_INET, SOCK_STREAM, 0);
			to = local(18200 + i / 20000);
			if (bind(listener, (struct sockaddr *)&to, sizeof to) < 0 || listen(listener, 4096) < 0)
				fail("listen");
		}
		int end = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(end, (struct sockaddr *)&to, sizeof to) < 0)
			fail("connect");
		if (accept(listener, NULL, NULL) < 0)
			fail("accept");
	}
	say("ready");
	while (cue(line, sizeof line))
		;
}

/* ---- what the kernel computes for us ---- */

static void randomness(void)
{
	static char much[MIB];
	while (more())
		if (getrandom(much, sizeof much, 0) < 0)
			fail("getrandom");
}

/* Filters that look at an argument of each system call, one comparison after the other. */
static void filtered_on(void)
{
	while (more())
		for (int i = 0; i < 64; i++)
			syscall(SYS_getppid, 0);
}

static void filtered(void)
{
	enum { LENGTH = 4000, FILTERS = 6 };
	static struct sock_filter code[LENGTH];
	struct sock_fprog program = {LENGTH, code};
	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
	for (int i = 1; i < LENGTH - 1; i++)
		code[i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x7fab0000 + i, 0, 0);
	code[LENGTH - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int i = 0; i < FILTERS; i++)
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
			fail("seccomp");
	on_cues(filtered_on);
}

static const struct behaviour {
	const char *name;
	void (*on_cue)(void);
	void (*own)(void);
} BEHAVIOURS[] = {
	{"spin", spin, NULL},
	{"renamed-spin", renamed_spin, NULL},
	{"spin-threads", spin_threads, NULL},
	{"bursts", bursts, NULL},
	{"made-code", made_code, NULL},
	{"children", children, NULL},
	{"burn", NULL, burn},
	{"serve", NULL, serve},
	{"sleepers", NULL, sleepers},
	{"stuck", stuck, NULL},
	{"forks", NULL, forks},
	{"locks", NULL, locks},
	{"alike", NULL, alike},
	{"refault", refault, NULL},
	{"reread", reread, NULL},
	{"touch", touch_slowly, NULL},
	{"reset-arena", reset_arena, NULL},
	{"residency", residency, NULL},
	{"copy-memory", copy_memory, NULL},
	{"hold", NULL, hold},
	{"protect", protect, NULL},
	{"rewrite", rewrite, NULL},
	{"ask-names", NULL, ask_names},
	{"fill-folder", NULL, fill_folder},
	{"empty-folder", empty_folder, NULL},
	{"read-each", read_each, NULL},
	{"list", list, NULL},
	{"churn", churn, NULL},
	{"churn-folders", churn_folders, NULL},
	{"ranges", NULL, ranges},
	{"watch", watch, NULL},
	{"sync", sync_on, NULL},
	{"read-one", read_one, NULL},
	{"make-folders", NULL, make_folders},
	{"mounts", NULL, mounts_made},
	{"leave-behind", NULL, leave_behind},
	{"ping-pong", ping_pong, NULL},
	{"wake-all", wake_all, NULL},
	{"signals", signals, NULL},
	{"poll-all", poll_all, NULL},
	{"blast", blast, NULL},
	{"connections", NULL, connections},
	{"routes", NULL, routes},
	{"randomness", randomness, NULL},
	{"filtered", NULL, filtered},
};

static void join(const char *procs)
{
	int file = open(procs, O_WRONLY);
	if (file < 0 || write(file, "0", 1) < 0)
		fail(procs);
	close(file);
}

int main(int argc, char **argv)
{
	int option;
	while ((option = getopt(argc, argv, "+c:r:n:ig:")) != -1) {
		cpu_set_t set;
		struct sched_param priority;
		switch (option) {
		case 'c':
			CPU_ZERO(&set);
			for (char *part = strtok(optarg, ","); part != NULL; part = strtok(NULL, ","))
				CPU_SET(atoi(part), &set);
			if (sched_setaffinity(0, sizeof set, &set) < 0)
				fail("sched_setaffinity");
			break;
		case 'r':
			priority.sched_priority = atoi(optarg);
			if (sched_setscheduler(0, SCHED_RR, &priority) < 0)
				fail("sched_setscheduler");
			break;
		case 'n':
			if (setpriority(PRIO_PROCESS, 0, atoi(optarg)) < 0)
				fail("setpriority");
			break;
		case 'i':
			priority.sched_priority = 0;
			if (sched_setscheduler(0, SCHED_IDLE, &priority) < 0)
				fail("sched_setscheduler");
			break;
		case 'g':
			join(optarg);
			break;
		default:
			return 2;
		}
	}
	if (optind >= argc)
		return 2;
	if (strcmp(argv[optind], "burn") != 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	args = argv + optind + 1;
	arg_count = argc - optind - 1;
	for (size_t i = 0; i < sizeof BEHAVIOURS / sizeof *BEHAVIOURS; i++)
		if (strcmp(BEHAVIOURS[i].name, argv[optind]) == 0) {
			if (BEHAVIOURS[i].own != NULL)
				BEHAVIOURS[i].own();
			else
				on_cues(BEHAVIOURS[i].on_cue);
			return 0;
		}
	fprintf(stderr, "no behaviour %s\n", argv[optind]);
	return 2;
}
