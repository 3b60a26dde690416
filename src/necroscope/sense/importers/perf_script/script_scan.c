/* Where the samples of a block of `perf script` text are, when they were taken, and hashes of what they say; the twin of
 * the loop in script_samples.py, which looks at each sample by itself. script_scan.py loads it where a compiler was there
 * at installation. No allocation, no system call, no state: arrays in, arrays out, every access within the block. */

#include <stdint.h>
#include <string.h>

#define LATEST_S 9000000000ll
#define FACTOR_1 0x9E3779B97F4A7C15ull
#define FACTOR_2 0xD6E8FEB86659FD93ull

struct piece {
    int64_t start, end, who_end, subject, subject_end, chain;
};

static inline uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * FACTOR_1;
    hash ^= hash >> 32;
    return hash * FACTOR_2;
}

static inline uint64_t hashed(uint64_t hash, const uint8_t *text, int64_t size) {
    uint64_t word = 0;
    hash = mixed(hash, (uint64_t)size);
    for (; size >= 8; size -= 8, text += 8) {
        memcpy(&word, text, 8);
        hash = mixed(hash, word);
    }
    if (size > 0) {
        word = 0;
        memcpy(&word, text, (size_t)size);
        hash = mixed(hash, word);
    }
    return hash ^ (hash >> 29);
}

static inline int is_hex(uint8_t c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/* Where ": " is in a line; `end` when it is not. */
static int64_t colon(const uint8_t *text, int64_t at, int64_t end) {
    while (at < end) {
        const uint8_t *found = memchr(text + at, ':', (size_t)(end - at));
        if (!found)
            return end;
        at = found - text;
        if (at + 1 < end && text[at + 1] == ' ')
            return at;
        at++;
    }
    return end;
}

/* `11528.896142` in nanoseconds; -1 when it is no time. */
static int64_t time_ns(const uint8_t *text, int64_t at, int64_t end) {
    int64_t seconds = 0, fraction = 0, digits = 0;
    for (; at < end && text[at] >= '0' && text[at] <= '9' && digits < 12; at++, digits++)
        seconds = seconds * 10 + (text[at] - '0');
    if (!digits || seconds > LATEST_S || at >= end || text[at] != '.')
        return -1;
    for (digits = 0, at++; at < end && text[at] >= '0' && text[at] <= '9' && digits < 9; at++, digits++)
        fraction = fraction * 10 + (text[at] - '0');
    if (!digits || at != end)
        return -1;
    for (; digits < 9; digits++)
        fraction *= 10;
    return seconds * 1000000000ll + fraction;
}

/* A line of a call chain without what differs between samples of one stack: address, and offset in the function. */
static uint64_t frame(uint64_t hash, const uint8_t *text, int64_t at, int64_t end) {
    int64_t body = at, digits = 0, paren, plus;
    if (at < end && text[at] == '\t') {
        for (body = at + 1; body < end && text[body] == ' '; body++)
            ;
        for (; body < end && is_hex(text[body]); body++)
            digits++;
        if (digits < 1 || digits > 16 || body >= end || text[body] != ' ')
            return hashed(hash, text + at, end - at);
        body++;
    } else
        return hashed(hash, text + at, end - at);
    for (paren = end - 1; paren > body && text[paren] != '('; paren--)
        ;
    plus = paren - 1;
    if (paren > body + 1 && text[end - 1] == ')' && text[plus] == ' ') {
        int64_t last = plus;
        while (plus > body && is_hex(text[plus - 1]))
            plus--;
        if (plus < last && plus - 3 > body && text[plus - 1] == 'x' && text[plus - 2] == '0' && text[plus - 3] == '+') {
            hash = hashed(hash, text + body, plus - 3 - body);
            return hashed(hash, text + last, end - last);
        }
    }
    return hashed(hash, text + body, end - body);
}

/* The line that begins a sample; its time, or -1 where it is not of the usual form. */
static int64_t head(const uint8_t *text, struct piece *is, int64_t end, uint64_t *hash) {
    int64_t first = colon(text, is->start, end), space = first - 1, second, rest, at_ns;
    if (first >= end)
        return -1;
    while (space > is->start && text[space] != ' ')
        space--;
    second = colon(text, first + 2, end);
    if (space <= is->start || second >= end)
        return -1;
    at_ns = time_ns(text, space + 1, first);
    for (rest = second + 2; rest < end; rest++)
        if (text[rest] != ' ')
            return -1;
    is->who_end = space;
    is->subject = first + 2;
    is->subject_end = second;
    is->chain = second + 2;
    hash[0] = hashed(1, text + is->start, space - is->start);
    hash[1] = hashed(2, text + is->subject, second - is->subject);
    return at_ns;
}

/* The pieces between empty lines, `most` at most: places, hashes of who, what and where, times (-1: an unusual one).
 * Returns how many. */
int64_t necro_script(const uint8_t *text, int64_t size, int64_t most, struct piece *pieces, uint64_t *hashes,
                     int64_t *at_ns) {
    int64_t at = 0, found = 0;
    while (found < most) {
        struct piece is = {0};
        uint64_t hash = 3;
        int64_t line;
        while (at < size && text[at] == '\n')
            at++;
        if (at >= size)
            break;
        is.start = at;
        for (line = 0; at < size && text[at] != '\n'; line++) {
            const uint8_t *stop = memchr(text + at, '\n', (size_t)(size - at));
            int64_t end = stop ? stop - text : size;
            if (!line)
                at_ns[found] = head(text, &is, end, hashes + 3 * found);
            else
                hash = frame(hash, text, at, end);
            is.end = end;
            at = end < size ? end + 1 : size;
        }
        hashes[3 * found + 2] = hash;
        pieces[found++] = is;
    }
    return found;
}
