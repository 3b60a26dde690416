/* The decoder's inner loops. Each does what a NumPy expression beside it does (walk.py, columns.py, hashing.py,
 * stacks.py), in one pass instead of many; native.py loads them where a compiler was there at installation.
 * No allocation, no system call, no state: arrays in, arrays out, every access within bounds that the caller gives. */

#include <stdint.h>
#include <string.h>

#define USER_START 64u
#define FINISHED_ROUND 68u
#define MOST_WORDS 8192
#define SPREAD 0x94D049BB133111EBull

/* Headers from the first word on, up to `end`; stops where walk.py stops. Returns how many records there are. */
int64_t necro_walk(const uint64_t *words, int64_t count, int64_t end, int64_t *start, int64_t *size, uint32_t *type,
                   uint16_t *misc) {
    int64_t at = 0, found = 0;
    while (at < end) {
        uint64_t head = words[at];
        uint32_t kind = (uint32_t)head;
        int64_t octets = (int64_t)(head >> 48), length = octets >> 3;
        if (kind == 0 || kind > FINISHED_ROUND || (kind >= USER_START && kind != FINISHED_ROUND))
            break;
        if (length < 1 || (octets & 7) || at + length > count)
            break;
        start[found] = at;
        size[found] = length;
        type[found] = kind;
        misc[found] = (uint16_t)(head >> 32);
        found++;
        at += length;
    }
    return found;
}

/* Which words of a sample are what; -1: not there. `before` words have fixed places. */
struct layout {
    int32_t time, tid, cpu, period, ip, before, chain, cgroup;
};

struct columns {
    uint64_t *time;
    int32_t *cpu;
    uint32_t *pid, *tid;
    int64_t *weight;
    uint64_t *cgroup;
    int64_t *depth;
    uint64_t *chain;
    int64_t *whole;
};

/* Samples whose call chain follows the fixed words and whose cgroup, if any, follows the chain. `whole` gets the
 * positions of those that fit into their records. Returns how many. */
int64_t necro_samples(const uint64_t *words, const int64_t *start, const int64_t *size, const int64_t *at, int64_t count,
                      const struct layout *is, const struct columns *out, int64_t *chain_words) {
    int64_t kept = 0, filled = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t *sample = words + start[at[i]];
        int64_t length = size[at[i]], cursor = is->before, depth = 0, first = 0;
        if (length < cursor)
            continue;
        if (is->chain) {
            if (cursor >= length || sample[cursor] > MOST_WORDS)
                continue;
            depth = (int64_t)sample[cursor++];
            first = cursor;
            cursor += depth;
            if (cursor > length)
                continue;
        }
        if (is->cgroup && cursor >= length)
            continue;
        if (depth == 0 && is->ip >= 0) {
            first = is->ip;
            depth = 1;
        }
        uint64_t ids = is->tid < 0 ? UINT64_MAX : sample[is->tid];
        out->time[kept] = is->time < 0 ? 0 : sample[is->time];
        out->cpu[kept] = is->cpu < 0 ? -1 : (int32_t)(uint32_t)sample[is->cpu];
        out->pid[kept] = (uint32_t)ids;
        out->tid[kept] = (uint32_t)(ids >> 32);
        out->weight[kept] = is->period < 0 ? 1 : (int64_t)sample[is->period];
        out->cgroup[kept] = is->cgroup ? sample[cursor] : 0;
        out->depth[kept] = depth;
        memcpy(out->chain + filled, sample + first, (size_t)depth * sizeof *sample);
        filled += depth;
        out->whole[kept++] = at[i];
    }
    *chain_words = filled;
    return kept;
}

/* What tracepoints wrote: behind the fixed words and the call chain, if any, a length in four bytes and so many bytes,
 * padded to words. All of them are copied one after the other. `whole` gets the places within `at` of the samples that
 * fit into their records. Returns how many. */
int64_t necro_raws(const uint64_t *words, const int64_t *start, const int64_t *size, const int64_t *at, int64_t count,
                   const struct layout *is, uint64_t *time, uint32_t *pid, int64_t *length_of, uint64_t *data,
                   int64_t *whole, int64_t *data_words) {
    int64_t kept = 0, filled = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t *sample = words + start[at[i]];
        int64_t length = size[at[i]], cursor = is->before;
        if (length < cursor)
            continue;
        if (is->chain) {
            if (cursor >= length || sample[cursor] > MOST_WORDS)
                continue;
            cursor += 1 + (int64_t)sample[cursor];
        }
        if (cursor >= length)
            continue;
        int64_t own = ((int64_t)(uint32_t)sample[cursor] + 4 + 7) >> 3;
        if (cursor + own + (is->cgroup != 0) > length)
            continue;
        time[kept] = is->time < 0 ? 0 : sample[is->time];
        pid[kept] = is->tid < 0 ? UINT32_MAX : (uint32_t)sample[is->tid];
        length_of[kept] = own;
        memcpy(data + filled, sample + cursor, (size_t)own * sizeof *sample);
        filled += own;
        whole[kept++] = i;
    }
    *data_words = filled;
    return kept;
}

struct field {
    int32_t at, size, is_signed;
};

/* Where the fields of one cgroup tracepoint are. `least` bytes hold them all; -1: not such a tracepoint. `path` says
 * where the text is: from the record's start, or from `behind` on; `moved.at` is -1 where there is none. */
struct places {
    int32_t kind, least;
    struct field root, id, path, moved;
    int32_t behind, is_text;
};

struct cgroups {
    int8_t *kind;
    int64_t *root, *number, *moved, *path_at, *path_size;
};

static int64_t number_at(const uint8_t *record, struct field is) {
    uint64_t value = 0;
    memcpy(&value, record + is.at, (size_t)is.size);
    int unused = 64 - 8 * is.size;
    return is.is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

/* Fields of records of cgroup tracepoints, each beginning at a word of `data` with its length; those of others, or that
 * are too short, stay as they are. */
void necro_cgroups(const uint64_t *data, const int64_t *start, const int32_t *event, int64_t count,
                   const struct places *all, int32_t events, const struct cgroups *out) {
    for (int64_t i = 0; i < count; i++) {
        if (event[i] < 0 || event[i] >= events || all[event[i]].least < 0)
            continue;
        const struct places *is = &all[event[i]];
        const uint8_t *record = (const uint8_t *)(data + start[i]) + 4;
        int64_t size = (int64_t)(uint32_t)data[start[i]];
        if (size < is->least)
            continue;
        out->kind[i] = (int8_t)is->kind;
        out->root[i] = number_at(record, is->root);
        out->number[i] = number_at(record, is->id);
        if (is->moved.at >= 0)
            out->moved[i] = number_at(record, is->moved);
        int64_t located = number_at(record, is->path), begin = (located & 0xFFFF) + is->behind;
        int64_t length = located >> 16 & 0xFFFF;
        out->path_at[i] = start[i] * 8 + 4 + begin;
        out->path_size[i] = is->is_text && begin + length <= size ? length : 0;
    }
}

/* Of each text its length up to its last slash, and a hash of that part. */
void necro_parents(const uint8_t *octets, const int64_t *begin, const int64_t *length, int64_t count, uint64_t salt,
                   uint64_t *hash, int64_t *end) {
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *text = octets + begin[i];
        int64_t last = length[i] - 1;
        while (last > 0 && text[last] != '/')
            last--;
        last = last < 0 ? 0 : last;
        uint64_t found = salt ^ (uint64_t)last;
        for (int64_t place = 0; place < last; place += 8) {
            uint64_t word = 0;
            memcpy(&word, text + place, (size_t)(last - place < 8 ? last - place : 8));
            found = (found ^ word) * SPREAD;
            found ^= found >> 29;
        }
        hash[i] = found;
        end[i] = last;
    }
}

/* An open-addressed table as hashing.HashIndex keeps it. */
struct table {
    uint64_t *key;
    int32_t *number;
    uint64_t mask, shift, salt;
};

static inline uint64_t slot_of(const struct table *table, uint64_t key) {
    uint64_t slot = (key * table->salt) >> table->shift;
    while (table->number[slot] >= 0 && table->key[slot] != key)
        slot = (slot + 1) & table->mask;
    return slot;
}

/* The number of each key, -1 where there is none. */
void necro_find(const struct table *table, const uint64_t *keys, int64_t count, int32_t *found) {
    for (int64_t i = 0; i < count; i++)
        found[i] = table->number[slot_of(table, keys[i])];
}

/* The number of each key; keys that are new get the next numbers, and their positions go to `fresh`. At least half of
 * the table stays free. Returns how many are new. */
int64_t necro_add(const struct table *table, const uint64_t *keys, int64_t count, int64_t known, int32_t *found,
                  int64_t *fresh) {
    int64_t news = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t slot = slot_of(table, keys[i]);
        if (table->number[slot] < 0) {
            table->key[slot] = keys[i];
            table->number[slot] = (int32_t)(known + news);
            fresh[news++] = i;
        }
        found[i] = table->number[slot];
    }
    return news;
}

/* Frames of all chains: an address's key is looked up, and its frame taken from `frame_of`. Where there is none, `ask`
 * stands in its place and the key and position go to `missing_key` and `missing`. Returns how many are missing. */
int64_t necro_frames(const struct table *table, const int32_t *frame_of, int32_t ask, const uint64_t *chain,
                     const int64_t *depth, const uint64_t *space, int64_t rows, uint64_t kernel, int32_t *frames,
                     uint64_t *missing_key, int64_t *missing) {
    int64_t place = 0, lacking = 0;
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t end = place + depth[row]; place < end; place++) {
            uint64_t key = chain[place] ^ kernel;
            if (!(chain[place] >> 63))
                key ^= space[row];
            int32_t number = table->number[slot_of(table, key)];
            int32_t frame = number < 0 ? ask : frame_of[number];
            frames[place] = frame;
            if (frame == ask) {
                missing_key[lacking] = key;
                missing[lacking++] = place;
            }
        }
    }
    return lacking;
}

/* The hash of each row of frames: hashing.SpanHasher's polynomial over the hash of each frame. */
void necro_hash(const int32_t *frames, const uint64_t *hash_of, const int64_t *depth, int64_t rows, uint64_t factor,
                uint64_t *hashes) {
    int64_t place = 0;
    for (int64_t row = 0; row < rows; row++) {
        uint64_t sum = 0, power = 1;
        for (int64_t end = place + depth[row]; place < end; place++, power *= factor)
            sum += hash_of[frames[place]] * power;
        hashes[row] = sum ^ (uint64_t)depth[row] * SPREAD;
    }
}
